"""Questions to the broker about topics: do they exist, may we read them, where do they end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent import futures
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, NamedTuple

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    ConfigResource,
    ConfigSource,
    NewTopic,
    OffsetSpec,
    ResourceType,
    TopicDescription,
)

from kafka_replica.broker.clients import made
from kafka_replica.broker.failures import explained
from kafka_replica.broker.settings import admin_settings, error_callback
from kafka_replica.broker.topic_settings import recommended_replicas, with_min_insync
from kafka_replica.cuts import Ends
from kafka_replica.errors import AuthenticationError, BrokerUnavailableError
from kafka_replica.records import Cut, Partition

_LATEST: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call] # the library's
_EARLIEST: OffsetSpec = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
_LOOK_EVERY_S = 0.05
_ANOTHER_ANSWERS_S = 1.0  # how long another broker may take to answer when one has refused our credentials


class TopicInfo(NamedTuple):
    """A topic as it is now; one that is deleted and made again keeps its name but not its id."""

    topic_id: str
    leaders: dict[Partition, int]
    """The broker that leads each partition, -1 where none does now."""

    @property
    def partitions(self) -> list[Partition]:
        """The partitions."""
        return list(self.leaders)


class BatchLimit(NamedTuple):
    """How large a batch a topic takes."""

    size_bytes: int
    """After compression."""
    is_the_topics_own: bool
    """Whether its own ``max.message.bytes`` says so; else the brokers' ``message.max.bytes``."""


