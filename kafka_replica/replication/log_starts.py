"""The rule that finds out when Kafka has deleted records that are held, at the front of a log. No I/O.

A topic whose ``cleanup.policy`` includes ``delete`` loses old records by age or size, and to the admin's DeleteRecords.
There are no tombstones for that, the log start offset moves. A replica that starts afterwards reads nothing below that
offset, so every other replica has to delete what it holds from there.

Where nothing is held below the log start offset, nothing has to be looked for: on topics that are only compacted that
is always so, because their log start offset never moves.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_replica.records import Partition, Position


class LogStarts:
    """The log start offset of each partition, against the lowest offset that may be held of it."""

    def __init__(self) -> None:
        self.passed: dict[Partition, int] = {}
        """The log start offsets that lie above something which may be held."""
        self.lowest: dict[Partition, int] = {}
        """No record that is held, or is still to come, lies below these offsets."""
        self._seen: Mapping[Partition, int] = {}

    def add(self, lowest: Mapping[Partition, int]) -> None:
        """More partitions are read, of which nothing is held below these offsets."""
        self.lowest.update(lowest)

    def move(self, log_starts: Mapping[Partition, int]) -> bool:
        """Take in the log start offsets as they are now; whether more of what may be held was deleted.

        Args:
            log_starts: 0 is meant where a partition is not named; the same object means that nothing has changed.
        """
        if log_starts is self._seen:
            return False
        self._seen = log_starts
        before = len(self.passed), sum(self.passed.values())
        for partition, lowest in self.lowest.items():
            start = log_starts.get(partition, 0)
            if start > max(lowest, self.passed.get(partition, 0)):
                self.passed[partition] = start
        return before != (len(self.passed), sum(self.passed.values()))

    def expire(self, left: Mapping[Partition, int], position: Position) -> None:
        """Take in that nothing below ``passed`` is held any more.

        Args:
            left: the lowest offset that is still held of each partition; nothing is held of those not named.
            position: of the next version; records of transactions that are open there may still come.
        """
        resume = position.resume()
        for partition, start in self.passed.items():
            comes_next = resume.get(partition, start)
            self.lowest[partition] = max(start, min(left.get(partition, comes_next), comes_next))
        self.passed = {}
