"""The rows of one source, in batches: read from the file each time, or held in memory or in files."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import polars as pl

from kafka_replica.common.chained import Chained
from kafka_replica.common.wording import counted
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.content import largest
from kafka_replica.data.files.messages import is_streamed, located_blocks
from kafka_replica.data.files.messages.blocks import Block, columns_of, lines_of
from kafka_replica.data.files.workbook import tables_in
from kafka_replica.data.jobs.job import Job, verdict_of
from kafka_replica.data.jobs.sources import ARROW_FILE, Source
from kafka_replica.data.polars.datasets.chunks import CHUNK_BYTES
from kafka_replica.data.polars.datasets.reading import (
    CsvRows,
    CsvTable,
    open_plain_csv,
    open_sdmx_csv,
    read_one_sdmx_csv,
    read_plain_csv,
)
from kafka_replica.data.polars.message_forms import ColumnForm, common_forms, in_forms
from kafka_replica.data.polars.parts import Parts
from kafka_replica.data.polars.written_rows import FileLayout, written_by, written_frame, written_tables
from kafka_replica.errors import ConfigurationError

_PART: Final = {"part": pl.String, "part_row": pl.UInt32}
_TOLD_EVERY: Final = 10_000
_LEAST_BYTES: Final = 8
"""The memory that a cell takes at least."""
_LINE: Final = "__line"


@dataclass(frozen=True, slots=True)
class BatchSize:
    """The size of batches.

    Attributes:
        bytes: of CSV.
        rows: of other formats.
    """

    bytes: int = CHUNK_BYTES
    rows: int = 200_000


class RowsPart(NamedTuple):
    """Consecutive rows of a source.

    Attributes:
        frame: the rows.
        known: columns of their locations, as far as they are known.
        csv: the rows of a CSV file.
        cells: the values of the columns of the layout, if the source has one; their names are their positions.
        paths: the path of each row within a message of SDMX-JSON.
    """

    frame: pl.DataFrame
    known: Mapping[str, pl.Series] = {}
    csv: CsvRows | None = None
    paths: Sequence[str] | None = None
    cells: pl.DataFrame | None = None

    def slice(self, first: int, rows: int) -> RowsPart:
        """Return some of the rows."""
        known = {name: values.slice(first, rows) for name, values in self.known.items()}
        paths = None if self.paths is None else self.paths[first : first + rows]
        cells = None if self.cells is None else self.cells.slice(first, rows)
        return RowsPart(self.frame.slice(first, rows), known, None, paths, cells)


class SourceRows(Protocol):
    """The rows of a source."""

    @property
    def nothing(self) -> pl.DataFrame:
        """Return a frame without rows that has all columns."""

    @property
    def written(self) -> FileLayout | None:
        """Return the layout that rejected rows keep; None if they are written as SDMX-CSV."""

    def batches(self, size: int) -> Iterator[tuple[RowsPart, int]]:
        """Yield the rows, each time with how many of the ``size`` bytes of the source are done."""


def open_source(
    source: Source, job: Job, folder: Path, batch: BatchSize, tell: Callable[[int], None],
    note: Callable[[str], object],
) -> SourceRows:  # fmt: skip
    """Return the rows of a source.

    Args:
        source: the source.
        job: the job.
        folder: an existing folder for temporary files.
        batch: the size of batches.
        tell: called with the number of rows that were read of a message, from time to time.
        note: called with each text that a message says about itself.

    Raises:
        DatasetError: the source cannot be read.
        ConfigurationError: only another engine can read an address.
    """
    if "://" in source.path:
        raise ConfigurationError(
            f"reading {source.path}: only Spark can read it; use the engine spark (--engine spark)"
        )
    if source.kind == "message":
        return _message(source, job, folder, batch, tell, note)
    if source.kind == "parquet":
        return _parquet(source, verdict_of(source, job.rules), batch)
    if source.kind == "arrow":
        return _held(_arrow(source), verdict_of(source, job.rules), {}, batch)
    if source.kind == "xlsx":
        return _workbook(source, job, batch)
    open_ = open_sdmx_csv if source.kind == "sdmx-csv" else open_plain_csv
    return FileOfCsv(
        open_(
            Path(source.path), rules=job.rules, decimal=job.decimal, encoding=job.encoding, content=source.content,
            size=batch.bytes,
        )
    )  # fmt: skip


class FileOfCsv:
    """The rows of a CSV file."""

    def __init__(self, table: CsvTable) -> None:
        """Take the file."""
        self._table = table

    @property
    def written(self) -> FileLayout | None:
        """Return the layout of the file."""
        return written_by(self._table)

    @property
    def nothing(self) -> pl.DataFrame:
        """Return a frame without rows that has all columns."""
        return self._table.nothing.values

    def batches(self, size: int) -> Iterator[tuple[RowsPart, int]]:
        """Yield the rows, and how many bytes of the file are done."""
        for rows in self._table.batches():
            yield RowsPart(rows.values, {"line": rows.lines}, rows, cells=rows.cells), min(size, self._table.done)


@dataclass(frozen=True)
class HeldRows:
    """Rows in memory."""

    part: RowsPart
    batch_rows: int
    written: FileLayout | None = None

    @property
    def nothing(self) -> pl.DataFrame:
        """Return a frame without rows that has all columns."""
        return self.part.frame.clear()

    def batches(self, size: int) -> Iterator[tuple[RowsPart, int]]:
        """Yield the rows, and the share of the bytes that is done."""
        height = self.part.frame.height
        for first in range(0, height, self.batch_rows):
            done = min(height, first + self.batch_rows)
            yield self.part.slice(first, self.batch_rows), size * done // height


@dataclass(frozen=True)
class StoredRows:
    """Rows of a message that was read as a stream, in temporary files."""

    nothing: pl.DataFrame
    forms: Mapping[str, ColumnForm]
    parts: Parts
    written: None = None

    def batches(self, size: int) -> Iterator[tuple[RowsPart, int]]:
        """Yield the rows, and the share of the bytes that is done."""
        done = 0
        for frame in self.parts.frames():
            done += frame.height
            rows = in_forms(frame.drop(_LINE), self.forms)
            yield RowsPart(rows, {"line": frame[_LINE]}), size * done // max(1, self.parts.rows)


@dataclass(frozen=True)
class RowGroups:
    """The rows of a Parquet file."""

    path: str
    nothing: pl.DataFrame
    batch_rows: int
    groups: Sequence[int] = field(repr=False)
    verdict: str | None = None

    @property
    def written(self) -> FileLayout | None:
        """Return the layout that rejected rows keep."""
        return written_frame(self.nothing, self.verdict)[0]

    def batches(self, size: int) -> Iterator[tuple[RowsPart, int]]:
        """Yield the rows, and the share of the bytes that is done."""
        first, total = 0, max(1, sum(self.groups))
        for number, height in enumerate(self.groups):
            for begin in range(0, height, self.batch_rows):
                rows = min(self.batch_rows, height - begin)
                frame = _readable(self.path, pl.scan_parquet(self.path, glob=False).slice(first + begin, rows).collect)
                numbers = pl.int_range(begin + 1, begin + rows + 1, dtype=pl.UInt32, eager=True)
                part = pl.Series([str(number)]).new_from_index(0, rows)
                known, cells = {"part": part, "part_row": numbers}, written_frame(frame, self.verdict)[1]
                yield RowsPart(frame, known, cells=cells), size * (first + begin + rows) // total
            first += height


def _message(
    source: Source, job: Job, folder: Path, batch: BatchSize, tell: Callable[[int], None],
    note: Callable[[str], object],
) -> SourceRows:  # fmt: skip
    blocks = located_blocks(source.path, job.rules, job.usages, content=source.content, note=note)
    if not is_streamed(source.path, source.content):
        return HeldRows(_of_blocks(blocks, tell), batch.rows)
    stored = Parts(folder, "message")
    schemas: list[pl.DataFrame] = []
    while some := _blocks_of(blocks, batch.rows):
        part = _of_blocks(iter(some), tell, stored.rows)
        stored.add(part.frame.with_columns(part.known["line"].alias(_LINE)))
        schemas.append(part.frame.clear())
    return StoredRows(*common_forms(schemas), stored)


def _blocks_of(located: Iterator[tuple[int | None, Block]], rows: int) -> list[tuple[int | None, Block]]:
    """Return the next blocks, with at least that number of rows in total unless the message ends."""
    some: list[tuple[int | None, Block]] = []
    for line, block in located:
        some.append((line, block))
        rows -= block.size
        if rows <= 0:
            break
    return some


def _of_blocks(located: Iterator[tuple[int | None, Block]], tell: Callable[[int], None], before: int = 0) -> RowsPart:
    """Return the rows of blocks; ``before`` is the number of rows that were reported before."""
    lines: list[int | None] = []
    paths: list[Sequence[str]] = []
    told = 0

    def blocks() -> Iterator[Block]:
        nonlocal told
        for line, block in located:
            lines.extend(lines_of(line, block))
            if block.paths is not None:
                paths.append(block.paths)
            yield block
            if len(lines) - told >= _TOLD_EVERY:
                told = len(lines)
                tell(before + told)

    columns: dict[str, list[Any]] = columns_of(blocks())
    known = {"line": pl.Series(lines, dtype=pl.UInt32)}
    return RowsPart(pl.DataFrame(columns, infer_schema_length=None), known, paths=Chained(paths) if paths else None)


def _held(
    frame: pl.DataFrame, verdict: str | None, known: Mapping[str, pl.Series], batch: BatchSize
) -> HeldRows:  # fmt: skip
    written, cells = written_frame(frame, verdict)
    return HeldRows(RowsPart(frame, known, cells=cells), batch.rows, written)


def _workbook(source: Source, job: Job, batch: BatchSize) -> HeldRows:
    """Return the rows of all sheets with data; a sheet is a part."""
    tables: list[CsvRows] = []
    parts: list[pl.DataFrame] = []
    for sheet, is_sdmx_csv, content, numbers in tables_in(source.read(), source.path, job.rules):
        read = read_one_sdmx_csv if is_sdmx_csv else read_plain_csv
        path = Path(f"{source.path}, sheet {sheet}")
        tables.append(read(path, rules=job.rules, decimal=".", encoding="utf-8", content=content))
        rows = pl.Series("part_row", numbers, dtype=pl.UInt32)
        parts.append(pl.DataFrame({"part": [sheet] * len(rows), "part_row": rows}, schema_overrides=_PART))
    located = pl.concat(parts)
    known = {"part": located["part"], "part_row": located["part_row"]}
    written, cells = written_tables(tables)
    return HeldRows(RowsPart(one_frame([one.values for one in tables]), known, cells=cells), batch.rows, written)


def one_frame(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return the rows of all frames; a column that one lacks is NULL there.

    Raises:
        DatasetError: a column has values of different kinds.
    """
    try:
        return pl.concat(frames, how="diagonal_relaxed")
    except pl.exceptions.PolarsError as error:
        raise DatasetError(f"reading {counted(len(frames), 'file')} into one frame: {error}") from error


