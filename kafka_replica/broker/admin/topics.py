"""Queries to the broker about topics: whether they exist, whether we may read them, and their end offsets."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

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
from kafka_replica.broker.admin.pending_answers import PendingEnds, PendingInfo, TopicInfo, offsets_of
from kafka_replica.broker.admin.topic_details import TopicDetails
from kafka_replica.broker.admin.topic_names import list_topic_names
from kafka_replica.broker.connection.clients import create_client
from kafka_replica.broker.connection.settings import admin_settings, error_callback
from kafka_replica.broker.errors import is_refusal, may_pass, translate_error
from kafka_replica.broker.topic_settings import recommended_replication_factor, with_min_insync
from kafka_replica.errors import AuthorizationError, BrokerUnavailableError, TopicNotFoundError
from kafka_replica.records import Partition, Position
from kafka_replica.transactions import Ends

_LATEST = cast("OffsetSpec", OffsetSpec.latest())  # the library declares no types
_EARLIEST = cast("OffsetSpec", OffsetSpec.earliest())
_POLL_S = 0.05  # between two checks for an answer
_CHECK_EVERY_S = 0.2  # between two checks for errors
_CHECK_AGAIN_EVERY_S = 1.0  # the same, after a check that found all brokers down


class BatchLimit(NamedTuple):
    """The maximum size of a batch that a topic accepts."""

    size_bytes: int
    """The maximum size after compression."""
    is_the_topics_own: bool
    """True if the topic's own ``max.message.bytes`` applies, False if the brokers' ``message.max.bytes`` applies."""


class Topics:
    """Queries about the topics of one cluster. Methods wait for the answer, except those that begin with ``begin_``.

    Offsets are requested only for partitions that are not known to be without a leader: for these, librdkafka (2.16)
    repeatedly looks for the leader, and occasionally crashes the process.

    A query fails immediately if all brokers refuse our credentials, or if no broker accepts a connection with these
    properties.

    Args:
        config: librdkafka's properties.
        waits_for_brokers: whether a query waits its full timeout for brokers that cannot be reached, instead of
            failing as soon as this is known.
    """

    def __init__(self, config: Mapping[str, Any], *, waits_for_brokers: bool = True) -> None:
        self._config = config
        self._waits_for_brokers = waits_for_brokers
        self._trouble: list[KafkaError] = []
        self._are_down = False  # kept, because librdkafka reports this once, not on each retry
        self._has_leaders = False
        settings = {**admin_settings(config), "error_cb": error_callback(config, self._trouble)}
        self._admin = create_client(AdminClient, settings, "setting up the connection to Kafka")

    def look_up(self, topic: str, timeout_s: float) -> TopicInfo:
        """Look up a topic.

        A consumer without permission to read gets no error from Kafka, so that this query has to precede any reading.

        Raises:
            BrokerError: the topic does not exist, we may not see it, or no broker answered.
        """
        return self.begin_look_up(topic, timeout_s).wait(timeout_s)

    def begin_look_up(self, topic: str, timeout_s: float) -> PendingInfo:
        """Start to look up a topic; the caller collects the answer later."""
        futures = self._admin.describe_topics(TopicCollection([topic]), request_timeout=timeout_s)
        return PendingInfo(topic, futures[topic], self._answer)

    def begin_ends(self, partitions: Iterable[Partition], timeout_s: float) -> PendingEnds:
        """Start to query the end offsets of partitions that have leaders; the caller collects the answer later."""
        places = {partition: TopicPartition(*partition) for partition in partitions}

        def ask(level: IsolationLevel) -> dict[Partition, Future[Any]]:
            question = dict.fromkeys(places.values(), _LATEST)
            found = self._admin.list_offsets(question, isolation_level=level, request_timeout=timeout_s)
            return {partition: found[place] for partition, place in places.items()}

        return PendingEnds(ask, self._answer)

    def ends(self, partitions: Iterable[Partition], timeout_s: float) -> Ends:
        """Return the current end offsets of partitions.

        Raises:
            BrokerError: Kafka did not answer, or refused.
        """
        partitions = list(partitions)
        with self._leaders_of(partitions, timeout_s):
            return self.begin_ends(partitions, timeout_s).wait(timeout_s)

    def beginnings(self, partitions: Iterable[Partition], timeout_s: float) -> Position:
        """Return the current first offsets of partitions.

        Raises:
            BrokerError: Kafka did not answer, or refused.
        """
        places = {partition: TopicPartition(*partition) for partition in partitions}
        with self._leaders_of(places, timeout_s):
            futures = self._admin.list_offsets(dict.fromkeys(places.values(), _EARLIEST), request_timeout=timeout_s)
            found = {partition: futures[place] for partition, place in places.items()}
            return offsets_of(
                found, f"requesting the beginning of {', '.join(map(str, found))}", timeout_s, self._answer
            )

    @contextmanager
    def _leaders_of(self, partitions: Iterable[Partition], timeout_s: float) -> Iterator[None]:
        """Check that partitions have leaders before requesting offsets, unless the last such request was answered.

        Raises:
            TopicNotFoundError: a topic does not exist.
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
        """Create a topic, and wait until the brokers have it; return False if the topic exists already.

        Args:
            topic: the name.
            partitions: the number of partitions.
            settings: the topic's settings; ``min.insync.replicas`` is added where it suits the replication factor.
            timeout_s: how long to wait for Kafka, in seconds.
            replication_factor: the number of replicas of each partition; None means 3, or the number of brokers if
                there are fewer.

        Raises:
            BrokerError: Kafka did not answer, or refused.
        """
        copies = replication_factor or recommended_replication_factor(len(self.brokers(timeout_s)))
        config = with_min_insync(settings, copies)
        new = NewTopic(topic, num_partitions=partitions, replication_factor=copies, config=config)
        try:
            self._admin.create_topics([new], request_timeout=timeout_s)[topic].result(timeout_s + 1)
        except KafkaException as error:
            if error.args[0].name() == "TOPIC_ALREADY_EXISTS":
                return False
            raise translate_error(error, f"creating topic {topic}") from error
        self._wait_until_known(topic, timeout_s)
        return True

    def _wait_until_known(self, topic: str, timeout_s: float) -> None:
        """Wait until the brokers know a new topic; other brokers than its creator learn of it a moment later."""
        until_s = time.monotonic() + timeout_s
        while True:
            try:
                self.look_up(topic, timeout_s).check_leaders()
            except AuthorizationError:
                return  # permission to create topics does not include permission to see them
            except (TopicNotFoundError, BrokerUnavailableError):
                if time.monotonic() > until_s:
                    raise
            else:
                return
            time.sleep(_POLL_S)

    def names(self, timeout_s: float) -> list[str]:
        """Return the names of the topics that the user may see, sorted, without Kafka's internal topics.

        Raises:
            BrokerError: Kafka did not answer in time, or refused.
        """
        return list_topic_names(self._admin, timeout_s)

    def brokers(self, timeout_s: float) -> dict[int, tuple[str, int]]:
        """Return the advertised host and port of each broker, by node id.

        Raises:
            BrokerError: Kafka did not answer, or refused.
        """
        future = self._admin.describe_cluster(request_timeout=timeout_s)
        found = self._answer(future, "listing the brokers of the cluster", timeout_s)
        return {node.id: (node.host, node.port) for node in found.nodes}

    def replicas(self, topic: str, timeout_s: float) -> dict[Partition, int]:
        """Return the replication factor of each partition of a topic.

        Raises:
            BrokerError: the topic does not exist, we may not see it, or no broker answered.
        """
        futures = self._admin.describe_topics(TopicCollection([topic]), request_timeout=timeout_s)
        found: TopicDescription = self._answer(futures[topic], f"looking up topic {topic}", timeout_s)
        return {Partition(topic, info.id): len(info.replicas) for info in found.partitions}

    def details(self, topic: str, timeout_s: float) -> TopicDetails:
        """Return the brokers of each partition of a topic, and our permissions.

        Raises:
            BrokerError: the topic does not exist, we may not see it, or no broker answered.
        """
        futures = self._admin.describe_topics(
            TopicCollection([topic]), request_timeout=timeout_s, include_authorized_operations=True
        )
        return TopicDetails.of(self._answer(futures[topic], f"looking up topic {topic}", timeout_s))

    def settings(self, topic: str, timeout_s: float) -> dict[str, str]:
        """Return the topic's settings; needs permission DescribeConfigs, which a replica does not need otherwise.

        Raises:
            BrokerError: Kafka did not answer, or refused.
        """
        return {name: entry.value for name, entry in self._settings(topic, timeout_s).items()}

    def settings_and_own(self, topic: str, timeout_s: float) -> tuple[dict[str, str], frozenset[str]]:
        """Return the topic's settings, and the names of the settings that are set on the topic itself.

        Raises:
            BrokerError: Kafka did not answer, or refused.
        """
        found = self._settings(topic, timeout_s)
        own = (name for name, entry in found.items() if _is_own(entry))
        return {name: entry.value for name, entry in found.items()}, frozenset(own)

    def largest_batch(self, topic: str, timeout_s: float) -> BatchLimit:
        """Return the topic's batch size limit and which setting defines it; needs permission DescribeConfigs.

        Raises:
            BrokerError: Kafka did not answer, or refused.
        """
        entry = self._settings(topic, timeout_s)["max.message.bytes"]
        return BatchLimit(int(entry.value), _is_own(entry))

    def _settings(self, topic: str, timeout_s: float) -> dict[str, Any]:
        resource = ConfigResource(ResourceType.TOPIC, topic)
        futures = self._admin.describe_configs([resource], request_timeout=timeout_s)
        found: dict[str, Any] = self._answer(futures[resource], f"reading the settings of topic {topic}", timeout_s)
        return found

    def _answer(self, future: Future[Any], doing: str, timeout_s: float) -> Any:
        """Wait for an answer.

        Raises:
            BrokerError: Kafka refused, or did not answer in time; the message names the cause as far as it is known.
            ConfigurationError: no broker accepts a connection with these properties.
        """
        give_up_s = time.monotonic() + timeout_s + 1  # the client's own timeout comes first
        check_at_s, cause = 0.0, None
        while True:
            try:
                answer = future.result(_POLL_S)
            except KafkaException as error:
                raise (cause if may_pass(error.args[0]) else None) or translate_error(error, doing) from error
            except TimeoutError as error:
                if time.monotonic() > check_at_s:
                    cause = self._cause(doing) or cause
                    check_at_s = time.monotonic() + (_CHECK_AGAIN_EVERY_S if self._are_down else _CHECK_EVERY_S)
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
        self._admin.poll(0)  # delivers librdkafka's pending errors to the callback
        trouble, self._trouble[:] = list(self._trouble), []
        self._are_down |= any(error.code() == KafkaError._ALL_BROKERS_DOWN for error in trouble)
        if not self._are_down:
            return None
        refusal = next((error for error in trouble if is_refusal(error)), None)
        return connection_trouble(self._config, doing) if refusal is None else translate_error(refusal, doing)


def _is_own(entry: Any) -> bool:
    return ConfigSource(entry.source) is ConfigSource.DYNAMIC_TOPIC_CONFIG
