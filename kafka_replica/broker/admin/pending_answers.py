"""Pending answers to queries about topics, and the state of a topic that such an answer describes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeAlias

from confluent_kafka import IsolationLevel
from confluent_kafka.admin import TopicDescription

from kafka_replica.errors import BrokerUnavailableError
from kafka_replica.records import Partition, Position
from kafka_replica.transactions import Ends

Wait: TypeAlias = Callable[[Future[Any], str, float], Any]
"""A function that waits for a future; its arguments are the future, the operation and the timeout in seconds."""


class TopicInfo(NamedTuple):
    """The current state of a topic; a topic that is deleted and recreated keeps its name but not its id."""

    topic_id: str
    leaders: dict[Partition, int]
    """The node id of each partition's leader; -1 if there is currently none."""

    @property
    def partitions(self) -> list[Partition]:
        """The partitions of the topic."""
        return list(self.leaders)

    def check_leaders(self) -> None:
        """Check that each partition has a leader.

        Raises:
            BrokerUnavailableError: a partition has no leader.
        """
        leaderless = [partition for partition, leader in self.leaders.items() if leader < 0]
        if leaderless:
            raise BrokerUnavailableError(f"{leaderless[0]} has no leader at present; check which of its replicas run")


class PendingInfo:
    """A pending answer about a topic."""

    def __init__(self, topic: str, future: Future[Any], wait: Wait) -> None:
        self._topic, self._future, self._wait = topic, future, wait

    @property
    def done(self) -> bool:
        """True once the query has succeeded or failed."""
        return self._future.done()

    def wait(self, timeout_s: float) -> TopicInfo:
        """Wait for the answer and return it.

        Raises:
            BrokerError: the topic does not exist, we may not see it, or no broker answered.
        """
        found: TopicDescription = self._wait(self._future, f"looking up topic {self._topic}", timeout_s)
        # The leader may be None, contrary to the library's stubs.
        leaders = {Partition(self._topic, info.id): getattr(info.leader, "id", -1) for info in found.partitions}
        return TopicInfo(str(found.topic_id), leaders)


class PendingEnds:
    """A pending answer about the end offsets of partitions.

    The high watermarks are requested after the last stable offsets have arrived, so that no last stable offset exceeds
    its high watermark.
    """

    def __init__(self, ask: Callable[[IsolationLevel], dict[Partition, Future[Any]]], wait: Wait) -> None:
        self._ask, self._wait = ask, wait
        self._stable = ask(IsolationLevel.READ_COMMITTED)
        self._high: dict[Partition, Future[Any]] | None = None

    @property
    def done(self) -> bool:
        """True once both queries have succeeded or failed; checking this property also starts the second query."""
        if self._high is None and _all_done(self._stable):
            if any(future.exception() for future in self._stable.values()):
                return True
            self._high = self._ask(IsolationLevel.READ_UNCOMMITTED)
        return self._high is not None and _all_done(self._high)

    def wait(self, timeout_s: float) -> Ends:
        """Wait for the answer and return it.

        Raises:
            BrokerError: Kafka did not answer in time, or refused.
        """
        doing = f"requesting the end of {', '.join(map(str, self._stable))}"
        stable = offsets_of(self._stable, doing, timeout_s, self._wait)
        if self._high is None:
            self._high = self._ask(IsolationLevel.READ_UNCOMMITTED)
        return Ends(stable, offsets_of(self._high, doing, timeout_s, self._wait))


def _all_done(futures: dict[Partition, Future[Any]]) -> bool:
    return all(future.done() for future in futures.values())


def offsets_of(answers: dict[Partition, Future[Any]], doing: str, timeout_s: float, wait: Wait) -> Position:
    """Wait for the offsets of partitions and return them.

    Raises:
        BrokerError: Kafka did not answer in time, or refused.
    """
    offsets = {partition: wait(future, doing, timeout_s).offset for partition, future in answers.items()}
    for partition, offset in offsets.items():
        if offset < 0:  # librdkafka's way to report that the leader did not answer
            raise BrokerUnavailableError(f"{doing}: no answer for {partition}; its leader may be down")
    return Position(offsets)