def _parquet(source: Source, verdict: str | None, batch: BatchSize) -> SourceRows:
    if source.is_packed:
        content = source.read()
        groups = _row_groups(source.path, io.BytesIO(content))
        frame = _readable(source.path, lambda: pl.read_parquet(io.BytesIO(content)))
        return _held(frame, verdict, {} if groups is None else _located_in(groups, frame.height), batch)
    groups = _row_groups(source.path, source.path)
    nothing = _readable(source.path, lambda: pl.scan_parquet(source.path, glob=False).head(0).collect())
    if groups is None:
        frame = _readable(source.path, lambda: pl.read_parquet(source.path, glob=False))
        return _held(frame, verdict, {}, batch)
    return RowGroups(source.path, nothing, batch.rows, groups, verdict)


def _readable(path: str, read: Callable[[], pl.DataFrame]) -> pl.DataFrame:
    try:
        return read()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise DatasetError(f"reading {path}: it cannot be read as Parquet: {error}") from error


def _row_groups(path: str, file: str | io.BytesIO) -> list[int] | None:
    """Return the numbers of rows of the row groups; None without pyarrow, because polars does not report them."""
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    try:
        metadata = pq.ParquetFile(file).metadata
    except (OSError, ValueError, NotImplementedError) as error:
        # pyarrow's errors derive from these; it refuses some damage that polars passes over
        raise DatasetError(f"reading {path}: it cannot be read as Parquet: {error}") from error
    return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]


