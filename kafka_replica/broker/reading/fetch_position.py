"""The state of one partition that is read by its batches: leader, fetch position and offsets."""

from __future__ import annotations

import time
from uuid import UUID

from kafka_replica.records import Partition

_SURE_S = 0.5  # between two empty fetches below the high watermark that prove that the rest is empty


class FetchPosition:
    """The leader, fetch position and offsets of one partition."""

    __slots__ = (
        "beginning",
        "empty_alone_s",
        "empty_at",
        "epoch",
        "has_responded",
        "high",
        "leader",
        "log_start",
        "partition",
        "position",
        "resumed",
        "stable",
        "topic_id",
    )

    def __init__(self, partition: Partition, topic_id: UUID, leader: int) -> None:
        self.partition = partition
        self.topic_id = topic_id
        self.leader = leader
        self.beginning = self.position = 0
        self.resumed = False  # whether everything before the beginning was read already
        self.epoch = -1  # leader epoch of the last batch read
        self.high = self.stable = -1
        self.has_responded = False  # whether the leader has answered a fetch since all leaders have
        self.log_start = 0  # the first offset that the log still has
        self.empty_at = -1  # the position at which a fetch was empty below the high watermark
        self.empty_alone_s: float | None = None  # since when a fetch of this partition alone is empty, too

    @property
    def is_suspect(self) -> bool:
        """True if this partition should be fetched alone, to find out whether the rest of its log is empty.

        The last fetch was empty below the high watermark, perhaps only because other partitions filled the response.
        """
        if self.empty_at != self.position:
            return False
        return self.empty_alone_s is None or time.monotonic() - self.empty_alone_s >= _SURE_S

    def is_empty(self, *, alone: bool) -> bool:
        """Record a fetch that was empty below the high watermark; return whether the rest is certainly empty.

        A single empty fetch proves nothing: a broker may return nothing for a moment, until it has found the high
        watermark in its files.
        """
        if self.empty_at != self.position:
            self.empty_at, self.empty_alone_s = self.position, None
        elif alone and self.is_suspect:
            is_sure, self.empty_alone_s = self.empty_alone_s is not None, time.monotonic()
            return is_sure
        return False

    def skip_to_end(self) -> None:
        """Move to the high watermark, because compaction has removed everything up to there."""
        self.position = self.high
        # The removed batches may have been of a newer epoch, with which the old one is not consistent at this position.
        self.epoch = -1

    def forget_empty(self) -> None:
        """Forget the empty fetches, so that the partition is fetched like the others again."""
        self.empty_at = -1
