"""The report of a job as a single HTML page, which needs neither JavaScript nor any other file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import Final, TypeAlias

from kafka_replica.common.wording import counted
from kafka_replica.data.jobs.job import Outcome
from kafka_replica.data.jobs.report_html import STYLE, bar_chart, html_list, html_table, html_text, share_bar
from kafka_replica.data.validation import CATALOGUE, Finding, Sample
from kafka_replica.data.validation.catalogue import SEVERITIES

_CONTENT_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
_Kind: TypeAlias = tuple[str, str | None, str]
"""A rule, component and severity."""


def report_page(outcome: Outcome) -> str:
    """Return the report as an HTML page: counts, charts, examples with their locations, and what was not checked."""
    report = outcome.report
    title = f"Report on data of {report.artefact.reference}"
    parts = [
        f"<h1>{html_text(title)}</h1>",
        f'<p class="quiet code">{html_text(str(report.artefact))}, version {report.version} of the structures</p>',
        _verdict(outcome),
        _row_counts(outcome),
        html_list("Notes in the data", outcome.notes) if outcome.notes else "",
        _dataset(report.dataset),
        _rules(report.counts, report.rows),
        bar_chart("Findings by component", report.by_component),
        bar_chart("Findings by series (most findings)", report.by_series),
        _examples(report.samples, report.counts),
        _unchecked([*report.unchecked, *(f"rule {one}: it was switched off" for one in outcome.switched_off)]),
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html_text(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{_CONTENT_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body><main>{''.join(parts)}</main></body></html>\n"
    )


def _verdict(outcome: Outcome) -> str:
    report = outcome.report
    rejected, rows = outcome.rejected_rows, report.rows
    if rejected:
        verdict = f"{rejected:,} of {counted(rows, 'row')} were rejected ({_share(rejected, rows)})"
        more = "The file of rejected rows names the errors of each row: correct the rows there, and validate it again."
    elif not report.is_valid:
        verdict, more = "The data set as a whole has errors", "No row was rejected."
    else:
        verdict, more = f"No errors in {counted(rows, 'row')}", ""
        if report.bad_rows or report.dataset:
            more = "There are warnings or remarks."
    bad = " bad" if rejected or not report.is_valid else ""
    bar = share_bar(outcome.good_rows, rejected)
    return f'<div class="verdict{bad}"><strong>{html_text(verdict)}</strong>{bar}<p>{html_text(more)}</p></div>'


def _share(part: int, whole: int) -> str:
    share = 100 * part / whole if whole else 0
    return "less than 0.1 %" if 0 < share < 0.1 else f"{share:.1f} %"


def _row_counts(outcome: Outcome) -> str:
    rows = [("accepted", outcome.good_rows), ("rejected", outcome.rejected_rows),
            ("with findings of any severity", outcome.report.bad_rows)]  # fmt: skip
    rows += [(f"left out, of {urn}", count) for urn, count in outcome.others.items()]
    cells = [(name, f"{count:,}") for name, count in rows]
    return "<h2>Rows</h2>" + html_table(("rows", "number"), cells, numbers={1}, is_narrow=True)


def _dataset(findings: Sequence[Finding]) -> str:
    if not findings:
        return ""
    rows = [(finding.severity, finding.rule, finding.component, finding.value, finding.message) for finding in findings]
    columns = ("severity", "rule", "component", "value", "message")
    return "<h2>The data set as a whole</h2>" + html_table(columns, rows, whole={1, 2})


def _rules(counts: Mapping[_Kind, int], rows: int) -> str:
    if not counts:
        return ""
    cells = [
        (kind[2], kind[0], kind[1], f"{count:,}", _share(count, rows), _meaning(kind[0]))
        for kind, count in sorted(counts.items(), key=lambda item: _order(item[0], item[1]))
    ]
    columns = ("severity", "rule", "component", "findings", "of rows", "broken when")
    return "<h2>Findings of rows</h2>" + html_table(columns, cells, numbers={3, 4}, whole={1, 2})


def _order(kind: _Kind, count: int) -> tuple[int, int, str, str]:
    """Return the sort key of a kind of findings: the most severe kinds come first, then the most frequent."""
    rule, component, severity = kind
    return SEVERITIES.index(severity), -count, rule, component or ""


def _meaning(rule: str) -> str:
    return CATALOGUE[rule].broken if rule in CATALOGUE else ""


def _kind_of(sample: Sample) -> _Kind:
    return sample.finding.rule, sample.finding.component, sample.finding.severity


def _examples(samples: Sequence[Sample], counts: Mapping[_Kind, int]) -> str:
    """Return the examples as HTML, with a table for each kind of findings."""
    if not samples:
        return ""
    ordered = sorted(samples, key=lambda sample: _order(_kind_of(sample), counts.get(_kind_of(sample), 0)))
    found = "".join(_of_kind(kind, list(some), counts.get(kind, 0)) for kind, some in groupby(ordered, _kind_of))
    return f"<h2>Examples</h2>{found}"


def _of_kind(kind: _Kind, samples: Sequence[Sample], count: int) -> str:
    rule, component, severity = kind
    what = rule if component is None else f"{rule} of {component}"
    shown = counted(count, "finding") if count else ""
    findings = [sample.finding for sample in samples]
    same = {
        "message": _only({finding.message for finding in findings}),
        "defined by": _only({finding.artefact for finding in findings}),
    }
    rows = [
        {
            "location": sample.location,
            "series": sample.series,
            "value": sample.finding.value,
            "message": sample.finding.message,
            "defined by": sample.finding.artefact,
        }
        for sample in samples
    ]
    columns = [name for name in rows[0] if same.get(name) is None]
    head = f'<h3><span class="{html_text(severity)}">{html_text(severity)}</span> {html_text(what)}: {shown}</h3>'
    if same["message"] is not None:
        head += f"<p>{html_text(same['message'])}</p>"
    if same["defined by"] is not None:
        head += f'<p class="quiet code">Defined by {html_text(same["defined by"])}</p>'
    return head + html_table(columns, [[row[name] for name in columns] for row in rows])


def _only(texts: Collection[str]) -> str | None:
    """Return the text if there is exactly one, else None."""
    return next(iter(texts)) if len(texts) == 1 else None


def _unchecked(sentences: Sequence[str]) -> str:
    if not sentences:
        return "<h2>Not checked</h2><p>All demands of the structure were checked.</p>"
    return html_list("Not checked", sentences)
