"""Detection of records that are held although Kafka has deleted them at the start of a log; without I/O.

A topic whose ``cleanup.policy`` includes ``delete`` loses old records by age or size, and through DeleteRecords.
These deletions write no tombstones, but advance the log start offset. A replica that starts afterwards reads nothing
below that offset, so every other replica must delete the records that it holds from below it.

If no record below the log start offset is held, no search is needed. This is always the case for topics that are only
compacted, because their log start offset never moves.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_replica.records import Partition, Position


class LogStarts:
    """The log start offset of each partition, compared with the lowest offset that may be held."""

    def __init__(self) -> None:
        self.passed: dict[Partition, int] = {}
        """The log start offsets that lie above a record that may be held."""
        self.lowest: dict[Partition, int] = {}
        """Offsets below which no record is held, and none remains to be read."""
        self._last_log_starts: Mapping[Partition, int] = {}

    def add(self, lowest: Mapping[Partition, int]) -> None:
        """Add partitions; none of their records below these offsets is held."""
        self.lowest.update(lowest)

    def move(self, log_starts: Mapping[Partition, int]) -> bool:
        """Compare with the current log start offsets; return whether Kafka deleted more records that may be held.

        Args:
            log_starts: the offsets, 0 for a partition that is missing; the same object means that nothing has changed.
        """
        if log_starts is self._last_log_starts:
            return False
        self._last_log_starts = log_starts
        before = len(self.passed), sum(self.passed.values())
        for partition, lowest in self.lowest.items():
            start = log_starts.get(partition, 0)
            if start > max(lowest, self.passed.get(partition, 0)):
                self.passed[partition] = start
        return before != (len(self.passed), sum(self.passed.values()))

    def expire(self, held_offsets: Mapping[Partition, int], position: Position) -> None:
        """Note that records below ``passed`` are no longer held.

        Args:
            held_offsets: the lowest offset that is still held of each partition that has records
            position: the position of the next version; records of transactions that are open there may still be
                committed.
        """
        resume = position.resume()
        for partition, start in self.passed.items():
            comes_next = resume.get(partition, start)
            self.lowest[partition] = max(start, min(held_offsets.get(partition, comes_next), comes_next))
        self.passed = {}
