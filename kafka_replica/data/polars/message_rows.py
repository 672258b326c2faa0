"""Read the rows of a data message into temporary files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from kafka_replica.data.files.messages import located_blocks
from kafka_replica.data.files.messages.batches import batches_of
from kafka_replica.data.files.messages.blocks import Block
from kafka_replica.data.files.messages.column_forms import ColumnForm
from kafka_replica.data.jobs.job import Job
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.polars.message_forms import common_forms, in_forms
from kafka_replica.data.polars.source_rows import BatchSize, SourceBatch, SourceRows
from kafka_replica.data.polars.spilled_frames import SpilledFrames

_REPORT_EVERY: Final = 10_000
_LOCATION: Final = {"line": "__line", "path": "__path"}
"""The columns of the temporary files with the location of each row."""


@dataclass(frozen=True)
class MessageRows:
    """The rows of a message, in temporary files; see :class:`SourceRows`."""

    empty_frame: pl.DataFrame
    forms: Mapping[str, ColumnForm]
    stored: SpilledFrames
    written: None = None

    def batches(self, size: int) -> Iterator[tuple[SourceBatch, int]]:
        """Yield the rows in batches, each with the number of bytes read so far of the ``size`` bytes of the source."""
        done = 0
        for frame in self.stored.frames():
            done += frame.height
            rows = in_forms(frame.drop(_LOCATION.values()), self.forms)
            location_columns = {name: frame[column] for name, column in _LOCATION.items()}
            yield SourceBatch(rows, location_columns), size * done // max(1, self.stored.rows)


def open_message(
    source: Source, job: Job, folder: Path, batch: BatchSize, report_rows: Callable[[int], None],
    note: Callable[[str], object],
) -> SourceRows:  # fmt: skip
    """Return the rows of a data message; the arguments are those of ``open_source``.

    Raises:
        DatasetError: the file is not a data message, or is damaged.
    """
    blocks = located_blocks(source.path, job.rules, job.usages, content=source.content, note=note)
    stored = SpilledFrames(folder, "message")
    schemas: list[pl.DataFrame] = []
    for part in batches_of(_reported(blocks, report_rows), batch.rows):
        frame = pl.DataFrame(part.columns, infer_schema_length=None)
        line, path = pl.Series(part.lines, dtype=pl.UInt32), pl.Series(part.paths, dtype=pl.String)
        stored.add(frame.with_columns(line.alias(_LOCATION["line"]), path.alias(_LOCATION["path"])))
        schemas.append(frame.clear())
    return MessageRows(*common_forms(schemas), stored)


def _reported(
    located: Iterable[tuple[int | None, Block]], report_rows: Callable[[int], None]
) -> Iterator[tuple[int | None, Block]]:
    """Yield blocks, and call a function with the number of rows read so far, after every 10,000 rows."""
    read = reported = 0
    for line, block in located:
        yield line, block
        read += block.size
        if read - reported >= _REPORT_EVERY:
            reported = read
            report_rows(read)