def _located_in(groups: Sequence[int], height: int) -> Mapping[str, pl.Series]:
    if sum(groups) != height:
        return {}
    parts = pl.DataFrame({"part": range(len(groups)), "size": groups}, schema={"part": pl.UInt32, "size": pl.UInt32})
    rows = parts.select(pl.col("part"), pl.int_ranges(1, pl.col("size") + 1, dtype=pl.UInt32).alias("part_row"))
    numbered = rows.explode("part_row").drop_nulls()
    return {"part": numbered["part"].cast(pl.String), "part_row": numbered["part_row"]}


def _check_unpacked(data: bytes, path: str) -> None:
    """Check by its metadata that a file of Arrow IPC, which may be compressed, has not too many rows for its size.

    Raises:
        DatasetError: its numbers of rows and columns need more memory than :func:`largest` allows.
    """
    found = pl.scan_ipc(io.BytesIO(data))
    rows, columns = found.select(pl.len()).collect().item(), len(found.collect_schema())
    if rows * columns * _LEAST_BYTES > largest(len(data)):
        raise DatasetError(
            f"reading {path}: it unfolds to {rows:,} rows of {counted(columns, 'column')}, too many for a file of "
            f"{len(data):,} bytes; write it as Parquet, or in several files"
        )


def _arrow(source: Source) -> pl.DataFrame:
    """Return the rows of a file or stream of Arrow IPC, which the first bytes distinguish."""
    data = source.read()
    read = pl.read_ipc if data.startswith(ARROW_FILE) else pl.read_ipc_stream
    try:
        # A damaged file can make polars panic, which is no Exception.
        if data.startswith(ARROW_FILE):
            _check_unpacked(data, source.path)
        return read(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, TypeError, ValueError) as error:
        raise DatasetError(f"reading {source.path}: it cannot be read as Arrow IPC: {error}") from error
