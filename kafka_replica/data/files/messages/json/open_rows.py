"""Rows of a deletion that leave a dimension open, and so delete data with any of its values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

from kafka_replica.data.files.messages.blocks import Block

T = TypeVar("T")


def without_open_rows(block: Block, dimensions: Collection[str]) -> Block | None:
    """Return a block without the rows that leave one of these dimensions open; None if no row is left."""
    if any(block.shared.get(name) is None and name not in block.varying for name in dimensions):
        return None
    columns = [block.varying[name] for name in dimensions if name in block.varying]
    kept = [index for index in range(block.size) if all(column[index] is not None for column in columns)]
    if len(kept) == block.size:
        return block
    if not kept:
        return None
    return block._replace(
        size=len(kept),
        varying={name: [column[index] for index in kept] for name, column in block.varying.items()},
        lines=_kept(block.lines, kept),
        paths=_kept(block.paths, kept),
    )


def _kept(values: Sequence[T] | None, kept: Sequence[int]) -> list[T] | None:
    return None if values is None else [values[index] for index in kept]
