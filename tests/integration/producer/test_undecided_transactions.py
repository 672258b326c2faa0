"""Transactions that are open in the progress topic, or in the topic, when a producer starts.

The producer's own, which Kafka has left without a marker: their outcome is found in the log, and then they are ended.
Those of others: the producer does not wait for them.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import ClassVar

import pytest
from sqlalchemy import update

from kafka_replica import Partition
from kafka_replica.broker.writing.transaction_inspector import TransactionInspector
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import BrokerError
from kafka_replica.headers import transactions
from kafka_replica.headers.transactions import TransactionHeaders
from kafka_replica.producer import Put, StructureProducer
from kafka_replica.producer.outbox import Mode, Outbox
from kafka_replica.producer.outbox.queue import Queue
from kafka_replica.producer.outbox.tables import lease
from kafka_replica.producer.relay.progress import progress_key, progress_value
from kafka_replica.producer.relay.undecided import OpenPart, parts_to_commit
from kafka_replica.producer.settings.producer_settings import ProducerSettings
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.kafka_tools import ends, wait_decided, write
from support.broker.kafka_tools import producer as plain_producer
from support.effort import first_in_usual
from support.producer.left_open import UNVERIFIED, Written, leave_open
from support.producer.producer_tools import lease_holder, mark_sent, records_of, settings_of
from support.waiting import wait_until

KEEP = {"cleanup.policy": "compact", "min.compaction.lag.ms": "600000"}
KEYS = {0: "d", 1: "a"}  # for each partition, a key that librdkafka puts there


@pytest.fixture(scope="module")
def unverified() -> Iterator[LocalKafka]:
    """A broker in which transactions can be left open."""
    with LocalKafka(settings=UNVERIFIED) as kafka:
        yield kafka


class Scene:
    """A producer that has sent transaction 1; Kafka gets transaction 2, and does not end it everywhere.

    Args:
        kafka: the broker.
        folder: for the database.
    """

    made: ClassVar[list[Scene]] = []

    def __init__(self, kafka: LocalKafka, folder: Path) -> None:
        self.made.append(self)
        self.bootstrap = kafka.bootstrap_servers
        self.topic = kafka.create_topic(f"t-{uuid.uuid4().hex[:8]}", partitions=2, config=KEEP)
        self.places = {number: Partition(self.topic, number) for number in KEYS}
        self.progress = Partition(f"{self.topic}.progress", 0)
        self.settings = settings_of(
            self.bootstrap, self.topic, f"sqlite:///{folder / 'o.db'}", prefix=self.topic, timeout_s=5.0
        )
        with StructureProducer(self.settings) as producer:
            self.record(producer, 1)
            wait_until(lambda: producer.status().pending == 0, "1 is sent")
            self.incarnation = producer.status().incarnation
        self.engine = producer.engine
        self.queue = Queue(producer.engine, producer.id)
        self.record(producer, 2)
        self._recorder = producer

    @staticmethod
    def record(producer: StructureProducer, number: int) -> None:
        """Record a transaction of one record in each partition."""
        with producer.engine.begin() as connection:
            assert producer.record(connection, [Put(key, b"%d" % number) for key in KEYS.values()]) == [number]

    def leave_open(self, decided: list[Partition], *, commit: bool) -> None:
        """Let Kafka have transaction 2, with markers in some partitions only."""
        fingerprint = self.queue.recorded.fingerprint(2)
        assert fingerprint is not None
        assert fingerprint.recorded_ms is not None
        records = [
            Written(self.progress, progress_key("structures", self.incarnation), progress_value(2, fingerprint)),
        ]
        for number, key in KEYS.items():
            headers = transactions.write_transaction_headers(
                TransactionHeaders("structures/2", number + 1, 2, fingerprint.recorded_ms)
            )
            records.append(Written(self.places[number], key.encode(), b"2", headers))  # type: ignore[arg-type]
        leave_open(self.bootstrap, self.settings.transactional_id, records, decided, commit=commit)
        for place in decided:  # the end is acknowledged before the markers are written
            wait_decided(self.bootstrap, place.topic, partition=place.partition)

    def begin_incarnation(self) -> None:
        """Begin a new incarnation, as an operator may."""
        outbox = Outbox("structures")
        with self.engine.begin() as connection:
            outbox.suspend(connection)
            outbox.begin_incarnation(connection)
            outbox.resume(connection)

    def sent(self) -> list[int]:
        """Return the numbers of the committed transactions, which are the same in all partitions."""
        found = [
            [int(each.value or b"") for each in records_of(self.bootstrap, place)] for place in self.places.values()
        ]
        assert found[0] == found[1]
        return found[0]

    def publish(self, at: str = "", meanwhile: Callable[[], None] = lambda: None) -> None:
        """Start another producer, and let it send a third transaction; do something at one of its steps."""
        self._recorder.close()
        producer = Overtaken(self.settings)
        producer.at, producer.meanwhile = at, meanwhile
        with producer:
            self.record(producer, 3)
            wait_until(
                lambda: producer.status().pending == 0 or producer.status().mode is Mode.FAILED,
                "the producer continues",
                120,
            )
            assert producer.status().mode is Mode.RUNNING, producer.status().reason


@pytest.mark.parametrize(
    ("decided", "commit", "is_acknowledged"),
    first_in_usual([
        pytest.param([], True, False, id="no marker anywhere"),
        pytest.param([0], False, False, id="aborted in one partition"),
        pytest.param([0, 1], True, False, id="committed in the topic, open in the progress topic"),
        pytest.param(["progress", 1], False, False, id="aborted, but open in one partition"),
        pytest.param([], True, True, id="no marker anywhere, but acknowledged and noted"),
        pytest.param([0], True, False, id="committed in one partition"),
        pytest.param([0, 1], False, False, id="aborted in the topic, open in the progress topic"),
        pytest.param(["progress", 1], True, False, id="committed, but open in one partition"),
    ], 2),
)  # fmt: skip
def test_an_open_transaction_is_ended_as_the_database_decided(
    unverified: LocalKafka,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    decided: list[int | str],
    commit: bool,
    is_acknowledged: bool,
) -> None:
    """Each transaction is there once, in both partitions, and in order; none stays open."""
    scene = Scene(unverified, tmp_path)
    scene.leave_open(
        [scene.progress if each == "progress" else scene.places[int(each)] for each in decided], commit=commit
    )
    if is_acknowledged:
        mark_sent(scene.queue, 2, 2)
    stable, high = ends(scene.bootstrap, scene.progress.topic)
    assert (stable < high) is ("progress" not in decided), "it is open there"
    with caplog.at_level(logging.WARNING, "kafka_replica.producer"):
        scene.publish()
    for place in (scene.progress, *scene.places.values()):
        wait_decided(scene.bootstrap, place.topic, partition=place.partition)
    for number, key in KEYS.items():
        found = records_of(scene.bootstrap, scene.places[number])
        assert [(each.key, each.value) for each in found] == [(key.encode(), b"%d" % value) for value in (1, 2, 3)]
    was_committed = is_acknowledged or bool(decided and commit)
    assert ("committed" if was_committed else "aborted, to be sent again") in caplog.text
    assert "without a marker" in caplog.text


def test_an_aborted_attempt_before_the_committed_one_does_not_count(unverified: LocalKafka, tmp_path: Path) -> None:
    """Both attempts have the same number; only the second one was committed, and is open in the progress topic."""
    scene = Scene(unverified, tmp_path)
    scene.leave_open([scene.progress, *scene.places.values()], commit=False)
    scene.leave_open([*scene.places.values()], commit=True)
    scene.publish()
    for number in KEYS:
        wait_decided(scene.bootstrap, scene.topic, partition=number)
    assert scene.sent() == [1, 2, 3]


@pytest.mark.long
@pytest.mark.parametrize("incarnations", [1, 2])
@pytest.mark.parametrize(
    ("decided", "commit"),
    [
        pytest.param([0, 1], True, id="committed in the topic, open in the progress topic"),
        pytest.param(["progress", 1], True, id="committed, but open in one partition"),
        pytest.param(["progress"], True, id="committed in the progress topic only"),
        pytest.param([], True, id="no marker anywhere"),
        pytest.param([0], False, id="aborted in one partition"),
    ],
)  # fmt: skip
def test_an_open_transaction_of_a_former_incarnation(
    unverified: LocalKafka, tmp_path: Path, decided: list[int | str], commit: bool, incarnations: int
) -> None:
    """The transaction has the outcome that the log shows in any partition; it is sent again only if it was aborted."""
    scene = Scene(unverified, tmp_path)
    scene.leave_open(
        [scene.progress if each == "progress" else scene.places[int(each)] for each in decided], commit=commit
    )
    for _ in range(incarnations):
        scene.begin_incarnation()
    scene.publish()
    for place in (scene.progress, *scene.places.values()):
        wait_decided(scene.bootstrap, place.topic, partition=place.partition)
    assert scene.sent() == [1, 2, 3]


@pytest.fixture(autouse=True)
def _closed_databases() -> Iterator[None]:
    """Close the connections of each scene, which are used after its producer has ended."""
    yield
    while Scene.made:
        Scene.made.pop().engine.dispose()


class Overtaken(StructureProducer):
    """Do something at the first occurrence of a step, as other processes would meanwhile."""

    at: str
    meanwhile: Callable[[], None]

    def _step(self, name: str) -> None:
        if name == self.at:
            self.at = ""
            self.meanwhile()


@pytest.mark.long
def test_a_mark_of_an_instance_that_was_overtaken_is_refused(unverified: LocalKafka, tmp_path: Path) -> None:
    """Kafka has acknowledged a commit to the first instance, and written no marker; the second one has aborted it.

    If the first one marked the transaction now, it would never be sent again, and be missing.
    """
    scene = Scene(unverified, tmp_path)
    scene.leave_open([], commit=True)
    holder, marked = lease_holder(scene.engine), list[bool]()
    scene.publish("queried", lambda: marked.append(scene.queue.mark_sent(holder, 2, 2, incarnation=scene.incarnation)))
    assert marked == [False]
    assert scene.sent() == [1, 2, 3]


def test_an_instance_that_was_overtaken_ends_no_transaction(
    unverified: LocalKafka, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The other instance has sent and marked transaction 2 meanwhile; Kafka has written no marker of it.

    The first one does not abort it, but stands by, until the other one's lease has expired.
    """
    scene = Scene(unverified, tmp_path)

    def take_over() -> None:
        with scene.engine.begin() as connection:
            connection.execute(update(lease).values(owner="other", term=lease.c.term + 1))
        scene.leave_open([], commit=True)
        mark_sent(scene.queue, 2, 2)

    with caplog.at_level(logging.WARNING, "kafka_replica.producer"):
        scene.publish("taken up", take_over)
    assert scene.sent() == [1, 2, 3]
    assert caplog.text.index("another instance has taken over") < caplog.text.index("Kafka had left transaction 2")


