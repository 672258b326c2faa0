"""Late or lost commit requests and responses: no transaction is lost, doubled or contaminated.

librdkafka uses one epoch for all transactions of a producer (it lacks KIP-890's bump), and retries an unanswered
request. The first request, if it arrives after all, ends whatever the *next* transaction has written by then.

With KAFKA_REPLICA_END_TXN_FAULTS=1000 that many requests and responses are delayed and dropped, for four producers at a
time; that takes some ten minutes.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from chaos.cluster import Cluster
from chaos.end_txn import FAULTS, Delay, EndTxnFault, EndTxnProxy
from kafka_replica import Partition
from kafka_replica.broker.writing.transaction_inspector import TransactionInspector
from kafka_replica.broker.writing.writer import TransactionalWriter
from kafka_replica.errors import CommitUnknownError, UsageError
from kafka_replica.headers.transactions import read_transaction_headers
from kafka_replica.producer import Put, StructureProducer, TransactionalProducer
from kafka_replica.transactions import Batch, Kind
from support.broker.kafka_tools import ends, wait_decided
from support.producer.producer_tools import settings_of
from support.waiting import wait_until

pytestmark = pytest.mark.long

WANTED = int(os.environ.get("KAFKA_REPLICA_END_TXN_FAULTS", "200"))
PRODUCERS = 1 if WANTED < 100 else 4
KEEP = {"cleanup.policy": "compact", "min.compaction.lag.ms": "86400000"}
KEYS = {0: ["d", "g"], 1: ["a", "b"]}  # for each partition, keys that librdkafka puts there
LONG_S = 240.0
# Requests are retried soon, and late ones arrive while a next transaction is open.
IMPATIENT = {"socket.timeout.ms": 600, "reconnect.backoff.max.ms": 200, "log_level": 0}


class Faults:
    """The source of the proxy's faults; thread-safe."""

    def __init__(self) -> None:
        self._dice = random.Random(1)
        self._lock = threading.Lock()
        self.next: list[tuple[EndTxnFault, Delay]] = []
        """The faults that come first."""
        self.at_random = False
        self.drawn: Counter[EndTxnFault] = Counter()

    def draw(self) -> tuple[EndTxnFault, Delay]:
        """Draw the fault of the next request."""
        with self._lock:
            if self.next:
                return self.next.pop(0)
            if not self.at_random or self._dice.random() < 0.4:
                return EndTxnFault.NONE, 0.0
            fault = self._dice.choice(FAULTS)
            self.drawn[fault] += 1
            return fault, self._dice.uniform(0.3, 3.0)


@dataclass
class Network:
    """A broker, and the proxy in front of it."""

    cluster: Cluster
    proxies: list[EndTxnProxy]
    faults: Faults = field(default_factory=Faults)


@pytest.fixture(scope="module")
def network() -> Iterator[Network]:
    """A broker behind a proxy that recognizes requests to end a transaction."""
    proxies: list[EndTxnProxy] = []
    faults = Faults()

    def make(port: int, target_port: int) -> EndTxnProxy:
        proxies.append(EndTxnProxy(port, target_port, faults.draw))
        return proxies[-1]

    with Cluster(1, make) as cluster:
        # The first transaction of a broker takes longer than others, for which tests allow two seconds.
        cluster.create_topic("first", 1, KEEP)
        writer = TransactionalWriter({"bootstrap.servers": cluster.bootstrap}, "first", 60.0)
        writer.begin()
        writer.send_to(Partition("first", 0), b"k", b"v", ())
        writer.commit()
        writer.close()
        yield Network(cluster, proxies, faults)


class Unhurried(StructureProducer):
    """A producer that has half of each transaction in the log for a moment."""

    dice = random.Random(2)

    def _step(self, name: str) -> None:
        session = None if self._runner is None else self._runner._session
        if name == "record" and session is not None and session._writer is not None:
            session._writer._producer.flush(5)
            time.sleep(self.dice.uniform(0.0, 0.2))


