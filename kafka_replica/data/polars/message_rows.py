"""The rows of a data message: held in memory, or in temporary files if the message is read as a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from kafka_replica.common.chained import Chained
from kafka_replica.data.files.messages import is_streamed, located_blocks
from kafka_replica.data.files.messages.blocks import Block, columns_of, lines_of
from kafka_replica.data.jobs.job import Job
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.polars.message_forms import ColumnForm, common_forms, in_forms
from kafka_replica.data.polars.parts import Parts
from kafka_replica.data.polars.source_rows import BatchSize, HeldRows, RowsPart, SourceRows

_TOLD_EVERY: Final = 10_000
_LINE: Final = "__line"


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


def open_message(
    source: Source, job: Job, folder: Path, batch: BatchSize, tell: Callable[[int], None],
    note: Callable[[str], object],
) -> SourceRows:  # fmt: skip
    """Return the rows of a data message; the arguments are those of ``open_source``.

    Raises:
        DatasetError: the file is not a data message, or is damaged.
    """
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
