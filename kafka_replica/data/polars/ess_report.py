"""Write findings in the format of the European Statistical System (ESS), from a table of findings in polars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import polars as pl

from kafka_replica.data.jobs.ess_report import OF_RULES, event_now, rule_json, write_objects
from kafka_replica.data.validation import Report, Rules

_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", **{chr(code): f"\\u{code:04x}" for code in range(32)}}
_ROWS: Final = 50_000


def write_ess_report(
    path: Path, table: pl.DataFrame | Iterable[pl.DataFrame], report: Report, rules: Rules | None = None
) -> None:
    """Write a report; see :func:`kafka_replica.data.jobs.ess_report.write_objects`.

    Args:
        path: the file, which is replaced if it exists.
        table: the table of findings, or its consecutive parts.
        report: the report of the same findings.
        rules: the rules of the data; None if there is no list of all rules, as for maps.

    Raises:
        UsageError: the file cannot be written.
    """
    event = event_now()
    write_objects(path, (_findings(part, report, event) for part in _numbered(table)), report, rules, event)


def _numbered(table: pl.DataFrame | Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield findings with their numbers, at most 50,000 at a time to bound the memory."""
    offset = 1
    for one in [table] if isinstance(table, pl.DataFrame) else table:
        yield from one.with_row_index("number", offset=offset).iter_slices(_ROWS)
        offset += one.height


def _findings(table: pl.DataFrame, report: Report, event: dict[str, str]) -> pl.Series:
    """Return the validations of findings as JSON texts.

    The members that all findings of a rule share are formatted once, because a report may have millions of findings.
    """
    kinds = table.select(OF_RULES).unique()
    texts = [rule_json(kind, event) for kind in kinds.iter_rows()]
    rules = kinds.with_columns(rule_json=pl.Series(texts, dtype=pl.String))
    rows = table.join(rules, on=OF_RULES, how="left", nulls_equal=True, maintain_order="left")
    key = [_json_text(one) for one in (pl.lit(str(report.artefact)), *map(pl.col, ("time", "series", "component")))]
    keys = pl.concat_str(pl.lit("[["), pl.concat_str(key, separator=","), pl.lit("]]"))
    parts = [
        pl.lit('{"id":"finding-'), pl.col("number"), pl.lit('",'), pl.col("rule_json"), pl.lit(',"data":{"source":'),
        pl.col("key"), pl.lit(',"target":'), pl.col("key"), pl.lit(',"description":'), pl.col("place"),
        pl.lit('},"value":"0"}'),
    ]  # fmt: skip
    return rows.with_columns(key=keys, place=_json_text(_described())).select(pl.concat_str(parts)).to_series()


def _described() -> pl.Expr:
    """Return the location of a finding and its value: ``data.csv, line 6: X``."""
    line, row = pl.format("line {}", "line"), pl.format("row {}", "row")
    place = pl.concat_str(pl.col("file"), pl.coalesce(line, row), pl.col("path"), separator=", ", ignore_nulls=True)
    return pl.concat_str(place, pl.col("value"), separator=": ", ignore_nulls=True)


def _json_text(text: pl.Expr) -> pl.Expr:
    """Return a text as JSON; NULL becomes ``null``."""
    escaped = text.str.replace_many(_ESCAPES)
    return pl.concat_str(pl.lit('"'), escaped, pl.lit('"')).fill_null("null")
