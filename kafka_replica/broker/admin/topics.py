"""Questions to the broker about topics: do they exist, may we read them, where do they end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

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

from kafka_replica.broker.admin.diagnosis import Trouble, connection_trouble
from kafka_replica.broker.connection.clients import made
from kafka_replica.broker.connection.settings import admin_settings, error_callback
from kafka_replica.broker.errors import explained, is_refusal, may_pass
from kafka_replica.broker.topic_settings import recommended_replicas, with_min_insync
from kafka_replica.errors import BrokerUnavailableError
from kafka_replica.records import Partition, Position
from kafka_replica.transactions import Ends

_LATEST: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call] # the library's
_EARLIEST: OffsetSpec = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
_GLANCE_S = 0.05  # between two looks for an answer
_LOOK_EVERY_S, _AGAIN_EVERY_S = 0.2, 1.0  # for what librdkafka reports meanwhile; once it has reported trouble

Wait: TypeAlias = Callable[[Future[Any], str, float], Any]
"""Waits for a future for the doing named, that many seconds at most; see ``Topics._answer``."""


class TopicInfo(NamedTuple):
    """A topic as it is now; one that is deleted and made again keeps its name but not its id."""

    topic_id: str
    leaders: dict[Partition, int]
    """The broker that leads each partition, -1 where none does now."""

    @property
    def partitions(self) -> list[Partition]:
        """The partitions."""
        return list(self.leaders)

    def check_leaders(self) -> None:
        """Make sure that each partition has a leader.

        Raises:
            BrokerUnavailableError: one has none.
        """
        leaderless = [partition for partition, leader in self.leaders.items() if leader < 0]
        if leaderless:
            raise BrokerUnavailableError(f"no broker leads {leaderless[0]} now; see which of its replicas run")


class BatchLimit(NamedTuple):
    """How large a batch a topic takes."""

    size_bytes: int
    """After compression."""
    is_the_topics_own: bool
    """Whether its own ``max.message.bytes`` says so; else the brokers' ``message.max.bytes``."""


class Topics:
    """Asks one cluster about its topics. Its methods wait for answers; those that begin with ``begin_`` do not.

    Offsets are asked for only of partitions that have a leader, as far as is known: for others librdkafka (2.16) looks
    for the leader again and again, and now and then crashes the process while it does.

    A question fails at once if all brokers refuse who we are, or if no broker can be connected to with these
    properties.

    Args:
        config: librdkafka's properties.
        waits_for_brokers: whether a question waits its full time for brokers that cannot be reached; else it fails
            as soon as that is known.
    """

    def __init__(self, config: Mapping[str, Any], *, waits_for_brokers: bool = True) -> None:
        self._config = config
        self._waits_for_brokers = waits_for_brokers
        self._trouble: list[KafkaError] = []
        self._are_down = False  # librdkafka says so once, not each time it tries again
        self._has_leaders = False
        settings = {**admin_settings(config), "error_cb": error_callback(config, self._trouble)}
        self._admin = made(AdminClient, settings, "setting up the connection to Kafka")

    def look_up(self, topic: str, timeout_s: float) -> TopicInfo:
        """What the broker says of a topic that we may see.

        Kafka is silent towards a reader without rights, so this question comes before any reading.

        Raises:
            BrokerError: no such topic, no right to see it, no broker.
        """
        return self.begin_look_up(topic, timeout_s).wait(timeout_s)

    def begin_look_up(self, topic: str, timeout_s: float) -> PendingInfo:
        """Asks about a topic; the answer is picked up later."""
        asked = self._admin.describe_topics(TopicCollection([topic]), request_timeout=timeout_s)
        return PendingInfo(topic, asked[topic], self._answer)

    def begin_ends(self, partitions: Iterable[Partition], timeout_s: float) -> PendingEnds:
        """Asks where partitions end, which have leaders; the answer is picked up later."""
        asked = {partition: TopicPartition(*partition) for partition in partitions}

        def ask(level: IsolationLevel) -> dict[Partition, Future[Any]]:
            question = dict.fromkeys(asked.values(), _LATEST)
            found = self._admin.list_offsets(question, isolation_level=level, request_timeout=timeout_s)
            return {partition: found[place] for partition, place in asked.items()}

        return PendingEnds(ask, self._answer)

    def ends(self, partitions: Iterable[Partition], timeout_s: float) -> Ends:
        """Where partitions end now.

        Raises:
            BrokerError: Kafka did not answer, or refused.
        """
        partitions = list(partitions)
        with self._leaders_of(partitions, timeout_s):
            return self.begin_ends(partitions, timeout_s).wait(timeout_s)

    def beginnings(self, partitions: Iterable[Partition], timeout_s: float) -> Position:
        """The first offsets that partitions have now.

        Raises:
            BrokerError: Kafka did not answer, or refused.
        """
        asked = {partition: TopicPartition(*partition) for partition in partitions}
        with self._leaders_of(asked, timeout_s):
            futures = self._admin.list_offsets(dict.fromkeys(asked.values(), _EARLIEST), request_timeout=timeout_s)
            found = {partition: futures[place] for partition, place in asked.items()}
            return _offsets(found, f"asking where {', '.join(map(str, found))} begins", timeout_s, self._answer)

    @contextmanager
    def _leaders_of(self, partitions: Iterable[Partition], timeout_s: float) -> Iterator[None]:
        """Make sure of leaders before offsets are asked for, unless the last such question was answered.

        Raises:
            TopicNotFoundError: a topic is not there.
            BrokerError: a partition has no leader; Kafka did not answer, or refused.
        """
        had_leaders, self._has_leaders = self._has_leaders, False
        if not had_leaders:
            for topic in dict.fromkeys(partition.topic for partition in partitions):
                self.look_up(topic, timeout_s).check_leaders()
        yield
        self._has_leaders = True

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
        found = self._answer(asked, "asking for the brokers of the cluster", timeout_s)
        return {node.id: (node.host, node.port) for node in found.nodes}

    def replicas(self, topic: str, timeout_s: float) -> dict[Partition, int]:
        """How many copies each partition of a topic has.

        Raises:
            BrokerError: no such topic, no right to see it, no broker.
        """
        asked = self._admin.describe_topics(TopicCollection([topic]), request_timeout=timeout_s)
        found: TopicDescription = self._answer(asked[topic], f"looking up topic {topic}", timeout_s)
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
        found: dict[str, Any] = self._answer(asked[resource], f"reading the settings of topic {topic}", timeout_s)
        return found

    def _answer(self, future: Future[Any], doing: str, timeout_s: float) -> Any:
        """Wait for an answer.

        Raises:
            BrokerError: Kafka refused, or did not answer in time; the text names the cause as far as it is known.
            ConfigurationError: no broker can be connected to with these properties.
        """
        give_up_s = time.monotonic() + timeout_s + 1  # the client's own time-out comes first
        look_s, cause = 0.0, None
        while True:
            try:
                answer = future.result(_GLANCE_S)
            except KafkaException as error:
                raise (cause if may_pass(error.args[0]) else None) or explained(error, doing) from error
            except TimeoutError as error:
                if time.monotonic() > look_s:
                    cause = self._cause(doing) or cause
                    look_s = time.monotonic() + (_AGAIN_EVERY_S if self._are_down else _LOOK_EVERY_S)
                if cause is not None and not (self._waits_for_brokers and isinstance(cause, BrokerUnavailableError)):
                    raise cause from error
                if time.monotonic() > give_up_s:
                    raise cause or BrokerUnavailableError(
                        f"{doing}: no answer in {timeout_s} s; check bootstrap.servers and the network"
                    ) from error
            else:
                self._are_down = False
                return answer

    def _cause(self, doing: str) -> Trouble | None:
        """Return why no broker answers, once librdkafka has tried them all."""
        self._admin.poll(0)  # hands out what librdkafka has to say
        trouble, self._trouble[:] = list(self._trouble), []
        self._are_down |= any(error.code() == KafkaError._ALL_BROKERS_DOWN for error in trouble)
        if not self._are_down:
            return None
        refusal = next((error for error in trouble if is_refusal(error)), None)
        return connection_trouble(self._config, doing) if refusal is None else explained(refusal, doing)


