"""What every reader of the log promises to the follower; ``broker.markers`` and ``broker.consumer`` are such."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from kafka_replica.cuts import Ends, Reading
from kafka_replica.errors import BrokerError
from kafka_replica.records import Cut, Partition


class Opened(NamedTuple):
    """What there was when reading began."""

    beginnings: Cut
    """The first offset of each partition."""
    ends: Cut
    """The high watermarks, asked for with READ_UNCOMMITTED."""


class Fetched(NamedTuple):
    """What one read brought, and what else is known since."""

    reading: Reading
    stable: Cut
    """The last stable offsets as far as known."""
    hole: bool
    """Whether an offset was missing where the reader can tell."""
    heard: bool
    """Whether a broker said anything."""
    trouble: BrokerError | None
    """Something that may pass by itself, such as a broker that went away."""


class Source(Protocol):
    """Reads topics from their beginnings, each partition in the order of its log. For one thread.

    Whatever may pass by waiting is raised as ``BrokerUnavailableError`` (or told as ``Fetched.trouble``), and the
    question can be asked again; any other error is final.
    """

    def open(self) -> Opened:
        """Finds the topics, and begins to read all their partitions.

        Raises:
            TopicNotFoundError: one does not exist, now.
            BrokerError: Kafka did not answer, or refused.
        """

    def read(self, timeout_s: float) -> Fetched:
        """What has come, waiting at most that long for the first of it.

        Raises:
            BrokerError: Kafka said something that waiting does not mend.
        """

    def look(self) -> list[Partition]:
        """Asks whether the topics are still the ones that are read; returns partitions that are not read yet.

        Raises:
            TopicNotFoundError: one is not there, now.
            BrokerError: one was deleted and made again.
        """

    def add(self, partitions: list[Partition]) -> Cut:
        """Begins to read these, too; returns their beginnings."""

    def ends(self) -> Ends:
        """Where all partitions that are read end now; looks as well, and is answered by trustworthy leaders only.

        Raises:
            BrokerError: Kafka did not answer, or refused; or one was deleted and made again.
        """

    def refusal(self) -> BrokerError | None:
        """That the broker refused who we are, if it did: answers themselves may only time out then."""

    def close(self) -> None:
        """Ends reading. Idempotent."""
