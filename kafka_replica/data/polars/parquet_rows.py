"""Read the rows of a Parquet file in batches, with the row group of each row if it is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import polars as pl

from kafka_replica.data.files.content import content_on_disk
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.polars.source_rows import BatchSize, FrameFile, RowsPart, reading_as

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

    def batches(self, size: int) -> Iterator[tuple[RowsPart, int]]:
        """Yield the rows in parts, each with the number of the ``size`` bytes of the source that are done."""
        first, total = 0, max(1, sum(self.groups))
        scan = pl.scan_parquet(self.file, glob=False)
        for number, height in enumerate(self.groups):
            for begin in range(0, height, self.batch_rows):
                rows = min(self.batch_rows, height - begin)
                with reading_as(_FORMAT, self.path):
                    frame = scan.slice(first + begin, rows).collect()
                known = self._known(number, begin, rows) if self.knows_groups else {}
                yield self.part(frame, known), size * (first + begin + rows) // total
            first += height

    def _known(self, number: int, begin: int, rows: int) -> dict[str, pl.Series]:
        part = pl.Series([str(number)]).new_from_index(0, rows)
        numbers = pl.int_range(begin + 1, begin + rows + 1, dtype=pl.UInt32, eager=True)
        return {"part": part, "part_row": numbers}


def open_parquet(source: Source, verdict: str | None, folder: Path, batch: BatchSize) -> ParquetRows:
    """Return the rows of a Parquet file.

    Args:
        source: the file.
        verdict: the column in which an earlier run may have described errors.
        folder: an existing folder for temporary files.
        batch: the size of batches.

    Raises:
        DatasetError: the file cannot be read as Parquet.
    """
    file = content_on_disk(source.path, source.content, folder)
    with reading_as(_FORMAT, source.path):
        groups = _row_groups(file)
        scan = pl.scan_parquet(file, glob=False)
        nothing = scan.head(0).collect()
        known = groups is not None
        if groups is None:
            groups = [int(scan.select(pl.len()).collect().item())]
    return ParquetRows(source.path, file, nothing, batch.rows, verdict, groups, known)


def _row_groups(file: Path) -> list[int] | None:
    """Return the number of rows in each row group; None without pyarrow, because polars does not report it."""
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    metadata = pq.ParquetFile(file).metadata  # this also detects some damage that polars ignores
    return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
