"""Read the rows of a Parquet file in batches, with the row group of each row if it is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import polars as pl

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.content import content_on_disk
from kafka_replica.data.files.decompression_limit import decompression_limit
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.polars.source_rows import BatchSize, FrameFile, SourceBatch, reading_as

_FORMAT: Final = "Parquet"


@dataclass(frozen=True)
class ParquetRows(FrameFile):
    """The rows of a Parquet file; see :class:`SourceRows`.

    Attributes:
        groups: the number of rows in each row group; one number for all if the row groups are unknown.
        knows_groups: whether the row groups are known.
    """

    groups: Sequence[int] = field(repr=False)
    knows_groups: bool

    def batches(self, size: int) -> Iterator[tuple[SourceBatch, int]]:
        """Yield the rows in batches, each with the number of bytes read so far of the ``size`` bytes of the source."""
        first, total = 0, max(1, sum(self.groups))
        scan = pl.scan_parquet(self.file, glob=False)
        for number, height in enumerate(self.groups):
            for begin in range(0, height, self.batch_rows):
                rows = min(self.batch_rows, height - begin)
                with reading_as(_FORMAT, self.path):
                    frame = scan.slice(first + begin, rows).collect()
                known = self._known(number, begin, rows) if self.knows_groups else {}
                yield self.source_batch(frame, known), size * (first + begin + rows) // total
            first += height

    def _known(self, number: int, begin: int, rows: int) -> dict[str, pl.Series]:
        part = pl.Series([str(number)]).new_from_index(0, rows)
        numbers = pl.int_range(begin + 1, begin + rows + 1, dtype=pl.UInt32, eager=True)
        return {"part": part, "part_row": numbers}


def open_parquet(source: Source, error_column: str | None, folder: Path, batch: BatchSize) -> ParquetRows:
    """Return the rows of a Parquet file.

    Args:
        source: the file.
        error_column: the column in which an earlier run may have described errors.
        folder: an existing folder for temporary files.
        batch: the size of batches.

    Raises:
        DatasetError: the file cannot be read as Parquet, or a row group expands to far more than the size of the file.
    """
    file = content_on_disk(source.path, source.content, folder)
    with reading_as(_FORMAT, source.path):
        groups = _row_groups(file, source.path)
        scan = pl.scan_parquet(file, glob=False)
        empty_frame = scan.head(0).collect()
        known = groups is not None
        if groups is None:
            groups = [int(scan.select(pl.len()).collect().item())]
    return ParquetRows(source.path, file, empty_frame, batch.rows, error_column, groups, known)


def _row_groups(file: Path, path: str) -> list[int] | None:
    """Return the number of rows in each row group; None without pyarrow, because polars does not report it.

    Raises:
        DatasetError: a row group, which is read as a whole, needs more memory than :func:`decompression_limit` allows.
    """
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    metadata = pq.ParquetFile(file).metadata  # this also detects some damage that polars ignores
    size = file.stat().st_size
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    for number, group in enumerate(groups):
        expanded = sum(group.column(at).total_uncompressed_size for at in range(group.num_columns))
        if expanded > decompression_limit(size):
            raise DatasetError(
                f"reading {path}: row group {number} expands to {expanded:,} bytes, too many for a file of {size:,} "
                "bytes; write it with smaller row groups, or without compression"
            )
    return [group.num_rows for group in groups]
