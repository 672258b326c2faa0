"""The decision what to do with a snapshot of the table. No I/O."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from kafka_replica.producer.postgres.position import Position, Snapshot


class CopyAll(NamedTuple):
    """Copy all rows to an empty topic, because there is no position yet."""


class CopyChanges(NamedTuple):
    """Copy the row versions that are new since the position."""

    since: Position


class FullComparison(NamedTuple):
    """Compare all rows with the topic, and write the differences."""

    reason: str


class NoWork(NamedTuple):
    """Do nothing, because no transaction has ended since the position."""


Work: TypeAlias = CopyAll | CopyChanges | FullComparison | NoWork


def next_work(position: Position | None, snapshot: Snapshot, mapping: str, requested: str | None) -> Work:
    """Return the work to do with a snapshot.

    Args:
        position: the position; None if it is not known.
        snapshot: the snapshot of the table.
        mapping: the digest of the table, its partitions and columns, and the settings.
        requested: the reason if a comparison is requested or due; otherwise None.
    """
    if requested is not None:
        return FullComparison(requested)
    if position is None:
        return CopyAll()
    problem = position.history_problem(snapshot)
    if problem is not None:
        return FullComparison(problem)
    if position.mapping != mapping:
        return FullComparison("the table, its partitions or columns, or the settings have changed")
    if position.snapshot.text == snapshot.text:
        return NoWork()
    return CopyChanges(position)
