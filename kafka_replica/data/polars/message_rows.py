"""Read the rows of a data message into temporary files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from kafka_replica.data.files.messages import located_blocks
from kafka_replica.data.files.messages.blocks import Block, columns_of, lines_of
from kafka_replica.data.files.messages.forms import ColumnForm
from kafka_replica.data.jobs.job import Job
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.polars.message_forms import common_forms, in_forms
from kafka_replica.data.polars.parts import Parts
from kafka_replica.data.polars.source_rows import BatchSize, RowsPart, SourceRows

_REPORT_EVERY: Final = 10_000
_LOCATION: Final = {"line": "__line", "path": "__path"}
"""The columns of the temporary files with the location of each row."""


@dataclass(frozen=True)
class StoredRows:
    """The rows of a message, in temporary files; see :class:`SourceRows`."""

    nothing: pl.DataFrame
    forms: Mapping[str, ColumnForm]
    parts: Parts
    written: None = None

    def batches(self, size: int) -> Iterator[tuple[RowsPart, int]]:
        """Yield the rows in parts, each with the number of the ``size`` bytes of the source that are done."""
        done = 0
        for frame in self.parts.frames():
            done += frame.height
            rows = in_forms(frame.drop(_LOCATION.values()), self.forms)
            known = {name: frame[column] for name, column in _LOCATION.items()}
            yield RowsPart(rows, known), size * done // max(1, self.parts.rows)


def open_message(
    source: Source, job: Job, folder: Path, batch: BatchSize, report_rows: Callable[[int], None],
    note: Callable[[str], object],
) -> SourceRows:  # fmt: skip
    """Return the rows of a data message; the arguments are those of ``open_source``.

    Raises:
        DatasetError: the file is not a data message, or is damaged.
    """
    blocks = located_blocks(source.path, job.rules, job.usages, content=source.content, note=note)
    stored = Parts(folder, "message")
    schemas: list[pl.DataFrame] = []
    while some := _blocks_of(blocks, batch.rows):
        part = _of_blocks(iter(some), report_rows, stored.rows)
        stored.add(part.frame.with_columns(part.known[name].alias(column) for name, column in _LOCATION.items()))
        schemas.append(part.frame.clear())
    return StoredRows(*common_forms(schemas), stored)


def _blocks_of(located: Iterator[tuple[int | None, Block]], rows: int) -> list[tuple[int | None, Block]]:
    """Return the next blocks, with at least ``rows`` rows in total unless the message ends."""
    some: list[tuple[int | None, Block]] = []
    for line, block in located:
        some.append((line, block))
        rows -= block.size
        if rows <= 0:
            break
    return some


def _of_blocks(
    located: Iterator[tuple[int | None, Block]], report_rows: Callable[[int], None], before: int = 0
) -> RowsPart:
    """Return the rows of blocks.

    Args:
        located: the blocks, each with its line.
        report_rows: is called with the number of rows read so far, after every 10,000 rows.
        before: the number of rows that were read before these blocks.
    """
    lines: list[int | None] = []
    paths: list[str | None] = []
    reported = 0

    def blocks() -> Iterator[Block]:
        nonlocal reported
        for line, block in located:
            lines.extend(lines_of(line, block))
            paths.extend([None] * block.size if block.paths is None else block.paths)
            yield block
            if len(lines) - reported >= _REPORT_EVERY:
                reported = len(lines)
                report_rows(before + reported)

    columns: dict[str, list[Any]] = columns_of(blocks())
    known = {"line": pl.Series(lines, dtype=pl.UInt32), "path": pl.Series(paths, dtype=pl.String)}
    return RowsPart(pl.DataFrame(columns, infer_schema_length=None), known)
