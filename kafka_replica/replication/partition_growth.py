"""Partitions that are added to a topic while it is read.

``ReadPartitions`` determines, without I/O, which of the partitions that Kafka lists are new. ``PartitionGrowth`` begins
to read them, and notifies all objects that keep data for each partition.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from kafka_replica.broker.reading.contract import LogReader
from kafka_replica.common.clock import now
from kafka_replica.records import Partition
from kafka_replica.replication.broker_retry import BrokerRetry
from kafka_replica.replication.deletion_check import DeletionCheck
from kafka_replica.replication.delta_builder import DeltaBuilder
from kafka_replica.replication.initial_records import UnreadDeletions
from kafka_replica.replication.log_starts import LogStarts
from kafka_replica.transactions import BoundaryDetector

_log = logging.getLogger("kafka_replica")


class ReadPartitions:
    """The partitions that are read. Partitions are never removed, so their number shows whether any were added."""

    def __init__(self) -> None:
        self._partitions: set[Partition] = set()

    def __len__(self) -> int:
        return len(self._partitions)

    def begin(self, partitions: Iterable[Partition]) -> None:
        """Note that reading of partitions begins."""
        self._partitions.update(partitions)

    def unread(self, all_partitions: Iterable[Partition]) -> list[Partition]:
        """Return the partitions that Kafka lists, but that are not read yet."""
        return [partition for partition in all_partitions if partition not in self._partitions]


class PartitionGrowth:
    """Begins to read partitions: the first ones, and those that are added later.

    Only the reading thread may use it.
    """

    def __init__(
        self,
        reader: LogReader,
        retry: BrokerRetry,
        detector: BoundaryDetector,
        delta_builder: DeltaBuilder,
        deletions: DeletionCheck,
        log_starts: LogStarts,
        unread_deletions: UnreadDeletions,
    ) -> None:
        self.partitions = ReadPartitions()
        self._reader = reader
        self._retry = retry
        self._detector = detector
        self._delta_builder = delta_builder
        self._deletions = deletions
        self._log_starts = log_starts
        self._unread_deletions = unread_deletions

    def begin(self, beginnings: Mapping[Partition, int], stored_position: Mapping[Partition, int]) -> None:
        """Begin with the partitions that the reader has opened.

        Args:
            beginnings: the offsets at which reading starts.
            stored_position: the position of the version in the store.

        Raises:
            LogReplacedError: Kafka has deleted records of other partitions that the initial records may lack.
        """
        self._unread_deletions.check({each: beginnings[each] for each in beginnings if each not in stored_position})
        self.partitions.begin(beginnings)
        for partition, offset in beginnings.items():
            self._detector.add(partition, offset)
            self._delta_builder.add(partition, stored_position.get(partition, 0))

    def add(self, all_partitions: Iterable[Partition]) -> bool:
        """Start to read the new partitions among those that Kafka lists; return whether there are any.

        Raises:
            LogReplacedError: see ``begin``.
        """
        added = self.partitions.unread(all_partitions)
        if not added:
            return False
        requested_at = now()
        beginnings = self._retry.call(self._reader, lambda: self._reader.add(added))
        self._deletions.add(requested_at, added)
        self._log_starts.add(beginnings)
        _log.info("reading added partitions: %s", ", ".join(map(str, added)))
        self.begin(beginnings, {})
        return True
