"""What every reader of the log promises to the follower; ``broker.markers`` and ``broker.consumer`` are such."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

from kafka_replica.errors import BrokerError, ConfigurationError
from kafka_replica.records import Partition, Position
from kafka_replica.transactions import Ends, Reading
from kafka_replica.transactions.resume_point import ResumePoint


class Opened(NamedTuple):
    """What there was when reading began."""

    beginnings: Position
    """The offset of each partition from which on it is read."""
    ends: Position
    """The high watermarks, asked for with READ_UNCOMMITTED."""
    log_starts: Position
    """The first offset that Kafka still has of each partition; 0 where none is named."""


class Origin(NamedTuple):
    """What tells whether a log is still the one that was read."""

    topic_ids: Mapping[str, str]
    """Of each topic, as Kafka prints it; a topic that is made again gets another one."""
    leader_epochs: Mapping[Partition, int]
    """Of the last batch read of each partition (KIP-320), where known."""


class Fetched(NamedTuple):
    """What one read brought, and what else is known since."""

    reading: Reading
    stable: Position
    """The last stable offsets as far as known."""
    gaps: Collection[Partition]
    """Partitions in which an offset was missing; see ``LogReader.gaps_are_certain``."""
    heard: bool
    """Whether a broker said anything."""
    trouble: BrokerError | None
    """Something that may pass by itself, such as a broker that went away."""
    log_starts: Position
    """The log start offsets now, as in ``Opened``; the same object while none of them moves."""


class LogReader(Protocol):
    """Reads topics from their beginnings, each partition in the order of its log. For one thread.

    Whatever may pass by waiting is raised as ``BrokerUnavailableError`` (or told as ``Fetched.trouble``), and the
    question can be asked again; any other error is final.
    """

    gaps_are_certain: bool
    """True where each gap is a missing offset; else markers and aborted records look like gaps, too.

    Where there is none, nothing is missing in any case.
    """

    def open(self, resume_point: ResumePoint | None = None) -> Opened:
        """Finds the topics, and begins to read all their partitions, or goes on where the bookmark is.

        Raises:
            TopicNotFoundError: one does not exist, now.
            LogReplacedError: a topic was made again since, or what comes after the bookmark is not all there.
            BrokerError: Kafka did not answer, or refused.
        """

    @property
    def origin(self) -> Origin:
        """Of what is read."""

    @property
    def leaders(self) -> Mapping[Partition, int]:
        """The number of the broker that leads each partition, -1 where there is none; as far as known."""

    def tombstones_kept_s(self) -> Mapping[str, float]:
        """For how long each topic keeps tombstones for who comes late (``delete.retention.ms``), in seconds.

        Topics that may not be asked (the right DescribeConfigs) are left out.

        Raises:
            BrokerError: Kafka did not answer.
        """

    def read(self, timeout_s: float) -> Fetched:
        """What has come, waiting at most that long for the first of it.

        Raises:
            LogReplacedError: the log was cut off, or what comes next was deleted.
            BrokerError: Kafka said something else that waiting does not mend.
        """

    def look(self) -> list[Partition]:
        """Asks whether the topics are still the ones that are read; returns partitions that are not read yet.

        Raises:
            TopicNotFoundError: one is not there, now.
            LogReplacedError: one was deleted and made again.
        """

    def add(self, partitions: list[Partition]) -> Position:
        """Begins to read these, too; returns their beginnings."""

    def ends(self) -> Ends:
        """Where all partitions that are read end now; looks as well, and is answered by trustworthy leaders only.

        Raises:
            LogReplacedError: one was deleted and made again.
            BrokerError: Kafka did not answer, or refused.
        """

    def refusal(self) -> BrokerError | ConfigurationError | None:
        """The reason why the last question failed, if the broker refused who we are, or how we connect."""

    def close(self) -> None:
        """Ends reading. Idempotent."""
