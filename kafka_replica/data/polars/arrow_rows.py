"""Read the rows of a file or stream of Arrow IPC in batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.arrow_limit import check_expanded_bytes
from kafka_replica.data.files.arrow_messages import ARROW_FILE, FileBytes
from kafka_replica.data.files.arrow_streams import arrow_streams
from kafka_replica.data.files.content import content_on_disk
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.polars.source_rows import BatchSize, FrameFile, SourceBatch, reading_as

_FORMAT: Final = "Arrow IPC"


@dataclass(frozen=True)
class ArrowRows(FrameFile):
    """The rows of Arrow IPC; see :class:`SourceRows`.

    Attributes:
        height: the number of rows of a file; None for a stream.
    """

    height: int | None

    def batches(self, size: int) -> Iterator[tuple[SourceBatch, int]]:
        """Yield the rows in batches, each with the number of bytes read so far of the ``size`` bytes of the source.

        Raises:
            DatasetError: the data is damaged.
        """
        with reading_as(_FORMAT, self.path):
            for rows, done in self._of_stream() if self.height is None else self._of_file(self.height):
                yield self.source_batch(rows, {}), int(size * done)

    def _of_file(self, height: int) -> Iterator[tuple[pl.DataFrame, float]]:
        """Yield the rows of a file, each part with the fraction that is done."""
        scan = pl.scan_ipc(self.file, glob=False)
        for first in range(0, height, self.batch_rows):
            rows = scan.slice(first, self.batch_rows).collect()
            yield rows, (first + rows.height) / height

    def _of_stream(self) -> Iterator[tuple[pl.DataFrame, float]]:
        """Yield the rows of a stream, each part with the fraction that is done."""
        with self.file.open("rb") as file:
            data = FileBytes(file)
            for stream in arrow_streams(data, self.batch_rows):
                frame = pl.read_ipc_stream(stream.data)
                for first in range(0, frame.height, self.batch_rows):
                    yield frame.slice(first, self.batch_rows), stream.done / len(data)


def open_arrow(source: Source, error_column: str | None, folder: Path, batch: BatchSize) -> ArrowRows:
    """Return the rows of a file or stream of Arrow IPC; the first bytes distinguish the two.

    Args:
        source: the source.
        error_column: the column in which an earlier run may have described errors.
        folder: an existing folder for temporary files.
        batch: the size of batches.

    Raises:
        DatasetError: the data cannot be read as Arrow IPC, or expands to far more than its size.
    """
    place = content_on_disk(source.path, source.content, folder)
    with reading_as(_FORMAT, source.path), place.open("rb") as file:
        data = FileBytes(file)
        check_expanded_bytes(data, source.path)
        if data[: len(ARROW_FILE)] == ARROW_FILE:
            scan = pl.scan_ipc(place, glob=False)
            height = int(scan.select(pl.len()).collect().item())
            return ArrowRows(source.path, place, scan.head(0).collect(), batch.rows, error_column, height)
        first = next(arrow_streams(data, batch.rows), None)
        if first is None:
            raise DatasetError(f"reading {source.path}: it cannot be read as {_FORMAT}: it is empty")
        return ArrowRows(source.path, place, pl.read_ipc_stream(first.data), batch.rows, error_column, None)
