"""Cutoffs: the effect of ``DeleteAll`` records, which hide all older records, or all of a scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafka_replica.records import Partition


class Cutoff(NamedTuple):
    """The effect of a ``DeleteAll`` record, which hides the objects that older records put."""

    scope: str
    """The scope whose older records are hidden; empty for all records."""
    source: Partition
    offset: int
    time_ms: int


class Cutoffs:
    """All cutoffs of a version; they are immutable.

    Args:
        records: the cutoffs, by the keys of their records.
    """

    __slots__ = ("_latest", "_records")

    def __init__(self, records: Mapping[bytes, Cutoff]) -> None:
        self._records = records
        # The highest offset and the latest time of the cutoffs, by scope and partition.
        self._latest: dict[str, dict[Partition, tuple[int, int]]] = {}
        for scope, source, offset, time_ms in records.values():
            latest = self._latest.setdefault(scope, {})
            known = latest.get(source, (offset, time_ms))
            latest[source] = max(known[0], offset), max(known[1], time_ms)

    def __bool__(self) -> bool:
        return bool(self._records)

    def changed(self, records: Mapping[bytes, Cutoff | None]) -> Cutoffs:
        """Return the cutoffs after replacing those of the given records; None removes the cutoff of a record."""
        if not records:
            return self
        return Cutoffs({key: each for key, each in {**self._records, **records}.items() if each is not None})

    def hide(self, scope: str, source: Partition, offset: int, time_ms: int) -> bool:
        """Return whether a record is older than a cutoff of its scope, or a cutoff of all scopes.

        Records are compared by offset within a partition, and by time across partitions.
        """
        for one in {"", scope}:
            for partition, (last_offset, last_ms) in self._latest.get(one, {}).items():
                if offset < last_offset if partition == source else time_ms < last_ms:
                    return True
        return False
