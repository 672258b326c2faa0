"""Write rejected rows as they are in their CSV files, with a column that describes their errors."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from kafka_replica.common.wording import reason_of
from kafka_replica.data.jobs.job import BETWEEN_ERRORS, ERRORS_TEXT, in_words
from kafka_replica.data.polars.inputs import AT, Original
from kafka_replica.data.polars.mapping.engine import PolarsEngine
from kafka_replica.data.validation.model import ERRORS
from kafka_replica.errors import UsageError


def with_errors_in_words(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the column that describes the errors of a row, if the frame has errors."""
    if ERRORS not in frame.columns:
        return frame
    words = in_words(PolarsEngine(frame), pl.element().struct.field)
    return frame.with_columns(pl.col(ERRORS).list.eval(words).list.join(BETWEEN_ERRORS).alias(ERRORS_TEXT))


def have_one_layout(originals: Sequence[Original]) -> bool:
    """Return whether there are files, and all have the same columns, separator and encoding."""
    layouts = {(one.rows.layout.header, one.rows.layout.separator, one.rows.encoding) for one in originals}
    return len(layouts) == 1


def write_rejected(path: Path, originals: Sequence[Original], rejected: pl.DataFrame) -> None:
    """Write rows of files with the same layout: their cells and the order of columns and rows stay as they are.

    Args:
        path: the file.
        originals: the files of all rows.
        rejected: the positions of the rejected rows among all rows, ascending, in ``AT``, and their errors in words.

    Raises:
        UsageError: the file cannot be written.
    """
    layout, encoding = originals[0].rows.layout, originals[0].rows.encoding
    line_end = originals[0].rows.line_end
    told = [place for place, name in enumerate(layout.header) if name == originals[0].verdict]
    cells = _cells(originals, rejected[AT]).drop(map(str, told)).with_columns(rejected[ERRORS_TEXT])
    header = io.StringIO()
    names = [name for place, name in enumerate(layout.header) if place not in told]
    csv.writer(header, delimiter=layout.separator, lineterminator=line_end).writerow([*names, ERRORS_TEXT])
    rows = cells.write_csv(include_header=False, separator=layout.separator, line_terminator=line_end)
    try:
        # Only the errors may have characters that the encoding of the file lacks.
        path.write_bytes((header.getvalue() + rows).encode(encoding, errors="replace"))
    except OSError as error:
        raise UsageError(f"writing {path}: {reason_of(error)}") from error


def _cells(originals: Sequence[Original], positions: pl.Series) -> pl.DataFrame:
    found = []
    for one in originals:
        height = one.rows.cells.height
        mine = positions.filter((positions >= one.first) & (positions < one.first + height)) - one.first
        found.append(one.rows.cells[mine])
    return pl.concat(found)
