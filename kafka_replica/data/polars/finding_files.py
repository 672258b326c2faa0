"""Write a table of findings to a file: CSV, JSON lines, Parquet or a workbook, by the extension of its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import polars as pl

from kafka_replica.common.wording import reason_of
from kafka_replica.data.jobs.options import check_findings_path
from kafka_replica.errors import UsageError

_SHEET_ROWS: Final = 1_048_575
"""The rows of a sheet of a workbook, without the header."""


def write_findings(table: pl.DataFrame, path: Path | str, *, most: int | None = None) -> int:
    """Write the first findings of a table, and return their number; an existing file is replaced.

    Args:
        table: the table, from ``finding_table``.
        path: the file; its extension selects the format: .csv, .jsonl, .parquet or .xlsx.
        most: the largest number of findings that are written; None means all, but no more than 1,048,575 in a workbook.

    Raises:
        UsageError: the extension is another, or the file cannot be written.
        MissingExtraError: the library for workbooks is not installed.
    """
    path = Path(path)
    check_findings_path(path)
    limit = _SHEET_ROWS if path.suffix.lower() == ".xlsx" else None
    first = table.head(min(one for one in (most, limit, table.height) if one is not None))
    try:
        _WRITERS[path.suffix.lower()](first, path)
    except OSError as error:
        raise UsageError(f"writing the findings to {path}: {reason_of(error)}") from error
    return first.height


def _csv(table: pl.DataFrame, path: Path) -> None:
    table.write_csv(path)


def _json_lines(table: pl.DataFrame, path: Path) -> None:
    table.write_ndjson(path)


def _parquet(table: pl.DataFrame, path: Path) -> None:
    table.write_parquet(path)


def _workbook(table: pl.DataFrame, path: Path) -> None:
    """Write a workbook whose cells are texts: a value that begins with ``=`` is no formula."""
    with path.open("wb") as file:
        table.write_excel(file, worksheet="findings", freeze_panes=(1, 0), autofit=False)


_WRITERS: Final[Mapping[str, Callable[[pl.DataFrame, Path], None]]] = {
    ".csv": _csv, ".jsonl": _json_lines, ".parquet": _parquet, ".xlsx": _workbook,
}  # fmt: skip
