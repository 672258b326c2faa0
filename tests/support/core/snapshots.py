"""Versions made from records, without a replica."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_replica.records import Partition, Position, Record
from kafka_replica.stores import Snapshot
from kafka_replica.stores.memory_snapshot import MemorySnapshot, PresentRecords, Version


def snapshot_of(records: Mapping[bytes, Record]) -> Snapshot:
    """Return a version of a store in memory with these records."""
    return MemorySnapshot(PresentRecords(dict(records), Partition("t", 0)), Version(1, Position(), len(records)))