def batches_of(bootstrap: str, place: Partition) -> Iterator[Batch]:
    """Return the whole log of a partition, including markers."""
    with closing(TransactionInspector({"bootstrap.servers": bootstrap}, [place.topic], 30)) as inspector:
        yield from inspector.batches(place, 0)


def committed_in(bootstrap: str, place: Partition) -> list[dict[str, Counter[str]]]:
    """Return the transactions that each commit marker ended, and their keys in this partition."""
    found: list[dict[str, Counter[str]]] = []
    undecided: dict[int, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for batch in batches_of(bootstrap, place):
        if batch.kind is Kind.DATA:
            for record in batch.content.records():
                transaction_headers = read_transaction_headers(record[4])
                assert transaction_headers is not None
                undecided[batch.producer_id][transaction_headers.transaction][record[0].decode()] += 1
        else:
            ended = undecided.pop(batch.producer_id, None)
            if batch.kind is Kind.COMMIT and ended:
                found.append(ended)
    return found


@pytest.mark.long
@pytest.mark.timeout(240 + 4 * WANTED)
def test_no_transaction_is_contaminated(network: Network, tmp_path: Path) -> None:
    """Each marker ends one whole transaction; each transaction is committed once in each partition, and in order."""
    cluster, faults = network.cluster, network.faults
    topics = [f"faults-{number}" for number in range(PRODUCERS)]
    with ExitStack() as stack:
        producers = []
        for topic in topics:
            cluster.create_topic(topic, 2, KEEP)
            cluster.create_topic(f"{topic}.progress", 1, KEEP)
            settings = settings_of(
                cluster.proxied_bootstrap,
                topic,
                f"sqlite:///{tmp_path / topic}.db",
                id=topic,
                timeout_s=3.0,
                lease_s=4.0,
            )
            settings.kafka.update(IMPATIENT)  # type: ignore[attr-defined]
            producers.append(stack.enter_context(Unhurried(settings)))
        faults.at_random = True
        give_up_s = time.monotonic() + 60 + 3 * WANTED
        while faults.drawn.total() < WANTED:
            assert time.monotonic() < give_up_s, f"only {faults.drawn}"
            for producer in producers:
                if producer.status().pending < 20:
                    _record(producer, 20)
            time.sleep(0.2)
        faults.at_random = False
        for producer in producers:
            wait_until(lambda: producer.status().pending == 0, f"all are sent: {producer.status()}", LONG_S)  # noqa: B023
    recorded = {topic: producer.status().recorded for topic, producer in zip(topics, producers, strict=True)}
    print(f"{sum(recorded.values())} transactions; {dict(faults.drawn)}; "
          f"delayed requests answered by the broker: {sum(proxy.answered_late for proxy in network.proxies)}; "
          f"tried again: {sum(producer.counts.retries for producer in producers)}")  # fmt: skip
    for topic in topics:
        for partition, keys in KEYS.items():
            wait_decided(cluster.bootstrap, topic, 60, partition)
            found = committed_in(cluster.bootstrap, Partition(topic, partition))
            assert all(len(ended) == 1 for ended in found), "a marker ends one transaction"
            names = [name for ended in found for name in ended]
            assert names == [f"{topic}/{number}" for number in range(1, recorded[topic] + 1)]
            assert all(count == dict.fromkeys(keys, 1) for ended in found for count in ended.values()), (
                "whole, and once"
            )


def _record(producer: StructureProducer, count: int) -> None:
    number = producer.status().recorded
    with producer.engine.begin() as connection:
        for _ in range(count):
            number += 1
            producer.record(connection, [Put(key, b"%d" % number) for keys in KEYS.values() for key in keys])


@pytest.mark.long
@pytest.mark.parametrize("rule", ["on", "off"])
def test_a_commit_that_was_repeated_costs_a_new_producer(network: Network, rule: str) -> None:
    """A retried commit leads to a new producer, so that a late request is fenced and commits no part of the next."""
    cluster, faults, topic = network.cluster, network.faults, f"repeated-{rule}"
    cluster.create_topic(topic, 2, KEEP)
    late = sum(proxy.answered_late for proxy in network.proxies)
    kafka = {"bootstrap.servers": cluster.proxied_bootstrap, **IMPATIENT}
    writer = TransactionalWriter(kafka, topic, 30.0)
    if rule == "off":
        writer._repeated_after_s = float("inf")

    def write(partition: int) -> None:
        writer.send_to(Partition(topic, partition), b"k", b"v", ())
        assert writer._producer.flush(30) == 0

    writer.begin()
    write(0)
    write(1)
    arrives = threading.Event()
    faults.next.append((EndTxnFault.LATE_REQUEST, arrives))
    writer.commit()
    assert sum(proxy.answered_late for proxy in network.proxies) == late, "the second request was answered first"
    first = [wait_decided(cluster.bootstrap, topic, 60, partition) for partition in (0, 1)]
    assert writer.must_renew is (rule == "on")
    if writer.must_renew:
        with pytest.raises(UsageError, match="renew"):
            writer.begin()
        writer.renew()
    writer.begin()
    write(0)
    arrives.set()
    wait_until(lambda: sum(proxy.answered_late for proxy in network.proxies) > late, "the first request arrives")
    if rule == "off":
        wait_until(lambda: ends(cluster.bootstrap, topic)[0] > first[0] + 1, "half of the next one is committed")
    write(1)
    assert (ends(cluster.bootstrap, topic)[0] == first[0]) is (rule == "on"), "nothing of it is committed yet"
    writer.commit()
    writer.close()


def test_an_unknown_outcome_ends_in_a_new_producer(network: Network) -> None:
    """A producer with an unanswered commit cannot send any more; the log shows the outcome."""
    cluster, faults, topic = network.cluster, network.faults, "unknown"
    cluster.create_topic(topic, 1, KEEP)
    kafka = {"bootstrap.servers": cluster.proxied_bootstrap, **IMPATIENT, "socket.timeout.ms": 30_000}
    writer = TransactionalWriter(kafka, topic, 5.0)
    writer.begin()
    writer.send_to(Partition(topic, 0), b"k", b"v", ())
    faults.next.append((EndTxnFault.LATE_REQUEST, 12.0))
    late = sum(proxy.answered_late for proxy in network.proxies)
    with pytest.raises(CommitUnknownError, match="continue with a new producer"):
        writer.commit()
    assert not writer.usable
    writer.close()
    following = TransactionalWriter(kafka, topic, 30.0)
    end = wait_decided(cluster.bootstrap, topic, 60)
    following.begin()
    following.send_to(Partition(topic, 0), b"k", b"w", ())
    assert following._producer.flush(30) == 0
    wait_until(lambda: sum(proxy.answered_late for proxy in network.proxies) > late, "the request arrives")
    assert ends(cluster.bootstrap, topic)[0] == end, "and commits nothing of the next transaction"
    following.commit()
    following.close()


def test_an_error_of_the_server_does_not_mean_that_nothing_was_committed(network: Network) -> None:
    """Kafka carries out a commit and answers with an unknown error: the outcome is unknown, and the log has it."""
    cluster, faults, topic = network.cluster, network.faults, "surprised"
    cluster.create_topic(topic, 1, KEEP)
    producer = TransactionalProducer({"bootstrap.servers": cluster.proxied_bootstrap, "log_level": 0}, topic, topic)
    faults.next.append((EndTxnFault.UNKNOWN, 0.0))
    with pytest.raises(CommitUnknownError, match="continue with a new producer"), producer.transaction() as transaction:
        transaction.put("k", b"v")
    with pytest.raises(UsageError), producer.transaction():
        pass
    wait_decided(cluster.bootstrap, topic, 60)
    (found,) = [
        batch.kind for batch in batches_of(cluster.bootstrap, Partition(topic, 0)) if batch.kind is not Kind.DATA
    ]
    assert found is Kind.COMMIT