def test_a_transaction_is_ended_only_if_nobody_else_has_initialized_the_id(
    unverified: LocalKafka, tmp_path: Path
) -> None:
    """The epoch that was read with the open parts has to be the current one; the other's transaction is not ended."""
    scene, another = Scene(unverified, tmp_path), unverified.create_topic(f"t-{uuid.uuid4().hex[:8]}")
    scene.leave_open([], commit=True)
    transactional_id, places = scene.settings.transactional_id, [scene.progress, *scene.places.values()]
    topics = [scene.progress.topic, scene.topic]
    with closing(TransactionInspector({"bootstrap.servers": scene.bootstrap}, topics, 10.0)) as inspector:
        producer, parts = inspector.open_parts(transactional_id, places)
        assert set(parts) == set(places)
        other = plain_producer(scene.bootstrap, transactional_id)
        for is_within in (False, True):
            if is_within:
                write(other, another, {"a": "1"}, commit=None)
            with pytest.raises(BrokerError, match="another producer has acquired the same transactional id"):
                inspector.end(transactional_id, producer, places, commit=True)
            newer, unchanged = inspector.open_parts(transactional_id, places)
            assert (newer.epoch, unchanged) == (producer.epoch + 1, parts)
        other.commit_transaction(30)
        assert [each.value for each in records_of(scene.bootstrap, Partition(another, 0))] == [b"1"]
        inspector.end(transactional_id, newer, places[:1], commit=True)
        inspector.end(transactional_id, newer, places[1:], commit=True)
    for place in places:
        wait_decided(scene.bootstrap, place.topic, partition=place.partition)
    assert scene.sent() == [1, 2]