class Topics:
    """Asks one cluster about its topics. Its methods wait for answers; ``begin_ends`` does not."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._trouble: list[KafkaError] = []
        settings = {**admin_settings(config), "error_cb": error_callback(config, self._trouble)}
        self._admin = made(AdminClient, settings, "setting up the connection to Kafka")

    def refusal(self) -> AuthenticationError | None:
        """Whether the broker refused who we are; answers themselves only time out then."""
        self._admin.poll(0)  # hands out what librdkafka has to say
        trouble, self._trouble[:] = list(self._trouble), []
        explanations = (explained(error, "connecting to Kafka") for error in trouble)
        return next((error for error in explanations if isinstance(error, AuthenticationError)), None)

    def look_up(self, topic: str, timeout_s: float, *, raise_refusal: bool = False) -> TopicInfo:
        """What the broker says of a topic that we may see.

        Kafka is silent towards a reader without rights, so this question comes before any reading.

        Args:
            topic: which.
            timeout_s: how long to wait for the answer.
            raise_refusal: do not wait on when a broker has refused our credentials, and no other one answers within a
                second. Otherwise ``refusal`` tells afterwards.

        Raises:
            AuthenticationError: the credentials were refused.
            BrokerError: no such topic, no right to see it, no broker.
        """
        pending = self.begin_look_up(topic, timeout_s)
        if not raise_refusal:
            return pending.wait(timeout_s)
        give_up_s, refusal = time.monotonic() + timeout_s, None
        while not pending.is_done_within(_LOOK_EVERY_S) and time.monotonic() < give_up_s:
            if refusal is None and (refusal := self.refusal()) is not None:
                give_up_s = min(give_up_s, time.monotonic() + _ANOTHER_ANSWERS_S)
        if refusal is not None and not pending.done:
            raise refusal
        return pending.wait(timeout_s)

    def begin_look_up(self, topic: str, timeout_s: float) -> PendingInfo:
        """Asks about a topic; the answer is picked up later."""
        asked = self._admin.describe_topics(TopicCollection([topic]), request_timeout=timeout_s)
        return PendingInfo(topic, asked[topic])

    def begin_ends(self, partitions: Iterable[Partition], timeout_s: float) -> PendingEnds:
        """Asks where partitions end; the answer is picked up later."""
        asked = {partition: TopicPartition(*partition) for partition in partitions}

        def ask(level: IsolationLevel) -> dict[Partition, Future[Any]]:
            question = dict.fromkeys(asked.values(), _LATEST)
            found = self._admin.list_offsets(question, isolation_level=level, request_timeout=timeout_s)
            return {partition: found[place] for partition, place in asked.items()}

        return PendingEnds(ask)

    def ends(self, partitions: Iterable[Partition], timeout_s: float) -> Ends:
        """Where partitions end now.

        Raises:
            BrokerError: Kafka did not answer, or refused.
        """
        return self.begin_ends(partitions, timeout_s).wait(timeout_s)

    def beginnings(self, partitions: Iterable[Partition], timeout_s: float) -> Cut:
        """The first offsets that partitions have now.

        Raises:
            BrokerError: Kafka did not answer, or refused.
        """
        asked = {partition: TopicPartition(*partition) for partition in partitions}
        futures = self._admin.list_offsets(dict.fromkeys(asked.values(), _EARLIEST), request_timeout=timeout_s)
        found = {partition: futures[place] for partition, place in asked.items()}
        return _offsets(found, f"asking where {', '.join(map(str, found))} begins", timeout_s)

    def create(
        self,
        topic: str,
        partitions: int,
        settings: Mapping[str, str],
        timeout_s: float,
        replication_factor: int | None = None,
    ) -> bool:
        """Create a topic; False when it is there already.

        Args:
            topic: its name.
            partitions: how many.
            settings: its settings; ``min.insync.replicas`` is added where it goes with the replication.
            timeout_s: for how long to wait for Kafka.
            replication_factor: how many copies each partition has; None takes 3, or as many as there are brokers.

        Raises:
            BrokerError: Kafka did not answer, or refused.
        """
        copies = replication_factor or recommended_replicas(len(self.brokers(timeout_s)))
        config = with_min_insync(settings, copies)
        new = NewTopic(topic, num_partitions=partitions, replication_factor=copies, config=config)
        try:
            self._admin.create_topics([new], request_timeout=timeout_s)[topic].result(timeout_s + 1)
        except KafkaException as error:
            if error.args[0].name() == "TOPIC_ALREADY_EXISTS":
                return False
            raise explained(error, f"creating topic {topic}") from error
        return True

    def brokers(self, timeout_s: float) -> dict[int, tuple[str, int]]:
        """Host and port of each broker, as brokers give them to clients, by number.

        Raises:
            BrokerError: Kafka did not answer, or refused.
        """
        asked = self._admin.describe_cluster(request_timeout=timeout_s)
        found = _answer(asked, "asking for the brokers of the cluster", timeout_s)
        return {node.id: (node.host, node.port) for node in found.nodes}

    def replicas(self, topic: str, timeout_s: float) -> dict[Partition, int]:
        """How many copies each partition of a topic has.

        Raises:
            BrokerError: no such topic, no right to see it, no broker.
        """
        asked = self._admin.describe_topics(TopicCollection([topic]), request_timeout=timeout_s)
        found: TopicDescription = _answer(asked[topic], f"looking up topic {topic}", timeout_s)
        return {Partition(topic, info.id): len(info.replicas) for info in found.partitions}

    def settings(self, topic: str, timeout_s: float) -> dict[str, str]:
        """The topic's settings; needs the right DescribeConfigs, which a replica otherwise does not.

        Raises:
            BrokerError: Kafka did not answer, or refused.
        """
        return {name: entry.value for name, entry in self._settings(topic, timeout_s).items()}

    def largest_batch(self, topic: str, timeout_s: float) -> BatchLimit:
        """How large a batch the topic takes, and whose limit that is; needs the right DescribeConfigs.

        Raises:
            BrokerError: Kafka did not answer, or refused.
        """
        entry = self._settings(topic, timeout_s)["max.message.bytes"]
        return BatchLimit(int(entry.value), ConfigSource(entry.source) is ConfigSource.DYNAMIC_TOPIC_CONFIG)

    def _settings(self, topic: str, timeout_s: float) -> dict[str, Any]:
        resource = ConfigResource(ResourceType.TOPIC, topic)
        asked = self._admin.describe_configs([resource], request_timeout=timeout_s)
        found: dict[str, Any] = _answer(asked[resource], f"reading the settings of topic {topic}", timeout_s)
        return found


class PendingInfo:
    """An answer under way about a topic."""

    def __init__(self, topic: str, future: Future[Any]) -> None:
        self._topic, self._future = topic, future

    @property
    def done(self) -> bool:
        """Whether the answer is there, good or bad."""
        return self._future.done()

    def is_done_within(self, timeout_s: float) -> bool:
        """Wait for the answer, good or bad, at most that long; return whether it is there."""
        return not futures.wait([self._future], timeout_s).not_done

    def wait(self, timeout_s: float) -> TopicInfo:
        """The answer.

        Raises:
            BrokerError: no such topic, no right to see it, no broker.
        """
        found: TopicDescription = _answer(self._future, f"looking up topic {self._topic}", timeout_s)
        # Whatever the stubs of the library say, there may be no leader.
        leaders = {Partition(self._topic, info.id): getattr(info.leader, "id", -1) for info in found.partitions}
        return TopicInfo(str(found.topic_id), leaders)


class PendingEnds:
    """An answer under way to where partitions end.

    The high watermarks are asked for when the stable ends are there, so that stable <= high.
    """

    def __init__(self, ask: Callable[[IsolationLevel], dict[Partition, Future[Any]]]) -> None:
        self._ask = ask
        self._stable = ask(IsolationLevel.READ_COMMITTED)
        self._high: dict[Partition, Future[Any]] | None = None

    @property
    def done(self) -> bool:
        """Whether all of the answer is there, good or bad; asking goes on by this."""
        if self._high is None and _all_done(self._stable):
            self._high = self._ask(IsolationLevel.READ_UNCOMMITTED)
        return self._high is not None and _all_done(self._high)

    def wait(self, timeout_s: float) -> Ends:
        """The answer.

        Raises:
            BrokerError: Kafka did not answer in time, or refused.
        """
        doing = f"asking where {', '.join(map(str, self._stable))} ends"
        stable = _offsets(self._stable, doing, timeout_s)
        if self._high is None:
            self._high = self._ask(IsolationLevel.READ_UNCOMMITTED)
        return Ends(stable, _offsets(self._high, doing, timeout_s))


def _all_done(futures: dict[Partition, Future[Any]]) -> bool:
    return all(future.done() for future in futures.values())


def _offsets(asked: dict[Partition, Future[Any]], doing: str, timeout_s: float) -> Cut:
    offsets = {partition: _answer(future, doing, timeout_s).offset for partition, future in asked.items()}
    for partition, offset in offsets.items():
        if offset < 0:  # how librdkafka says that the leader was asked and did not answer
            raise BrokerUnavailableError(f"{doing}: no answer for {partition}; its leader may be down")
    return Cut(offsets)


def _answer(future: Future[Any], doing: str, timeout_s: float) -> Any:
    try:
        return future.result(timeout_s + 1)  # the client's own time-out comes first, and says more
    except KafkaException as error:
        raise explained(error, doing) from error
    except TimeoutError as error:
        with suppress(Exception):
            future.cancel()
        raise BrokerUnavailableError(
            f"{doing}: no answer in {timeout_s} s; check bootstrap.servers and the network"
        ) from error
