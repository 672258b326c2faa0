"""Read SDMX-CSV into a polars frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import polars as pl

from kafka_replica.common.wording import counted
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files import Field, Layout, layout_of, plain_layout_of
from kafka_replica.data.files.csv_header import check_decimal
from kafka_replica.data.files.csv_layout import EMPTY_VALUE
from kafka_replica.data.files.decompression import GivenContent
from kafka_replica.data.polars.datasets.csv_cells import value_of
from kafka_replica.data.polars.datasets.csv_chunks import CHUNK_BYTES, Chunk, CsvChunks
from kafka_replica.data.polars.datasets.csv_paths import Paths, csv_files
from kafka_replica.data.polars.datasets.csv_records import WrongRow, records_in
from kafka_replica.data.polars.unions import union_of
from kafka_replica.data.validation.actions import SPELLINGS
from kafka_replica.data.validation.model import Rules

_MARK: Final = "\ufeff"


def read_sdmx_csv(
    paths: Paths,
    *,
    rules: Rules | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
) -> pl.DataFrame:
    """Read SDMX-CSV 1.0, 2.0 or 2.1 as a frame of texts, with one row per row and one column per component.

    ``STRUCTURE`` and ``STRUCTURE_ID`` (1.0: ``DATAFLOW``), ``ACTION`` and the file's own columns are kept; columns of
    names are not, and those of keys only in files that may have deletions. Empty cells are NULL. ``ATTR[]`` becomes
    lists of texts, ``ATTR[en;fr]`` lists of structs ``language`` and ``text``. Files may have different columns: a
    column that a file lacks is NULL in its rows, and a column with single values in one file and several in another has
    several in all rows.

    Args:
        paths: files, which may be compressed (gzip, zip, zstd), folders of ``*.csv``, or patterns.
        rules: the rules of the rows' structure; needed if the file has names as well as ids, and for decimal commas.
        separator: the separator of cells; None means the character after the first cell of each file.
        encoding: the encoding of files without a byte order mark; None means UTF-8.
        decimal: the decimal separator; needs rules if it is not a dot.

    Raises:
        DatasetError: a file is not SDMX-CSV, or a row has more or fewer cells than the header; the error names the
            line.
        UsageError: a file cannot be opened, or rules are needed.
        ConfigurationError: ``decimal`` cannot be a decimal separator, or the encoding is unknown.
    """
    frames = [
        read_one_sdmx_csv(path, rules=rules, separator=separator, encoding=encoding, decimal=decimal).values
        for path in csv_files(paths)
    ]  # fmt: skip
    return union_of(frames, "SDMX-CSV")


@dataclass(frozen=True)
class CsvRows:
    """Rows of a CSV file, with their original cells and as values.

    Attributes:
        layout: the columns.
        cells: the unchanged cells of each row, with columns named by position. The cells of a wrong row are empty.
        lines: the line on which each row begins, counted from 1.
        encoding: Python's name of the file's encoding.
        line_end: the line end of the header: LF or CR LF.
        decimal: the decimal separator.
        wrong: the rows with more or fewer cells than the header.
        is_bare: whether the file has neither quotes nor carriage returns here, so that an empty cell is NULL already.
    """

    layout: Layout
    cells: pl.DataFrame
    lines: pl.Series
    encoding: str
    line_end: str
    decimal: str
    wrong: tuple[WrongRow, ...] = ()
    is_bare: bool = False

    @property
    def is_plain(self) -> bool:
        """Return whether no cell contains a comma, a quote or a line break."""
        return self.is_bare and self.layout.separator == ","

    @property
    def values(self) -> pl.DataFrame:
        """Return the values, with a column for each component; empty cells are NULL."""
        return self.cells.select(
            [self._value(field, pl.col(str(field.position))).alias(field.name) for field in self.layout.fields]
        )

    def _value(self, field: Field, cell: pl.Expr) -> pl.Expr:
        """Return the value of a cell; an empty text in a deletion that gives only a name."""
        layout = self.layout
        found = value_of(field, cell, layout.sub_separator, self.decimal, is_bare=self.is_bare)
        if not layout.may_be_nameless(field):
            return found
        is_nameless = (cell.fill_null("") == "") & (pl.col(str(field.name_position)).fill_null("") != "")
        if layout.action_position is not None:
            action = pl.col(str(layout.action_position)).fill_null("")
            is_nameless &= action.is_in([*SPELLINGS["delete"], *([""] if layout.deletes else [])])
        empty = pl.lit("")
        if field.form != "text":
            empty = value_of(field, pl.lit(EMPTY_VALUE), layout.sub_separator, self.decimal, is_bare=True)
        return pl.when(is_nameless).then(empty).otherwise(found)


class CsvTable:
    """A CSV file whose rows are read in batches, in memory that does not depend on their number."""

    def __init__(self, chunks: CsvChunks, layout: Layout, path: Path, decimal: str) -> None:
        """Create the table; use :func:`open_sdmx_csv` or :func:`open_plain_csv` instead."""
        self._chunks, self._path, self._decimal = chunks, path, decimal
        self.layout: Final = layout
        self.line_end: Final = "\r\n" if chunks.header.endswith("\r\n") else "\n"

    @property
    def encoding(self) -> str:
        """Return Python's name of the file's encoding."""
        return self._chunks.encoding

    @property
    def done(self) -> int:
        """Return the number of bytes of the file read so far, before decompression."""
        return self._chunks.done

    @property
    def empty_rows(self) -> CsvRows:
        """Return an object without rows that has the names and types of the columns."""
        cells = pl.DataFrame(schema=self._schema())
        return self._rows(cells, pl.Series("line", [], dtype=pl.UInt32))

    def batches(self) -> Iterator[CsvRows]:
        """Yield all rows, in batches that are not empty.

        Raises:
            DatasetError: a quote is not closed, or not doubled in a quoted cell; or the file is not in its encoding.
            UsageError: the file cannot be read.
        """
        width, separator = len(self.layout.header), self.layout.separator
        for chunk in self._chunks.records(separator):
            simple = self._simple(chunk)
            if simple is not None:
                yield from self._without_headers(simple)
                continue
            records = records_in(chunk, width, separator, self._path)
            try:
                cells = self._cells(records.data)
            except pl.exceptions.PolarsError:
                records = records_in(chunk, width, separator, self._path, each=True)
                try:
                    cells = self._cells(records.data)
                except pl.exceptions.PolarsError as error:
                    raise DatasetError(
                        f"reading {self._path}: polars cannot read the rows from line {chunk.first_line} to line "
                        f"{records.lines[-1]}; are there unusual quotes or line breaks in them?"
                    ) from error
            if cells.height:
                yield from self._without_headers(
                    self._rows(cells, _numbers(records.lines), tuple(records.wrong))
                )  # fmt: skip

    def _simple(self, chunk: Chunk) -> CsvRows | None:
        """Return the rows of a chunk by a fast path, or None if it cannot be used.

        It is used for chunks without quotes in which the last cell of each row is not empty, so that no row is short or
        blank; polars itself rejects rows that are too long.
        """
        if b'"' in chunk.data:
            return None
        try:
            cells = self._cells(chunk.data)
        except pl.exceptions.PolarsError:
            return None
        if not cells.height or cells.to_series(-1).null_count():
            return None
        lines = _numbers(range(chunk.first_line, chunk.first_line + cells.height))
        return self._rows(cells, lines, is_bare=b"\r" not in chunk.data)

    def _without_headers(self, rows: CsvRows) -> Iterator[CsvRows]:
        """Yield rows without repetitions of the header of SDMX-CSV, which joined files have, if any are left."""
        first, *others = (cell.removeprefix(_MARK) for cell in self.layout.header)
        if self.layout.version is None or not rows.cells.to_series().str.strip_prefix(_MARK).eq(first).any():
            yield rows
            return
        is_header = rows.cells.select(
            pl.all_horizontal(
                pl.col("0").str.strip_prefix(_MARK).eq_missing(first),
                *(pl.col(str(at)).fill_null("") == cell for at, cell in enumerate(others, start=1)),
            )
        ).to_series()
        kept = ~is_header
        before = is_header.cum_sum()
        wrong = tuple(one._replace(at=one.at - int(before[one.at])) for one in rows.wrong)
        if kept.any():
            yield replace(rows, cells=rows.cells.filter(kept), lines=rows.lines.filter(kept), wrong=wrong)

    def whole(self) -> CsvRows:
        """Return all rows in one object.

        Raises:
            DatasetError: see :meth:`batches`; or a row has more or fewer cells than the header.
        """
        batches = list(self.batches())
        for batch in batches:
            for wrong in batch.wrong:
                raise DatasetError(
                    f"reading {self._path}: line {wrong.line} has {counted(wrong.cells, 'cell')}, the first row "
                    f"{wrong.wanted}"
                )
        empty_rows = self.empty_rows
        cells = pl.concat([empty_rows.cells, *(batch.cells for batch in batches)])
        return self._rows(cells, pl.concat([empty_rows.lines, *(batch.lines for batch in batches)]))

    def _rows(
        self, cells: pl.DataFrame, lines: pl.Series, wrong: tuple[WrongRow, ...] = (), *, is_bare: bool = False
    ) -> CsvRows:
        return CsvRows(self.layout, cells, lines, self.encoding, self.line_end, self._decimal, wrong, is_bare)

    def _schema(self) -> dict[str, pl.String]:
        return {str(position): pl.String() for position in range(len(self.layout.header))}

    def _cells(self, data: bytes) -> pl.DataFrame:
        if not data:
            return pl.DataFrame(schema=self._schema())
        return pl.read_csv(
            data, has_header=False, schema=self._schema(), separator=self.layout.separator, quote_char='"',
        )  # fmt: skip


def _numbers(lines: Sequence[int]) -> pl.Series:
    if isinstance(lines, range):
        return pl.int_range(lines.start, lines.stop, dtype=pl.UInt32, eager=True).alias("line")
    return pl.Series("line", lines, dtype=pl.UInt32)


def open_plain_csv(
    path: Path, *, rules: Rules | None = None, encoding: str | None = None, decimal: str = ".",
    content: GivenContent | None = None, size: int = CHUNK_BYTES, folder: Path | None = None,
) -> CsvTable:  # fmt: skip
    """Open a plain CSV file, which has component ids as column names.

    Its separator is a comma, semicolon, tab or ``|``, which is detected in the header.

    Args:
        path: the file, which may be compressed.
        rules: the rules of the rows' structure; needed for decimal commas.
        encoding: the encoding of a file without a byte order mark; None means UTF-8.
        decimal: the decimal separator; needs rules if it is not a dot.
        content: the content of the file, if the caller has it already: its decompressed bytes, or a file that has it.
        size: the approximate size of batches, in bytes of the file.
        folder: an existing folder for temporary files; None means the system's.

    Raises:
        DatasetError: a column occurs twice, or the file is empty.
        UsageError: the file cannot be opened.
        ConfigurationError: ``decimal`` cannot be a decimal separator, or the encoding is unknown.
    """
    check_decimal(decimal, str(path))
    chunks = CsvChunks(path, encoding, content, size, folder)
    return CsvTable(chunks, plain_layout_of(_line(chunks), str(path), rules), path, decimal)


def open_sdmx_csv(
    path: Path, *, rules: Rules | None, encoding: str | None, decimal: str, separator: str | None = None,
    content: GivenContent | None = None, size: int = CHUNK_BYTES, folder: Path | None = None,
) -> CsvTable:  # fmt: skip
    """Open an SDMX-CSV file; the arguments are those of :func:`open_plain_csv` and :func:`read_sdmx_csv`.

    Raises:
        DatasetError: the file is not SDMX-CSV.
        UsageError: the file cannot be opened, or rules are needed.
        ConfigurationError: ``decimal`` cannot be a decimal separator, or the encoding is unknown.
    """
    check_decimal(decimal, str(path))
    chunks = CsvChunks(path, encoding, content, size, folder)
    return CsvTable(chunks, layout_of(_line(chunks), str(path), rules, separator=separator), path, decimal)


def _line(chunks: CsvChunks) -> str:
    return chunks.header.removesuffix("\n")


def read_plain_csv(
    path: Path, *, rules: Rules | None = None, encoding: str | None = None, decimal: str = ".",
    content: GivenContent | None = None,
) -> CsvRows:  # fmt: skip
    """Read all rows of a plain CSV file; the arguments are those of :func:`open_plain_csv`.

    Raises:
        DatasetError: a column occurs twice, or a row has more or fewer cells than the header; the error names the line.
        UsageError: the file cannot be opened.
        ConfigurationError: ``decimal`` cannot be a decimal separator, or the encoding is unknown.
    """
    return open_plain_csv(path, rules=rules, encoding=encoding, decimal=decimal, content=content).whole()


def read_one_sdmx_csv(
    path: Path, *, rules: Rules | None, encoding: str | None, decimal: str, separator: str | None = None,
    content: GivenContent | None = None,
) -> CsvRows:  # fmt: skip
    """Read all rows of one SDMX-CSV file; the arguments are those of :func:`open_sdmx_csv`.

    Raises:
        DatasetError: the file is not SDMX-CSV, or a row has more or fewer cells than the header.
        UsageError: the file cannot be opened, or rules are needed.
        ConfigurationError: ``decimal`` cannot be a decimal separator, or the encoding is unknown.
    """
    return open_sdmx_csv(
        path, rules=rules, encoding=encoding, decimal=decimal, separator=separator, content=content
    ).whole()
