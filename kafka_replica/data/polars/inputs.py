"""Read the data of a job: its rows, the location of each, and the cells of text files as they are written."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from kafka_replica.common.wording import counted
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.content import BETWEEN
from kafka_replica.data.files.messages import read_located_columns
from kafka_replica.data.files.workbook import tables_in
from kafka_replica.data.jobs.job import Job, verdict_of
from kafka_replica.data.jobs.progress import Progress, Step
from kafka_replica.data.jobs.sources import ARROW_FILE, Source
from kafka_replica.data.polars.datasets.reading import CsvRows, read_one_sdmx_csv, read_plain_csv
from kafka_replica.data.polars.datasets.rows import parted
from kafka_replica.data.validation.locations import LOCATION
from kafka_replica.errors import ConfigurationError
from kafka_replica.sdmx import Urn

AT: Final = "__at"
"""The column with the position of a row among all rows of a job."""
_TYPES: Final = dict(zip(LOCATION, (pl.String, pl.UInt32, pl.UInt32, pl.String, pl.UInt32), strict=True))


_PART: Final = {"part": pl.String, "part_row": pl.UInt32}


@dataclass(frozen=True)
class Original:
    """A CSV file as it is written.

    Attributes:
        first: the position of its first row among all rows of the job.
        rows: its rows.
        verdict: the column in which an earlier run has described errors; None if there cannot be such a column.
    """

    first: int
    rows: CsvRows
    verdict: str | None


@dataclass(frozen=True)
class Input:
    """The rows of a job.

    Attributes:
        frame: the rows that belong to the job's structure, with their positions in the column ``AT``.
        locations: the locations of all rows, those of other structures included, by position.
        originals: the files, if all rows come from CSV files.
        others: the number of rows that name other structures, by structure.
    """

    frame: pl.DataFrame
    locations: pl.DataFrame
    originals: tuple[Original, ...]
    others: dict[Urn, int]

    def locations_of(self, positions: pl.Series) -> pl.DataFrame:
        """Return the locations of the rows with these positions."""
        return self.locations[positions]


def read_input(job: Job, step: Step) -> Input:
    """Return the rows of a job that belong to its structure. A column that one file lacks is NULL there.

    The progress is reported after each file, and in messages after some thousand rows.

    Raises:
        DatasetError: a file cannot be read, files have columns of different kinds, or no row is of the structure.
        ConfigurationError: only another engine can read an address.
    """
    frames: list[pl.DataFrame] = []
    locations: list[pl.DataFrame] = []
    originals: list[Original] = []
    first = 0
    sizes = _sizes(job.sources)
    for number, source in enumerate(job.sources):
        done, rows_before = sum(sizes[:number]), first

        def tell(rows: int, done: int = done, before: int = rows_before) -> None:
            step(Progress("reading data", done, sum(sizes), rows=before + rows))

        tell(0)
        file = _read(source, job, tell)
        verdict = verdict_of(source, job.rules)
        if file.rows is not None:
            originals.append(Original(first, file.rows, verdict))
        frames.append(file.frame.drop([] if verdict is None else [verdict], strict=False))
        locations.append(_located(file, source.path if job.names_files else None))
        first += file.frame.height
    step(Progress("reading data", sum(sizes), sum(sizes), rows=first))
    mine, others = parted(_one_frame(frames).with_row_index(AT), job.rules, job.usages)
    if others and not mine.height:
        raise job.none_meant(others)
    return Input(mine, pl.concat(locations), tuple(originals) if len(originals) == len(frames) else (), others)


def _sizes(sources: Sequence[Source]) -> list[int]:
    """Return the size of each file as it is stored, in bytes; that of an archive is shared by its files."""
    files = [source.path.partition(BETWEEN)[0] for source in sources]
    shared = Counter(files)
    return [
        _size(source, file) // shared[file] if source.content is None else len(source.content)
        for source, file in zip(sources, files, strict=True)
    ]


def _size(source: Source, file: str) -> int:
    path = Path(file)
    return path.stat().st_size if "://" not in source.path and path.exists() else 0


def _one_frame(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    try:
        return pl.concat(frames, how="diagonal_relaxed")
    except pl.exceptions.PolarsError as error:
        raise DatasetError(f"reading {counted(len(frames), 'file')} into one frame: {error}") from error


class _File(NamedTuple):
    """The rows of a file; columns of their locations, as far as they are known; and the cells of a CSV file."""

    frame: pl.DataFrame
    known: Mapping[str, pl.Series] = {}
    rows: CsvRows | None = None


def _read(source: Source, job: Job, tell: Callable[[int], None]) -> _File:
    if "://" in source.path:
        raise ConfigurationError(f"reading {source.path}: only Spark can; choose the engine spark (--engine spark)")
    if source.kind == "message":
        columns, lines = read_located_columns(source.path, job.rules, job.usages, content=source.content, tell=tell)
        return _File(pl.DataFrame(columns, infer_schema_length=None), {"line": pl.Series(lines, dtype=pl.UInt32)})
    if source.kind == "parquet":
        return _parquet(source)
    if source.kind == "arrow":
        return _File(_arrow(source))
    if source.kind == "xlsx":
        return _workbook(source, job)
    read = read_one_sdmx_csv if source.kind == "sdmx-csv" else read_plain_csv
    rows = read(Path(source.path), rules=job.rules, decimal=job.decimal, encoding=job.encoding, content=source.content)
    # polars and the csv module might disagree on a file with misplaced quotes: better no lines than wrong ones
    has_lines = len(rows.lines) == rows.cells.height
    return _File(rows.values, {"line": rows.lines} if has_lines else {}, rows)


def _workbook(source: Source, job: Job) -> _File:
    """Return the rows of all sheets with data; a sheet is a part."""
    frames: list[pl.DataFrame] = []
    parts: list[pl.DataFrame] = []
    for sheet, is_sdmx_csv, content, numbers in tables_in(source.read(), source.path, job.rules):
        read = read_one_sdmx_csv if is_sdmx_csv else read_plain_csv
        path = Path(f"{source.path}, sheet {sheet}")
        frames.append(read(path, rules=job.rules, decimal=".", encoding="utf-8", content=content).values)
        rows = pl.Series("part_row", numbers, dtype=pl.UInt32)
        parts.append(pl.DataFrame({"part": [sheet] * len(rows), "part_row": rows}, schema_overrides=_PART))
    located = pl.concat(parts)
    return _File(_one_frame(frames), {"part": located["part"], "part_row": located["part_row"]})


def _parquet(source: Source) -> _File:
    content = source.read() if source.is_packed else None
    try:
        frame = pl.read_parquet(source.path if content is None else io.BytesIO(content))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise DatasetError(f"reading {source.path}: it is no readable Parquet: {error}") from error
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra; polars does not tell row groups
    except ImportError:
        return _File(frame)
    try:
        metadata = pq.ParquetFile(source.path if content is None else io.BytesIO(content)).metadata
    except (OSError, ValueError, NotImplementedError) as error:
        # pyarrow's errors derive from these; it refuses some damage that polars passes over
        raise DatasetError(f"reading {source.path}: it is no readable Parquet: {error}") from error
    sizes = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    if sum(sizes) != frame.height:
        return _File(frame)
    parts = pl.DataFrame({"part": range(len(sizes)), "size": sizes}, schema={"part": pl.UInt32, "size": pl.UInt32})
    rows = parts.select(pl.col("part"), pl.int_ranges(1, pl.col("size") + 1, dtype=pl.UInt32).alias("part_row"))
    numbered = rows.explode("part_row").drop_nulls()
    return _File(frame, {"part": numbered["part"].cast(pl.String), "part_row": numbered["part_row"]})


def _arrow(source: Source) -> pl.DataFrame:
    """Return the rows of a file or stream of Arrow IPC, which its first bytes tell apart."""
    data = source.read()
    read = pl.read_ipc if data.startswith(ARROW_FILE) else pl.read_ipc_stream
    try:
        # A damaged file can make polars panic, which is no Exception.
        return read(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, TypeError, ValueError) as error:
        raise DatasetError(f"reading {source.path}: it is no readable Arrow IPC: {error}") from error


def _located(file: _File, name: str | None) -> pl.DataFrame:
    known = {"row": pl.int_range(1, file.frame.height + 1, dtype=pl.UInt32, eager=True), **file.known}
    rows = pl.DataFrame({"row": known["row"]})
    return rows.select(
        (pl.lit(name) if column == "file" else known.get(column, pl.lit(None))).cast(kind).alias(column)
        for column, kind in _TYPES.items()
    )
