"""Parts of the report's HTML page: texts, tables and bars, without JavaScript or references to other files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from typing import Final

from kafka_replica.common.wording import encodable

_BARS: Final = 15
"""The maximum number of bars in a chart."""
_BAR_HEIGHT, _LABEL_WIDTH, _BAR_WIDTH, _COUNT_WIDTH = 22, 260, 480, 110
STYLE: Final = """
:root { color-scheme: light dark; --bar: #3b6ea5; --error: #b3261e; --warning: #8a5a00; --information: #3b6ea5;
  --good: #1e7d3c; --line: #8884; --soft: #8881; --quiet: #5a6068 }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 74rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem; margin-bottom: .2rem } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem } p { margin: .3rem 0 }
.quiet { color: var(--quiet) } .code, h3 { overflow-wrap: anywhere }
.verdict { border-left: .4rem solid var(--good); background: var(--soft); padding: .8rem 1rem; margin: 1rem 0;
  border-radius: .2rem } .verdict.bad { border-color: var(--error) }
.verdict strong { font-size: 1.15rem } .verdict svg { display: block; width: 100%; height: 12px; margin: .5rem 0 }
table { border-collapse: collapse; width: 100% } table.narrow { width: auto; min-width: 20rem }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--line) }
th { font-weight: 600; color: var(--quiet); font-size: .9em } td { overflow-wrap: anywhere }
td.whole { white-space: nowrap } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
.error { color: var(--error); font-weight: 600 } .warning { color: var(--warning); font-weight: 600 }
svg { max-width: 100%; height: auto } svg rect { fill: var(--bar) } svg text { fill: currentColor; font-size: 13px }
@media (prefers-color-scheme: dark) { :root { --bar: #7fb0e3; --error: #ff8a80; --warning: #ffd180;
  --information: #7fb0e3; --good: #81c995; --quiet: #a6adb5 } }
@media print { body { max-width: none; margin: 0 } h3, tr, svg { break-inside: avoid } }
"""


def html_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    numbers: Iterable[int] = (),
    whole: Iterable[int] = (),
    is_narrow: bool = False,
) -> str:
    """Return an HTML table.

    Args:
        columns: the names of the columns, which are not escaped.
        rows: the cells of each row; None is an empty cell.
        numbers: the indexes of columns of numbers, which are aligned to the right.
        whole: the indexes of columns whose cells are not broken into lines.
        is_narrow: whether the table is narrower than the page.
    """
    classes = dict.fromkeys(whole, ' class="whole"') | dict.fromkeys(numbers, ' class="number"')
    right = {place: text for place, text in classes.items() if "number" in text}
    head = "".join(f'<th scope="col"{right.get(place, "")}>{name}</th>' for place, name in enumerate(columns))
    body = "".join(
        "<tr>" + "".join(_cell(cell, classes.get(place, "")) for place, cell in enumerate(row)) + "</tr>"
        for row in rows
    )  # fmt: skip
    kind = ' class="narrow"' if is_narrow else ""
    return f"<table{kind}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object, attributes: str) -> str:
    shown = "" if value is None else html_text(str(value))
    colour = f' class="{shown}"' if shown in {"error", "warning"} else attributes
    return f"<td{colour}>{shown}</td>"


def html_list(title: str, sentences: Sequence[str]) -> str:
    """Return an HTML list of sentences under a title."""
    return f"<h2>{title}</h2><ul>{''.join(f'<li>{html_text(sentence)}</li>' for sentence in sentences)}</ul>"


def share_bar(good: int, bad: int) -> str:
    """Return a bar as SVG with the shares of accepted and rejected rows; even a tiny share is visible."""
    if not good + bad:
        return ""
    width = 1000 if not good else 0 if not bad else min(995, max(5, round(1000 * bad / (good + bad))))
    return (
        f'<svg role="img" aria-label="{good:,} accepted, {bad:,} rejected" viewBox="0 0 1000 12" '
        f'preserveAspectRatio="none"><path d="M{width} 0h{1000 - width}v12h-{1000 - width}z" fill="var(--good)"/>'
        f'<path d="M0 0h{width}v12h-{width}z" fill="var(--error)"/></svg>'
    )


def bar_chart(title: str, counts: Mapping[str, int]) -> str:
    """Return a bar chart as SVG with the first 15 counts, each also written as a number."""
    if not counts:
        return ""
    shown = list(islice(counts.items(), _BARS))
    largest = max(counts.values())
    bars = "".join(_bar(place, name, count, largest) for place, (name, count) in enumerate(shown))
    width, height = _LABEL_WIDTH + _BAR_WIDTH + _COUNT_WIDTH, _BAR_HEIGHT * len(shown)
    rest = f"<p>{len(counts) - len(shown):,} others are not shown.</p>" if len(counts) > len(shown) else ""
    return (
        f'<h2>{title}</h2><svg role="img" aria-label="{title}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{bars}</svg>{rest}'
    )


def _bar(place: int, name: str, count: int, largest: int) -> str:
    top, width = place * _BAR_HEIGHT, max(1, round(_BAR_WIDTH * count / largest))
    label = name if len(name) <= 36 else f"{name[:35]}…"
    return (
        f'<g><title>{html_text(name)}: {count:,}</title><text x="{_LABEL_WIDTH - 8}" y="{top + 15}" '
        f'text-anchor="end">{html_text(label)}</text><rect x="{_LABEL_WIDTH}" y="{top + 3}" width="{width}" '
        f'height="{_BAR_HEIGHT - 6}"/><text x="{_LABEL_WIDTH + width + 6}" y="{top + 15}">{count:,}</text></g>'
    )


def html_text(value: str) -> str:
    """Return a text escaped for HTML; control characters, which HTML cannot represent, become backslash escapes."""
    printable = "".join(char if char >= " " or char in "\t\n" else f"\\x{ord(char):02x}" for char in value)
    return escape(encodable(printable))