class LosesMarkers(StructureProducer):
    """Leave a part of its transaction without a marker, although Kafka acknowledges the commit."""

    bootstrap: str
    part: Written

    def _step(self, name: str) -> None:
        if name == "committed":
            leave_open(self.bootstrap, self.settings.transactional_id, [self.part], [], commit=True)


def test_a_part_without_a_marker_is_ended_though_nothing_more_is_sent(unverified: LocalKafka, tmp_path: Path) -> None:
    """A part without a marker, at which readers would wait, is committed, because the commit was acknowledged."""
    bootstrap, name = unverified.bootstrap_servers, f"t-{uuid.uuid4().hex[:8]}"
    topic = unverified.create_topic(name, config=KEEP)
    settings = settings_of(bootstrap, topic, f"sqlite:///{tmp_path / 'o.db'}", prefix=topic)
    producer = LosesMarkers(settings)
    producer.bootstrap = bootstrap
    headers = transactions.write_transaction_headers(TransactionHeaders("structures/1", 2, 2, 0))
    producer.part = Written(Partition(topic, 0), b"late", b"1", headers)  # type: ignore[arg-type]
    with producer:
        with producer.engine.begin() as connection:
            producer.record(connection, [Put("a", b"1")])
        wait_until(lambda: producer.status().sent == 1, "it is acknowledged")
        assert wait_decided(bootstrap, topic, 120) > 2
        assert [each.key for each in records_of(bootstrap, Partition(topic, 0))] == [b"a", b"late"]


