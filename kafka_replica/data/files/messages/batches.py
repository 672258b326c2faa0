"""The rows of a message in batches of a minimum size, because a block may have only a few rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kafka_replica.data.files.messages.blocks import Block, Columns, columns_of, lines_of


class MessageBatch(NamedTuple):
    """Consecutive rows of a message.

    Attributes:
        columns: the values of each column, of equal lengths.
        lines: the line of each row, as in ``LocatedRow``.
        paths: the location of each row in SDMX-JSON, as in ``LocatedRow``.
    """

    columns: Columns
    lines: Sequence[int | None]
    paths: Sequence[str | None]


def batches_of(located: Iterable[tuple[int | None, Block]], rows: int) -> Iterator[MessageBatch]:
    """Yield the rows of blocks in batches of at least ``rows`` rows; only the last batch may be smaller.

    Args:
        located: the blocks, each with the line of its first row.
        rows: the number of rows.
    """
    batch: list[tuple[int | None, Block]] = []
    count = 0
    for line, block in located:
        batch.append((line, block))
        count += block.size
        if count >= rows:
            yield _batch(batch)
            batch, count = [], 0
    if batch:
        yield _batch(batch)


def _batch(located: Sequence[tuple[int | None, Block]]) -> MessageBatch:
    lines: list[int | None] = []
    paths: list[str | None] = []
    for line, block in located:
        lines.extend(lines_of(line, block))
        paths.extend([None] * block.size if block.paths is None else block.paths)
    return MessageBatch(columns_of(block for _, block in located), lines, paths)
