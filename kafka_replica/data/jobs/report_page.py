"""The report of a job as one HTML page, which needs neither JavaScript nor any other file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from typing import Final

from kafka_replica.data.jobs.job import Outcome
from kafka_replica.data.validation import CATALOGUE, Finding, Sample

_BARS: Final = 15
"""The largest number of bars in a chart."""
_BAR_HEIGHT, _LABEL_WIDTH, _BAR_WIDTH, _COUNT_WIDTH = 22, 260, 480, 110
_CONTENT_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE: Final = """
:root { color-scheme: light dark; --bar: #3b6ea5; --error: #b3261e; --warning: #8a5a00; --line: #8884 }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% } caption { text-align: left; padding-bottom: .4rem }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem; border-bottom: 1px solid var(--line) }
td { overflow-wrap: anywhere } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
.error { color: var(--error) } .warning { color: var(--warning) }
svg { max-width: 100%; height: auto } svg rect { fill: var(--bar) } svg text { fill: currentColor; font-size: 13px }
@media (prefers-color-scheme: dark) { :root { --bar: #7fb0e3; --error: #ff8a80; --warning: #ffd180 } }
@media print { body { max-width: none; margin: 0 } }
"""


def report_page(outcome: Outcome) -> str:
    """Return the report as an HTML page: counts, charts, examples with their locations, and what was not checked."""
    report = outcome.report
    title = f"Report on data of {report.artefact.reference}"
    verdict = "no errors" if report.is_valid else "errors"
    parts = [
        f"<h1>{_text(title)}</h1>",
        f"<p><strong>{verdict}</strong>: {_rows_in_words(outcome)}</p>",
        _table("Rows", ("rows", "number"), _row_counts(outcome), {1}),
        _notes(outcome.notes),
        _dataset(report.dataset),
        _rules(report.counts),
        _chart("Findings by rule", report.by_rule),
        _chart("Findings by component", report.by_component),
        _chart("Findings by series (most findings)", report.by_series),
        _examples(report.samples),
        _unchecked([*report.unchecked, *(f"rule {one}: it was switched off" for one in outcome.switched_off)]),
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{_text(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{_CONTENT_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><main>{''.join(parts)}</main></body></html>\n"
    )


def _rows_in_words(outcome: Outcome) -> str:
    report = outcome.report
    return (
        f"{report.rows:,} rows were checked against {_text(str(report.artefact))} in version {report.version}; "
        f"{outcome.rejected_rows:,} were rejected."
    )


def _row_counts(outcome: Outcome) -> Iterable[tuple[str, str]]:
    yield "good", f"{outcome.good_rows:,}"
    yield "rejected", f"{outcome.rejected_rows:,}"
    yield "with findings of any severity", f"{outcome.report.bad_rows:,}"
    for urn, count in outcome.others.items():
        yield f"left out, of {urn}", f"{count:,}"


def _dataset(findings: Sequence[Finding]) -> str:
    if not findings:
        return ""
    rows = [(one.severity, one.rule, one.component, one.value, one.message) for one in findings]
    return _table("The data set as a whole", ("severity", "rule", "component", "value", "message"), rows)


def _rules(counts: Mapping[tuple[str, str | None, str], int]) -> str:
    if not counts:
        return ""
    rows = [
        (severity, rule, component, f"{count:,}", CATALOGUE[rule].broken if rule in CATALOGUE else "")
        for (rule, component, severity), count in sorted(counts.items(), key=lambda item: (-item[1], item[0][0]))
    ]
    return _table("Findings of rows", ("severity", "rule", "component", "findings", "broken when"), rows, {3})


def _examples(samples: Sequence[Sample]) -> str:
    if not samples:
        return ""
    rows = [
        (one.finding.severity, one.finding.rule, one.finding.component, one.location, one.series, one.finding.value,
         one.finding.message, one.finding.artefact) for one in samples
    ]  # fmt: skip
    columns = ("severity", "rule", "component", "location", "series", "value", "message", "defined by")
    return _table("Examples", columns, rows)


def _notes(texts: Sequence[str]) -> str:
    if not texts:
        return ""
    return f"<h2>What the message says</h2><ul>{''.join(f'<li>{_text(one)}</li>' for one in texts)}</ul>"


def _unchecked(sentences: Sequence[str]) -> str:
    if not sentences:
        return "<h2>Not checked</h2><p>All demands of the structure were checked.</p>"
    return f"<h2>Not checked</h2><ul>{''.join(f'<li>{_text(one)}</li>' for one in sentences)}</ul>"


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], numbers: Iterable[int] = ()) -> str:
    right = dict.fromkeys(numbers, ' class="number"')
    head = "".join(f'<th scope="col"{right.get(place, "")}>{name}</th>' for place, name in enumerate(columns))
    body = "".join(
        "<tr>" + "".join(_cell(cell, right.get(place, "")) for place, cell in enumerate(row)) + "</tr>" for row in rows
    )
    return f"<h2>{title}</h2><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object, attributes: str) -> str:
    text = "" if value is None else _text(str(value))
    colour = f' class="{text}"' if text in {"error", "warning"} else attributes
    return f"<td{colour}>{text}</td>"


def _chart(title: str, counts: Mapping[str, int]) -> str:
    """Return a bar chart as SVG, with the numbers as texts."""
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
        f'<g><title>{_text(name)}: {count:,}</title><text x="{_LABEL_WIDTH - 8}" y="{top + 15}" '
        f'text-anchor="end">{_text(label)}</text><rect x="{_LABEL_WIDTH}" y="{top + 3}" width="{width}" '
        f'height="{_BAR_HEIGHT - 6}"/><text x="{_LABEL_WIDTH + width + 6}" y="{top + 15}">{count:,}</text></g>'
    )


def _text(text: str) -> str:
    """Return a text escaped for HTML; control characters, which HTML cannot represent, as backslash escapes."""
    printable = "".join(char if char >= " " or char in "\t\n" else f"\\x{ord(char):02x}" for char in text)
    return escape(printable.encode(errors="backslashreplace").decode())
