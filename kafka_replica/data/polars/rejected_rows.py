"""Write rejected rows unchanged, in the layout of their files, with a column that describes their errors."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from uuid import uuid4

import polars as pl

from kafka_replica.common.wording import reason_of
from kafka_replica.data.jobs.job import BETWEEN_ERRORS, ERRORS_TEXT, error_in_words
from kafka_replica.data.polars.job_input import AT, Batch, InputLayout
from kafka_replica.data.polars.mapping.engine import PolarsEngine
from kafka_replica.data.validation.model import ERRORS
from kafka_replica.errors import UsageError


def with_errors_in_words(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with the column ``ERRORS`` that describes the errors as text, if it has a column ``_errors``."""
    if ERRORS not in frame.columns:
        return frame
    words = error_in_words(PolarsEngine(frame), pl.element().struct.field)
    return frame.with_columns(pl.col(ERRORS).list.eval(words).list.join(BETWEEN_ERRORS).alias(ERRORS_TEXT))


def have_one_layout(originals: Sequence[InputLayout]) -> bool:
    """Return whether there are layouts, and all have the same columns, separator and encoding."""
    return bool(originals) and all(original.written.is_like(originals[0].written) for original in originals)


class RejectedFile:
    """A file of rejected rows from files with the same layout, whose cells and whose order are kept."""

    def __init__(self, path: Path, original: InputLayout) -> None:
        """Create the file, and write the header of the original layout.

        Raises:
            UsageError: the file cannot be written.
        """
        header, self._separator, encoding, self._line_end = original.written
        self._path = path
        self._verdicts = [place for place, name in enumerate(header) if name == original.error_column]
        self._width = len(header) - len(self._verdicts)
        # The rows come from files in this encoding, so only the descriptions of errors may need a replacement.
        self._encoder: Final = codecs.getincrementalencoder(encoding)(errors="replace")
        names = [name for place, name in enumerate(header) if place not in self._verdicts]
        shown = io.StringIO()
        csv.writer(shown, delimiter=self._separator, lineterminator=self._line_end).writerow([*names, ERRORS_TEXT])
        try:
            self._file = path.open("wb")
        except OSError as error:
            raise UsageError(f"writing {path}: {reason_of(error)}") from error
        self._write(shown.getvalue())

    def write(self, bad: pl.DataFrame, batch: Batch) -> None:
        """Write the rejected rows of a batch; a row with a wrong number of cells is written as its original text.

        Args:
            bad: the positions of the rows in ``AT``, in ascending order, and their errors in ``_errors``.
            batch: the batch.

        Raises:
            UsageError: the file cannot be written.
        """
        words = with_errors_in_words(bad.select(AT, ERRORS))
        cells = batch.cells_of(bad[AT]).drop(map(str, self._verdicts)).with_columns(words[ERRORS_TEXT])
        texts = {at: batch.wrong[at].text for at in bad[AT] if at in batch.wrong} if batch.wrong else {}
        mark = f"x{uuid4().hex}x"  # a placeholder for the original text of a row
        if texts:
            places = pl.Series([f"{mark}{at}" if at in texts else None for at in bad[AT]], dtype=pl.String)
            cells = cells.with_columns(pl.coalesce(places, pl.col(cells.columns[0])).alias(cells.columns[0]))
        rows = cells.write_csv(
            include_header=False, separator=self._separator, line_terminator=self._line_end
        )  # fmt: skip
        self._write(self._with_texts(rows, mark, texts) if texts else rows)

    def _with_texts(self, rows: str, mark: str, texts: Mapping[int, str]) -> str:
        others = re.escape(self._separator * (self._width - 1))
        return re.sub(rf"{mark}(\d+){others}", lambda found: texts[int(found[1])], rows)

    def close(self) -> None:
        """Complete the file."""
        self._write("", is_last=True)
        self._file.close()

    def abandon(self) -> None:
        """Close the file, which may be incomplete."""
        self._file.close()

    def _write(self, text: str, *, is_last: bool = False) -> None:
        try:
            self._file.write(self._encoder.encode(text, is_last))
        except OSError as error:
            raise UsageError(f"writing {self._path}: {reason_of(error)}") from error
