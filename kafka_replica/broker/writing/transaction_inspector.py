"""Find and end transactions of a transactional id that Kafka has left open in the log.

Kafka may acknowledge a commit and yet write no marker in some partitions (observed when a single broker is restarted
during commits). The coordinator then considers the transaction complete, so that neither a timeout nor a new producer
of the transactional id ends it there: readers of committed data stop at its first record until the same producer id
ends another transaction in that partition.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from confluent_kafka import KafkaError

from kafka_replica.broker.connection.security import connection_settings
from kafka_replica.broker.errors import check_code
from kafka_replica.broker.reading.batches import scan_batches
from kafka_replica.broker.reading.fetch_position import FetchPosition
from kafka_replica.broker.reading.spill_buffer import SpillBuffer
from kafka_replica.broker.wire import messages, transactions
from kafka_replica.broker.wire.cluster import Cluster, Purpose
from kafka_replica.broker.wire.connection import BrokerConnection, TooOldError
from kafka_replica.broker.wire.fetch_limits import fetch_limits
from kafka_replica.broker.wire.messages import FetchFrom, TopicMetadata
from kafka_replica.broker.wire.transactions import ProducerId, TransactionState
from kafka_replica.records import Partition
from kafka_replica.transactions import Batch

T = TypeVar("T")

_PAUSE_S = 0.05
_WAIT_MS = 100
_WRITES_MARKERS = {"PrepareCommit", "PrepareAbort"}  # states of a transactional id


class TransactionInspector:
    """An inspector that queries brokers directly, over its own connections. Not thread-safe.

    Args:
        config: librdkafka's properties.
        topics: the topics that may be queried.
        timeout_s: how long a step may take, in seconds.

    Raises:
        ConfigurationError: these connections do not support a property.
        BrokerError: Kafka does not answer or refuses. All methods may also raise TooOldError, if a broker does not
            report open transactions.
    """

    def __init__(self, config: Mapping[str, Any], topics: Collection[str], timeout_s: float) -> None:
        self._cluster = Cluster(connection_settings(config), timeout_s)
        self._limits = fetch_limits(config)._replace(wait_ms=_WAIT_MS)
        self._timeout_s = timeout_s
        self._spill_buffer = SpillBuffer()
        self._loop = asyncio.new_event_loop()
        try:
            self._topics = self._run(self._find(topics))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close all connections."""
        self._cluster.close()
        self._run(asyncio.sleep(0))
        self._loop.close()

    def open_parts(
        self, transactional_id: str, partitions: Iterable[Partition]
    ) -> tuple[ProducerId, dict[Partition, int]]:
        """Return the current producer id, and the first offset of its open transaction in each partition that has one.

        Partitions that we may not read are left out.

        Raises:
            BrokerError: Kafka does not answer or refuses.
        """
        return self._run(self._open_parts(transactional_id, list(partitions)))

    def offsets(self, partitions: Iterable[Partition], timestamp_ms: int) -> dict[Partition, int]:
        """Return, for each partition that has one, the first offset with the given or a later timestamp.

        Args:
            partitions: the partitions to query.
            timestamp_ms: milliseconds since 1970-01-01 UTC; or ``messages.LATEST`` or ``EARLIEST``.

        Raises:
            BrokerError: Kafka does not answer or refuses.
        """
        return self._run(self._offsets(list(partitions), timestamp_ms))

    def batches(self, partition: Partition, begin: int) -> Iterator[Batch]:
        """Yield the batches of a partition, including markers, up to its current end.

        Raises:
            BrokerError: Kafka does not answer or refuses.
        """
        topic = self._topics[partition.topic]
        at = FetchPosition(partition, topic.topic_id, topic.leaders[partition.partition])
        at.position = max(begin, self.offsets([partition], messages.EARLIEST)[partition])
        end = self.offsets([partition], messages.LATEST)[partition]
        while at.position < end:
            fetched = self._run(self._fetch(at))
            scanned = scan_batches(fetched, partition, at.position, -1, self._spill_buffer)
            yield from (batch for batch in scanned.batches if batch.first < end)
            if scanned.position > at.position:
                at.position = scanned.position
            elif at.is_empty(alone=True):
                return  # compaction has removed everything up to the end

    def end(
        self, transactional_id: str, producer: ProducerId, partitions: Collection[Partition], *, commit: bool
    ) -> None:
        """End the open transaction of the transactional id in these partitions, and wait until all markers are written.

        Args:
            transactional_id: the transactional id, whose producer must not be within a transaction.
            producer: its current producer id; if another producer has initialized it since, nothing is ended.
            partitions: the partitions.
            commit: True to commit, False to abort.

        Raises:
            BrokerError: Kafka does not answer or refuses, or another producer has initialized the id.
        """
        self._run(self._end(transactional_id, producer, partitions, commit=commit))

    # --- implementation ---

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(coroutine)

    async def _find(self, topics: Collection[str]) -> dict[str, TopicMetadata]:
        (answer,) = await self._cluster.metadata(topics)
        for name in topics:
            check_code(answer.topics[name].error, f"looking up topic {name}")
        return answer.topics

    async def _link(self, node: int, purpose: Purpose = Purpose.ASK) -> BrokerConnection:
        link = await self._cluster.link(node, purpose)
        if not all(map(link.speaks, messages.VERSIONS)):
            raise TooOldError(f"{link.broker} does not list open transactions (Kafka 3.1 or later does)")
        return link

    async def _leader(self, partition: Partition, purpose: Purpose = Purpose.ASK) -> BrokerConnection:
        return await self._link(self._topics[partition.topic].leaders[partition.partition], purpose)

    async def _of_leaders(
        self, partitions: Iterable[Partition], api: int, request: Callable[[list[Partition]], bytes], doing: str
    ) -> list[memoryview]:
        """Return the answers of all leaders of the partitions; ``doing`` is the operation, for messages."""
        links: dict[BrokerConnection, list[Partition]] = {}
        for partition in partitions:
            links.setdefault(await self._leader(partition), []).append(partition)
        pending = [(link, link.send(api, request(own))) for link, own in links.items()]
        return [await self._cluster.within(link, answer, doing) for link, answer in pending]

    async def _coordinator(self, transactional_id: str) -> BrokerConnection:
        request = transactions.coordinator_request(transactional_id)
        broker = await self._link(next(iter(self._topics.values())).leaders[0])
        doing = f"finding the coordinator of the transactional id {transactional_id}"
        answer = await self._cluster.within(broker, broker.send(messages.FIND_COORDINATOR, request), doing)
        error, node = transactions.read_coordinator(answer)
        check_code(error, doing)
        return await self._link(node)

    async def _state(self, coordinator: BrokerConnection, transactional_id: str) -> TransactionState:
        request = transactions.transaction_request(transactional_id)
        doing = f"requesting the state of the transactional id {transactional_id}"
        answer = coordinator.send(messages.DESCRIBE_TRANSACTIONS, request)
        state = transactions.read_transaction(await self._cluster.within(coordinator, answer, doing))
        check_code(state.error, doing)
        return state

    async def _open_parts(
        self, transactional_id: str, partitions: list[Partition]
    ) -> tuple[ProducerId, dict[Partition, int]]:
        coordinator = await self._coordinator(transactional_id)
        producer = (await self._state(coordinator, transactional_id)).producer
        found: dict[Partition, int] = {}
        doing, request = "requesting open transactions", transactions.producers_request
        for each in await self._of_leaders(partitions, messages.DESCRIBE_PRODUCERS, request, doing):
            for partition, (error, first_offsets) in transactions.read_producers(each).items():
                if error != KafkaError.TOPIC_AUTHORIZATION_FAILED:
                    check_code(error, f"{doing} in {partition}")
                if producer.number in first_offsets:
                    found[partition] = first_offsets[producer.number]
        return producer, found

    async def _offsets(self, partitions: list[Partition], timestamp_ms: int) -> dict[Partition, int]:
        def request(own: list[Partition]) -> bytes:
            return messages.offsets_request(own, timestamp_ms, messages.READ_UNCOMMITTED)

        found: dict[Partition, int] = {}
        doing = "requesting offsets"
        for each in await self._of_leaders(partitions, messages.LIST_OFFSETS, request, doing):
            for partition, (error, offset) in messages.read_offsets(each).items():
                check_code(error, f"{doing} of {partition}")
                if offset >= 0:
                    found[partition] = offset
        return found

    async def _fetch(self, at: FetchPosition) -> memoryview:
        link = await self._leader(at.partition, Purpose.FETCH)
        fetch = FetchFrom(at.topic_id, at.partition.partition, at.position, -1)
        doing = f"reading {at.partition} from offset {at.position} on"
        request = messages.fetch_request([fetch], self._limits)
        answer = await self._cluster.within(link, link.send(messages.FETCH, request), doing)
        error, parts = messages.read_fetch(answer)
        check_code(error or parts[0].error, doing)
        return parts[0].batches

    async def _when_free(self, attempt: Callable[[], Coroutine[Any, Any, tuple[int, T]]], doing: str) -> T:
        """Return the result of an attempt, repeated while the coordinator is completing another transaction."""
        give_up_s = time.monotonic() + self._timeout_s
        while True:
            error, found = await attempt()
            if error != KafkaError.CONCURRENT_TRANSACTIONS or time.monotonic() > give_up_s:
                check_code(error, doing)
                return found
            await asyncio.sleep(_PAUSE_S)

    async def _end(
        self, transactional_id: str, producer: ProducerId, partitions: Collection[Partition], *, commit: bool
    ) -> None:
        coordinator = await self._coordinator(transactional_id)
        doing = f"ending open transactions of {transactional_id} in {', '.join(map(str, partitions))}"

        async def add_and_end() -> tuple[int, None]:
            # Sent at once, and processed in order. If this process died between them, the coordinator would abort the
            # transaction later, and with it the parts that have to be committed.
            answers = [coordinator.send(messages.ADD_PARTITIONS, add), coordinator.send(messages.END_TXN, end)]
            added = transactions.read_add_partitions(await self._cluster.within(coordinator, answers[0], doing))
            ended = transactions.read_end(await self._cluster.within(coordinator, answers[1], doing))
            return added or ended, None

        async def look_for_markers() -> tuple[int, None]:
            state = (await self._state(coordinator, transactional_id)).state
            return KafkaError.CONCURRENT_TRANSACTIONS if state in _WRITES_MARKERS else 0, None

        # Both requests are refused, without an effect, if another producer has initialized the id. A request for the
        # next epoch would not be: in an ongoing transaction, the coordinator aborts it before it compares epochs.
        add = transactions.add_partitions_request(transactional_id, producer, partitions)
        end = transactions.end_request(transactional_id, producer, commit=commit)
        await self._when_free(add_and_end, doing)
        await self._when_free(look_for_markers, doing)