class PendingInfo:
    """An answer under way about a topic."""

    def __init__(self, topic: str, future: Future[Any], wait: Wait) -> None:
        self._topic, self._future, self._wait = topic, future, wait

    @property
    def done(self) -> bool:
        """Whether the answer is there, good or bad."""
        return self._future.done()

    def wait(self, timeout_s: float) -> TopicInfo:
        """The answer.

        Raises:
            BrokerError: no such topic, no right to see it, no broker.
        """
        found: TopicDescription = self._wait(self._future, f"looking up topic {self._topic}", timeout_s)
        # Whatever the stubs of the library say, there may be no leader.
        leaders = {Partition(self._topic, info.id): getattr(info.leader, "id", -1) for info in found.partitions}
        return TopicInfo(str(found.topic_id), leaders)


class PendingEnds:
    """An answer under way to where partitions end.

    The high watermarks are asked for when the stable ends are there, so that stable <= high.
    """

    def __init__(self, ask: Callable[[IsolationLevel], dict[Partition, Future[Any]]], wait: Wait) -> None:
        self._ask, self._wait = ask, wait
        self._stable = ask(IsolationLevel.READ_COMMITTED)
        self._high: dict[Partition, Future[Any]] | None = None

    @property
    def done(self) -> bool:
        """Whether all of the answer is there, good or bad; asking goes on by this."""
        if self._high is None and _all_done(self._stable):
            if any(future.exception() for future in self._stable.values()):
                return True
            self._high = self._ask(IsolationLevel.READ_UNCOMMITTED)
        return self._high is not None and _all_done(self._high)

    def wait(self, timeout_s: float) -> Ends:
        """The answer.

        Raises:
            BrokerError: Kafka did not answer in time, or refused.
        """
        doing = f"asking where {', '.join(map(str, self._stable))} ends"
        stable = _offsets(self._stable, doing, timeout_s, self._wait)
        if self._high is None:
            self._high = self._ask(IsolationLevel.READ_UNCOMMITTED)
        return Ends(stable, _offsets(self._high, doing, timeout_s, self._wait))


def _all_done(futures: dict[Partition, Future[Any]]) -> bool:
    return all(future.done() for future in futures.values())


def _offsets(asked: dict[Partition, Future[Any]], doing: str, timeout_s: float, wait: Wait) -> Position:
    offsets = {partition: wait(future, doing, timeout_s).offset for partition, future in asked.items()}
    for partition, offset in offsets.items():
        if offset < 0:  # how librdkafka says that the leader was asked and did not answer
            raise BrokerUnavailableError(f"{doing}: no answer for {partition}; its leader may be down")
    return Position(offsets)
