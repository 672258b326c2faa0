"""Recognize the errors that an earlier run described in rows with a wrong number of cells."""

from __future__ import annotations

import re
from typing import Final

from kafka_replica.data.files import Layout
from kafka_replica.data.polars.datasets.csv_records import WrongRow

_VERDICT: Final = re.compile(r'"?(?:information|warning|error) [a-z]+(?:-[a-z]+)*: ').match
"""The beginning of a description of errors, see :func:`~kafka_replica.data.jobs.job.error_in_words`."""


def without_earlier_errors(row: WrongRow, layout: Layout, error_column: str | None) -> WrongRow:
    """Return a wrong row without the description of its errors that an earlier run wrote as its last cell.

    Such a row cannot be corrected by the position of its cells, so the description is recognized by its form.

    Args:
        row: the row.
        layout: the layout of its file.
        error_column: the column in which an earlier run may have described errors; None if there cannot be such a
            column.
    """
    if error_column is None or layout.header[-1] != error_column:
        return row
    end = _last_separator(row.text, layout.separator)
    if end < 0 or _VERDICT(row.text, end + 1) is None:
        return row
    return row._replace(cells=row.cells - 1, wanted=row.wanted - 1, text=row.text[:end])


def _last_separator(text: str, separator: str) -> int:
    """Return the position of the last separator that is not within double quotes; -1 if there is none."""
    at, quotes = len(text), 0
    while (found := text.rfind(separator, 0, at)) >= 0:
        quotes += text.count('"', found, at)
        at = found
        if not quotes % 2:
            break
    return found