@pytest.mark.long
def test_another_producers_open_transaction_is_not_waited_for(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """Our own records before and after another producer's open transaction are seen, in both topics."""
    bootstrap, topic = local_kafka.bootstrap_servers, kafka_topic(config=KEEP)
    settings = settings_of(bootstrap, topic, f"sqlite:///{tmp_path / 'o.db'}", prefix=topic, timeout_s=5.0)
    others = {}

    def publish(settings: ProducerSettings, number: int) -> None:
        with StructureProducer(settings) as producer:
            Scene.record(producer, number)
            wait_until(lambda: producer.status().pending == 0, f"{number} is sent: {producer.status()}")

    publish(settings, 1)
    for name in (f"{topic}.progress", topic):
        others[name] = plain_producer(bootstrap, f"other-{name}")
        write(others[name], name, {"of another": "open"}, commit=None)
        assert ends(bootstrap, name)[0] < ends(bootstrap, name)[1]
    publish(settings, 2)
    publish(settings, 3)
    for other in others.values():
        other.abort_transaction(30)
    wait_decided(bootstrap, topic)
    found = records_of(bootstrap, Partition(topic, 0))
    assert [each.value for each in found] == [b"1", b"1", b"2", b"2", b"3", b"3"]


@pytest.mark.parametrize("arrived", [1, 2, 3])
@pytest.mark.parametrize("committed", [(), (2,), (3,)])
def test_one_marker_or_acknowledgement_decides(arrived: int, committed: tuple[int, ...]) -> None:
    """A transaction that was acknowledged, or has a commit marker, is committed; others' are aborted."""
    parts = {Partition("t", number): OpenPart(number, 0) for number in (1, 2, 3)}
    parts[Partition("t", 9)] = OpenPart(None, 0)
    expected = {Partition("t", number) for number in (1, 2, 3) if number <= arrived or number in committed}
    assert parts_to_commit(parts, arrived, committed) == expected
