"""The protocol of a log reader; ``reading.marker_reader`` and ``reading.consumer`` implement it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple, Protocol

from kafka_replica.errors import BrokerError, ConfigurationError
from kafka_replica.records import Partition, Position
from kafka_replica.transactions import Ends, Reading
from kafka_replica.transactions.resume_point import ResumePoint


class StartOffsets(NamedTuple):
    """The offsets of all partitions when reading began."""

    beginnings: Position
    """The offset at which reading of each partition starts."""
    ends: Position
    """The high watermarks, requested with READ_UNCOMMITTED."""
    log_starts: Position
    """The log start offset of each partition; 0 for partitions that are not listed."""
    unconfirmed: frozenset[Partition] = frozenset()
    """See ``Ends.unconfirmed``."""


class LogIdentity(NamedTuple):
    """The identity of a log, to notice that it was replaced since it was read."""

    topic_ids: Mapping[str, str]
    """The id of each topic, as Kafka prints it; a topic that is recreated gets another id."""
    leader_epochs: Mapping[Partition, int]
    """The leader epoch of the last batch read of each partition (KIP-320), where known."""


class FetchResult(NamedTuple):
    """The result of one read, with facts about the log."""

    reading: Reading
    last_stable: Position
    """The last stable offsets, as far as they are known."""
    gaps: Collection[Partition]
    """Partitions in which an offset was missing; see ``LogReader.gaps_are_certain``."""
    has_response: bool
    """True if a broker sent anything."""
    temporary_error: BrokerError | None
    """An error that may be temporary, such as a broker that cannot be reached."""
    log_starts: Position
    """The current log start offsets, as in ``StartOffsets``; the same object until an offset changes."""
    size_bytes: int = 0
    """The size of the unparsed batches, possibly compressed, in bytes; 0 if the records are parsed already."""
    later_beginnings: Mapping[Partition, int] = {}
    """Partitions whose first records Kafka deleted before any was read, with the offset at which reading starts now."""


RETENTION_SETTINGS: Final = ("delete.retention.ms", "cleanup.policy", "retention.ms", "retention.bytes")


class Retention(NamedTuple):
    """The retention of a topic: the times for which it keeps records and tombstones."""

    tombstones_kept_s: float
    """The time for which it keeps tombstones for late readers (``delete.retention.ms``), in seconds."""
    deletes_old_records: bool = False
    """True if Kafka deletes old records by age or size, even the newest records of keys."""

    @staticmethod
    def of(settings: Mapping[str, str | None]) -> Retention:
        """Return the retention that a topic's settings define; only ``RETENTION_SETTINGS`` are needed."""
        is_limited = any(int(settings.get(name) or -1) >= 0 for name in ("retention.ms", "retention.bytes"))
        return Retention(
            int(settings.get("delete.retention.ms") or 86_400_000) / 1000,
            is_limited and "delete" in (settings.get("cleanup.policy") or ""),
        )


class LogReader(Protocol):
    """A reader of topics from their beginnings, each partition in log order. Not thread-safe.

    An error that may be temporary is raised as ``BrokerUnavailableError`` (or returned as
    ``FetchResult.temporary_error``), and the caller can repeat the call; any other error is final.
    """

    gaps_are_certain: bool
    """True if each gap is a missing offset; otherwise markers and aborted records look like gaps, too.

    In either case, nothing is missing where there is no gap.
    """

    def open(self, resume_point: ResumePoint | None = None) -> StartOffsets:
        """Find the topics, and start to read all their partitions, from the resume point if there is one.

        Raises:
            TopicNotFoundError: a topic does not exist at the moment.
            LogReplacedError: a topic was recreated since, or records after the resume point are missing.
            BrokerError: Kafka did not answer, or refused.
        """

    @property
    def origin(self) -> LogIdentity:
        """The identity of the logs that are read."""

    @property
    def leaders(self) -> Mapping[Partition, int]:
        """The node id of each partition's leader, -1 where there is no leader; as far as known."""

    def retentions(self) -> Mapping[str, Retention]:
        """Return how long each topic keeps its records and tombstones.

        Topics whose settings we may not query (permission DescribeConfigs) are left out.

        Raises:
            BrokerError: Kafka did not answer.
        """

    def read(self, timeout_s: float) -> FetchResult:
        """Return the batches that have arrived, after waiting at most ``timeout_s`` seconds for the first.

        Raises:
            LogReplacedError: the log was truncated, or the next records were deleted.
            BrokerError: Kafka reported another error that is not temporary.
        """

    def check_topics(self) -> list[Partition]:
        """Check that the topics were not replaced since reading began; return the partitions that are not read yet.

        Raises:
            TopicNotFoundError: a topic does not exist at the moment.
            LogReplacedError: a topic was deleted and recreated.
        """

    def add(self, partitions: list[Partition]) -> Position:
        """Start to read further partitions; return the offsets at which they begin."""

    def ends(self) -> Ends:
        """Return the end offsets of all partitions, from leaders that know them; also do what ``check_topics`` does.

        Raises:
            LogReplacedError: a topic was deleted and recreated.
            BrokerError: Kafka did not answer, or refused.
        """

    def refusal(self) -> BrokerError | ConfigurationError | None:
        """Return the error of the last query, if the broker refused our credentials or settings; otherwise None."""

    def close(self) -> None:
        """Stop reading. Idempotent."""
