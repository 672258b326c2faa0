"""Read the rows of a Parquet file, with the row group of each row if it is known."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.polars.source_rows import BatchSize, RowsPart, SourceRows, held_rows
from kafka_replica.data.polars.written_rows import FileLayout, written_frame


@dataclass(frozen=True)
class RowGroups:
    """The rows of a Parquet file whose row groups are known; see :class:`SourceRows`."""

    path: str
    nothing: pl.DataFrame
    batch_rows: int
    groups: Sequence[int] = field(repr=False)
    verdict: str | None = None

    @property
    def written(self) -> FileLayout | None:
        """Return the layout that rejected rows keep; None if they are written as SDMX-CSV."""
        return written_frame(self.nothing, self.verdict)[0]

    def batches(self, size: int) -> Iterator[tuple[RowsPart, int]]:
        """Yield the rows in parts, each with the number of the ``size`` bytes of the source that are done."""
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


def open_parquet(source: Source, verdict: str | None, batch: BatchSize) -> SourceRows:
    """Return the rows of a Parquet file.

    Args:
        source: the file.
        verdict: the column in which an earlier run may have described errors.
        batch: the size of batches.

    Raises:
        DatasetError: the file cannot be read as Parquet.
    """
    if source.is_packed:
        content = source.read()
        groups = _row_groups(source.path, io.BytesIO(content))
        frame = _readable(source.path, lambda: pl.read_parquet(io.BytesIO(content)))
        return held_rows(frame, verdict, {} if groups is None else _located_in(groups, frame.height), batch)
    groups = _row_groups(source.path, source.path)
    nothing = _readable(source.path, lambda: pl.scan_parquet(source.path, glob=False).head(0).collect())
    if groups is None:
        frame = _readable(source.path, lambda: pl.read_parquet(source.path, glob=False))
        return held_rows(frame, verdict, {}, batch)
    return RowGroups(source.path, nothing, batch.rows, groups, verdict)


def _readable(path: str, read: Callable[[], pl.DataFrame]) -> pl.DataFrame:
    try:
        return read()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise DatasetError(f"reading {path}: it cannot be read as Parquet: {error}") from error


def _row_groups(path: str, file: str | io.BytesIO) -> list[int] | None:
    """Return the number of rows in each row group; None without pyarrow, because polars does not report it."""
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    try:
        metadata = pq.ParquetFile(file).metadata
    except (OSError, ValueError, NotImplementedError) as error:
        # pyarrow's errors derive from these classes; it detects some damage that polars ignores.
        raise DatasetError(f"reading {path}: it cannot be read as Parquet: {error}") from error
    return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]


def _located_in(groups: Sequence[int], height: int) -> Mapping[str, pl.Series]:
    if sum(groups) != height:
        return {}
    parts = pl.DataFrame({"part": range(len(groups)), "size": groups}, schema={"part": pl.UInt32, "size": pl.UInt32})
    rows = parts.select(pl.col("part"), pl.int_ranges(1, pl.col("size") + 1, dtype=pl.UInt32).alias("part_row"))
    numbered = rows.explode("part_row").drop_nulls()
    return {"part": numbered["part"].cast(pl.String), "part_row": numbered["part_row"]}
