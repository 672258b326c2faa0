"""The replica on a real broker: its content, its listeners, its status, its end."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from prometheus_client import CollectorRegistry, generate_latest

from kafka_replica import (
    BadRecordError,
    Change,
    ConfigurationError,
    MemoryStore,
    NotReadyError,
    Partition,
    Replica,
    ReplicaClosedError,
    State,
    UsageError,
    WaitTimeoutError,
)
from kafka_replica.common.compiled import parser_name
from kafka_replica.embedded import LocalKafka
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.errors import AuthenticationError, CommitUnknownError, PublishError, TopicNotFoundError
from kafka_replica.metrics.replica import export_replica
from kafka_replica.producer import TransactionalProducer
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.kafka_tools import producer, quiet, write
from support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.usefixtures("boundaries")]


_SOON_S = 30.0
"""Much shorter than an endless wait, and enough on a busy machine."""


def config(kafka: LocalKafka) -> dict[str, Any]:
    """Return the configuration of a client."""
    return quiet({"bootstrap.servers": kafka.bootstrap_servers})


def test_one_transaction_is_one_version(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """Keys of one transaction appear together; a tombstone removes its key; a snapshot does not change."""
    topic = kafka_topic("versions")
    writer = producer(local_kafka.bootstrap_servers, topic)
    with Replica(config(local_kafka), topic) as replica:
        before = replica.wait_ready(timeout_s=60)
        changes = replica.changes(timeout_s=60)
        first = next(changes)
        assert (first.version, first.initial, list(first.changed)) == (1, True, [])
        write(writer, topic, {"dsd": "1", "codelist": "1"})
        second = next(changes)
        assert (second.version, second.initial) == (2, False)
        assert set(second.changed) == {b"dsd", b"codelist"}
        write(writer, topic, {"dsd": None})
        third = next(changes)
        assert (set(third.changed), set(third.deleted)) == (set(), {b"dsd"})
        assert third.position.dominates(second.position)
        record = second.snapshot["dsd"]
        assert (record.value, record.offset, record.topic, record.partition) == (b"1", 0, topic, 0)
        assert abs(record.timestamp_ms - time.time() * 1000) < 60_000
        assert "dsd" not in third.snapshot
        assert len(before) == 0
        assert len(replica.snapshot()) == 1
        assert replica.status().counts.tombstones == 1


def test_headers_and_odd_records_come_through(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """Headers keep order, repetitions and nulls; an empty value is a value; a key need not be UTF-8."""
    topic = kafka_topic("odd")
    writer = producer(local_kafka.bootstrap_servers, topic)
    writer.begin_transaction()
    writer.produce(topic, key=b"\xff\x00", value=b"", headers=[("a", b"1"), ("a", None), ("b", b"\xfe")])
    writer.produce(topic, key=b"", value=b"of the empty key")
    writer.commit_transaction()
    with Replica(config(local_kafka), topic) as replica:
        replica.wait_ready(timeout_s=60)
        wait_until(lambda: len(replica.snapshot()) == 2)
        snapshot = replica.snapshot()
        assert snapshot[b"\xff\x00"].value == b""
        assert snapshot[b"\xff\x00"].headers == (("a", b"1"), ("a", None), ("b", b"\xfe"))
        assert snapshot[""].value == b"of the empty key"


def test_writers_without_transactions_are_followed_too(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """Records of a plain producer show up as they arrive."""
    from confluent_kafka import Producer

    topic = kafka_topic("plain")
    plain = Producer(config(local_kafka))
    with Replica(config(local_kafka), topic) as replica:
        replica.wait_ready(timeout_s=60)
        plain.produce(topic, key="k", value="v")
        plain.flush()
        wait_until(lambda: "k" in replica.snapshot())


def test_late_and_slow_and_broken_listeners(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """A late listener first gets the whole state; a slow one gets merged changes; a broken one affects no other."""
    topic = kafka_topic("listeners")
    writer = producer(local_kafka.bootstrap_servers, topic)
    slow_may_go, slow, late = threading.Event(), list[Change](), list[Change]()

    def be_slow(change: Change) -> None:
        slow_may_go.wait(30)
        slow.append(change)

    def be_broken(_change: Change) -> None:
        raise RuntimeError("planned")

    with Replica(config(local_kafka), topic) as replica:
        replica.wait_ready(timeout_s=60)
        replica.subscribe(be_slow, max_pending=2)
        broken = replica.subscribe(be_broken)
        for number in range(8):
            write(writer, topic, {"k": str(number), f"only-{number}": "x"})
            wait_until(lambda number=number: f"only-{number}" in replica.snapshot())  # type: ignore[misc] # a lambda with a default
        replica.subscribe(late.append)
        wait_until(lambda: late)
        assert late[0].initial
        assert len(late[0].changed) == 9
        slow_may_go.set()
        wait_until(lambda: slow and slow[-1].version == replica.snapshot().version)
        assert sum(change.conflated for change in slow) == replica.snapshot().version
        assert any(change.conflated > 1 for change in slow)
        wait_until(lambda: replica.status().counts.listener_errors == replica.snapshot().version)
        assert isinstance(broken.last_error, RuntimeError)


def test_a_record_without_key_stops_or_is_set_aside(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """G6: stop keeps the last good version and reports the place; skip lists and counts the record, and continues."""
    topic = kafka_topic("keyless", config={"cleanup.policy": "delete"})
    writer = producer(local_kafka.bootstrap_servers, topic)
    with Replica(config(local_kafka), topic) as stopping:
        stopping.wait_ready(timeout_s=60)
        write(writer, topic, {"good": "1"})
        wait_until(lambda: "good" in stopping.snapshot())
        writer.begin_transaction()
        writer.produce(topic, key=b"other", value=b"1")
        writer.produce(topic, value=b"no key")
        writer.commit_transaction()
        wait_until(lambda: stopping.state is State.FAILED)
        assert "it has no key" in (stopping.status().last_error or "")
        assert set(stopping.snapshot()) == {b"good"}
        changes = stopping.changes(timeout_s=5)
        assert next(changes).initial
        with pytest.raises(BadRecordError) as raised:
            next(changes)
        assert (raised.value.topic, raised.value.partition, raised.value.offset) == (topic, 0, 3)
    with Replica(config(local_kafka), topic, on_bad_record="skip") as skipping:
        assert set(skipping.wait_ready(timeout_s=60)) == {b"good", b"other"}
        assert [bad.offset for bad in skipping.bad_records] == [3]
        assert skipping.status().counts.bad_records == 1


def test_a_topic_that_is_not_there(local_kafka: LocalKafka) -> None:
    """A missing topic is named in every error, if the replica does not wait for it."""
    with Replica(config(local_kafka), "nowhere", wait_for_topic=False) as replica:
        with pytest.raises(TopicNotFoundError, match="looking up topic nowhere"):
            replica.wait_ready(timeout_s=60)
        with pytest.raises(TopicNotFoundError):
            replica.snapshot()
        assert replica.state is State.FAILED


def test_a_log_that_was_cut_off_at_its_front(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """A log need not begin at 0; a log that loses its beginning just before reading begins is read nevertheless."""
    topic = kafka_topic("front", config={"cleanup.policy": "compact,delete"})
    write(producer(local_kafka.bootstrap_servers, topic), topic, {f"k{i}": "x" for i in range(10)})
    admin = AdminClient(config(local_kafka))
    place = TopicPartition(topic, 0, 4)
    admin.delete_records([place])[place].result(10)
    with Replica(config(local_kafka), topic) as replica:
        assert set(replica.wait_ready(timeout_s=60)) == {f"k{i}".encode() for i in range(4, 10)}


def test_waiting_for_positions_gives_a_version_that_contains_them(
    local_kafka: LocalKafka, kafka_topic: TopicMaker
) -> None:
    """Waiting for a transaction's positions always gives a version that contains it; a future position times out."""
    topic = kafka_topic("mine")
    mine = TransactionalProducer(config(local_kafka), topic, topic)
    with Replica(config(local_kafka), topic) as replica:
        for number in range(30):
            with mine.transaction() as transaction:
                transaction.put("k", str(number).encode())
            snapshot = replica.wait_for(transaction.committed.position, timeout_s=60)
            assert snapshot["k"].value == str(number).encode()
        with pytest.raises(WaitTimeoutError, match="did not reach"):
            replica.wait_for({Partition(topic, 0): 10_000}, timeout_s=0.2)
    with pytest.raises(ReplicaClosedError):
        replica.wait_for({Partition(topic, 0): 10_000}, timeout_s=5)


def test_a_topic_that_comes_later(local_kafka: LocalKafka) -> None:
    """A replica waits for a later topic, reports this, and then follows the topic."""
    topic = f"later-{os.urandom(4).hex()}"
    with Replica(config(local_kafka), topic) as replica:
        wait_until(lambda: f"looking up topic {topic}" in (replica.status().last_error or ""))
        with pytest.raises(WaitTimeoutError, match=f"looking up topic {topic}"):
            replica.wait_ready(timeout_s=1)
        assert replica.state is State.CATCHING_UP
        local_kafka.create_topic(topic, 2, {"cleanup.policy": "compact"})
        replica.wait_ready(timeout_s=60)
        write(producer(local_kafka.bootstrap_servers, topic), topic, {f"k{i}": "x" for i in range(9)})
        wait_until(lambda: len(replica.snapshot()) == 9)


def test_a_replica_fails_when_its_topic_is_deleted(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """A replica that does not wait for topics fails when its topic is deleted, and still serves its last version."""
    topic = kafka_topic("gone")
    write(producer(local_kafka.bootstrap_servers, topic), topic, {"k": "x"})
    with Replica(config(local_kafka), topic, wait_for_topic=False) as replica:
        replica.wait_ready(timeout_s=60)
        admin = AdminClient(config(local_kafka))
        admin.delete_topics([topic])[topic].result(10)
        wait_until(lambda: replica.state is State.FAILED)
        assert topic in (replica.status().last_error or "")
        assert "k" in replica.snapshot()


@pytest.mark.parametrize("attempt", range(3))
def test_a_recreated_topic_is_never_mixed_with_the_old_one(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, attempt: int
) -> None:
    """A topic recreated so fast that reading continues, and longer than before, is never mixed with the old one."""
    topic = kafka_topic(f"again-{attempt}")
    write(producer(local_kafka.bootstrap_servers, topic), topic, {f"old{i}": "x" for i in range(20)})
    with Replica(config(local_kafka), topic) as replica:
        replica.wait_ready(timeout_s=60)
        wait_until(lambda: len(replica.snapshot()) == 20)  # a commit returns before readers see it
        heard: list[Change] = []
        replica.subscribe(heard.append)
        admin = AdminClient(config(local_kafka))
        fresh = producer(local_kafka.bootstrap_servers, f"{topic}-new")
        admin.delete_topics([topic])[topic].result(10)
        wait_until(lambda: _made(local_kafka, topic))
        write(fresh, topic, {f"new{i}": "x" for i in range(30)})
        wait_until(lambda: len(replica.snapshot()) == 30 and heard[-1].version == replica.snapshot().version)
        assert replica.status().counts.rebuilds == 1
    assert {key[:3] for key in heard[0].snapshot} == {b"old"}
    kinds = [{key[:3] for key in change.snapshot} for change in heard]
    assert all(len(kind) <= 1 for kind in kinds)
    gone = {key for change in heard[1:] for key in change.deleted}
    assert gone == set(heard[0].snapshot)


def _made(kafka: LocalKafka, topic: str) -> bool:
    try:
        kafka.create_topic(topic, 1, {"cleanup.policy": "compact"})
    except EmbeddedKafkaError:
        return False
    return True


def test_a_wrong_password_is_reported_as_a_rejection(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """SASL to a listener without SASL is reported as a rejection, not as a broker that does not answer."""
    wrong = {**config(local_kafka), "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    secret = {**wrong, "sasl.username": "u", "sasl.password": "hunter2"}
    with Replica(secret, kafka_topic("sasl")) as replica:
        with pytest.raises(AuthenticationError, match="sasl") as raised:
            replica.wait_ready(timeout_s=60)
        assert "hunter2" not in str(raised.value)


def test_a_store_is_of_one_replica_at_a_time(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """The next replica of a store continues from it; a replica of another topic starts from scratch."""
    topic, other, store = kafka_topic("store"), kafka_topic("other"), MemoryStore()
    write(producer(local_kafka.bootstrap_servers, topic), topic, {"k": "x"})
    with Replica(config(local_kafka), topic, store) as replica:
        replica.wait_ready(timeout_s=60)
        with pytest.raises(ConfigurationError, match="a store of its own"):
            Replica(config(local_kafka), topic, store)
    with Replica(config(local_kafka), topic, store) as replica:
        assert set(replica.wait_ready(timeout_s=60)) == {b"k"}
        assert replica.status().counts.records == 0
    with Replica(config(local_kafka), other, store) as replica:
        assert not replica.wait_ready(timeout_s=60)


@pytest.mark.long
def test_a_commit_without_an_answer(local_kafka: LocalKafka) -> None:
    """A broker that stops answering at the commit causes a clear error in time; a new producer can continue."""
    with LocalKafka() as kafka:
        kafka.create_topic("t", 1, {"cleanup.policy": "compact"})
        with TransactionalProducer(config(kafka), "t", "first").transaction() as transaction:
            transaction.put("k", b"")  # the first transaction of a broker takes longer than others
        mine = TransactionalProducer(config(kafka), "t", "mine", timeout_s=3)
        with mine.transaction() as transaction:
            transaction.put("k", b"0")
        began_s = time.monotonic()
        with pytest.raises((CommitUnknownError, PublishError)), mine.transaction() as transaction:  # noqa: PT012
            transaction.put("k", b"1")
            mine._writer._producer.flush(5)
            kafka.pause()
        assert time.monotonic() - began_s < _SOON_S
        kafka.resume()
        with TransactionalProducer(config(kafka), "t", "mine").transaction() as transaction:
            transaction.put("k", b"2")
        with Replica(config(kafka), "t") as replica:
            assert replica.wait_for(transaction.committed.position, timeout_s=60)["k"].value == b"2"


def test_life_and_its_end(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """Misuse such as a second start, or use after closing, gives advice; snapshots stay readable."""
    topic = kafka_topic("life")
    write(producer(local_kafka.bootstrap_servers, topic), topic, {"k": "v"})
    replica = Replica(config(local_kafka), topic)
    at_first = replica.state
    assert at_first is State.NEW
    with pytest.raises(NotReadyError, match="start"):
        replica.wait_ready(timeout_s=1)
    with pytest.raises(NotReadyError, match="wait_ready"):
        replica.snapshot()
    heard: list[Change] = []
    replica.subscribe(heard.append)
    with replica.start() as same:
        assert same is replica
        snapshot = replica.wait_ready(timeout_s=60)
        wait_until(lambda: heard)
        with pytest.raises(UsageError, match="cannot be pickled"):
            pickle.dumps(replica)
    replica.close()
    assert replica.state is State.STOPPED
    assert snapshot["k"].value == b"v"
    for used in (replica.start, lambda: replica.subscribe(heard.append), replica.changes):
        with pytest.raises(ReplicaClosedError):
            used()
    alive = [thread.name for thread in threading.enumerate() if topic in thread.name]
    assert alive == []


def test_closing_from_listeners(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """Two listeners that both close the replica do not wait for each other."""
    replica = Replica(config(local_kafka), kafka_topic("self"))
    both = threading.Barrier(2, timeout=60)
    closed = [threading.Event(), threading.Event()]

    def closer(number: int) -> Callable[[Change], None]:
        def listen(_change: Change) -> None:
            both.wait()
            replica.close()
            closed[number].set()

        return listen

    for number in range(2):
        replica.subscribe(closer(number))
    replica.start()
    assert all(event.wait(60) for event in closed)


def test_closing_in_a_signal_handler_that_interrupts_a_question(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal handler that closes a replica while its thread queries the status does not wait for itself."""
    monkeypatch.setattr("kafka_replica.replica._CLOSE_S", 2 * _SOON_S)
    topic = kafka_topic("busy")
    for _ in range(3):
        replica = Replica(config(local_kafka), topic).start()
        replica.wait_ready(timeout_s=60)
        before = signal.signal(signal.SIGUSR1, lambda *_, replica=replica: replica.close())
        try:
            threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
            began_s = time.monotonic()
            while replica.status().state is not State.STOPPED:
                assert time.monotonic() - began_s < _SOON_S
        finally:
            signal.signal(signal.SIGUSR1, before)
        assert time.monotonic() - began_s < _SOON_S


def test_closing_in_a_signal_handler(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """A signal handler that closes the replica ends every wait of the main thread in the replica."""
    replica = Replica(config(local_kafka), kafka_topic("signal")).start()
    replica.wait_ready(timeout_s=60)
    before = signal.signal(signal.SIGUSR1, lambda *_: replica.close())
    try:
        changes = replica.changes(timeout_s=60)
        assert next(changes).version == 1
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
        assert list(changes) == []
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert replica.state is State.STOPPED


def test_closing_the_replica_ends_iterators_in_other_threads(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """An iterator in another thread ends when the replica is closed."""
    topic = kafka_topic("closing")
    seen: list[int] = []
    with Replica(config(local_kafka), topic) as replica:
        replica.wait_ready(timeout_s=60)
        waiting = threading.Thread(target=lambda: seen.extend(change.version for change in replica.changes()))
        waiting.start()
        wait_until(lambda: replica._publisher._mailboxes)
    waiting.join(_SOON_S)
    assert not waiting.is_alive()
    assert seen == [1]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forking with threads is the subject of the test
def test_using_a_replica_in_a_forked_child_raises_with_advice(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """In a forked child, which has none of the threads, using the replica raises with advice."""
    with Replica(config(local_kafka), kafka_topic("fork")) as replica:
        replica.wait_ready(timeout_s=60)
        child = os.fork()
        if child == 0:
            try:
                replica.snapshot()
            except UsageError as error:
                os._exit(17 if "after the fork" in str(error) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17


def test_a_stopped_broker_makes_the_replica_stalled_until_it_restarts(caplog: pytest.LogCaptureFixture) -> None:
    """A stopped broker makes the replica stalled in time; it serves its version, and is live after the restart."""
    with LocalKafka() as kafka:
        kafka.create_topic("t", 1, {"cleanup.policy": "compact"})
        writer = producer(kafka.bootstrap_servers, "w")
        write(writer, "t", {"k": "1"})
        with (
            Replica(config(kafka), "t", stalled_after_s=2) as replica,
            Replica(config(kafka), "t", stalled_after_s=600) as patient,
        ):
            replica.wait_ready(timeout_s=60)
            patient.wait_ready(timeout_s=60)
            kafka.pause()
            wait_until(lambda: replica.state is State.STALLED)
            assert patient.state is State.LIVE
            patient.close()
            assert "k" in replica.snapshot()
            kafka.resume()
            wait_until(lambda: replica.state is State.LIVE)
            wait_until(lambda: replica.status().last_error is None)
            caplog.clear()
            kafka.restart()
            write(producer(kafka.bootstrap_servers, "w"), "t", {"k": "2"})
            wait_until(lambda: replica.snapshot()["k"].value == b"2")
            wait_until(lambda: replica.state is State.LIVE)
            assert len({record.getMessage() for record in caplog.records}) < 20, [
                record.getMessage() for record in caplog.records
            ]


def test_a_broker_that_is_not_there() -> None:
    """Without a broker the replica is not ready in time and gives advice; the state shows it; close() returns."""
    replica = Replica(quiet({"bootstrap.servers": "127.0.0.1:1"}), "t", stalled_after_s=1).start()
    with pytest.raises(WaitTimeoutError, match=r"check bootstrap\.servers"):
        replica.wait_ready(timeout_s=2)
    assert replica.state is State.STALLED
    began_s = time.monotonic()
    replica.close()
    assert time.monotonic() - began_s < _SOON_S


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({}, "bootstrap.servers"),
        ({"bootstrap.servers": "x:1", "isolation.level": "read_uncommitted"}, "aborted records"),
        ({"bootstrap.servers": "x:1", "enable.auto.commit": True}, "positions"),
        ({"bootstrap.servers": "x:1", "auto.offset.reset": "latest"}, "gap"),
        ([("bootstrap.servers", "x:1")], "mapping"),
    ],
)
def test_settings_that_would_break_a_promise(broken: object, says: str) -> None:
    """Settings that would break a guarantee are rejected on creation, with the reason."""
    with pytest.raises(ConfigurationError, match=says):
        Replica(broken, "t")  # type: ignore[arg-type] # one of them is what it tests


@pytest.mark.parametrize("topic", ["", None, b"t", 3, ["t"]])
def test_a_topic_is_named_by_text(topic: object) -> None:
    """A topic that is not a text is rejected on creation."""
    with pytest.raises(ConfigurationError, match="topic"):
        Replica({"bootstrap.servers": "x:1"}, topic)  # type: ignore[arg-type] # is what it tests


def test_an_unknown_property_is_reported_by_name() -> None:
    """A property that librdkafka does not know is reported by name."""
    with (
        pytest.raises(ConfigurationError, match=r"no\.such\.property"),
        Replica({"bootstrap.servers": "127.0.0.1:1", "no.such.property": "1"}, "t") as replica,
    ):
        replica.wait_ready(timeout_s=10)


def test_metrics_of_two_replicas(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """Two replicas in one registry have the documented metrics, and differ by their label."""
    topic = kafka_topic("metrics")
    write(producer(local_kafka.bootstrap_servers, topic), topic, {"a": "1", "b": "2"})
    registry = CollectorRegistry()
    with Replica(config(local_kafka), topic) as one, Replica(config(local_kafka), topic) as two:
        export_replica(one, registry=registry)
        export_replica(two, name="second", registry=registry)
        for replica in (one, two):
            replica.wait_ready(timeout_s=60)
            wait_until(lambda replica=replica: replica.status().lag_records == 0)  # type: ignore[misc] # a lambda with a default
        text = generate_latest(registry).decode()
        parsed_by = one.status().parser
    assert parsed_by in {parser_name(), None}  # None with quiescence, where librdkafka parses
    for name in (topic, "second"):
        labels = f'replica="{name}",topic="{topic}"'
        assert f"kafka_replica_keys{{{labels}}} 2.0" in text
        assert f"kafka_replica_lag_records{{{labels}}} 0.0" in text
        assert f"kafka_replica_records_total{{{labels}}} 2.0" in text
        assert f'kafka_replica_state{{replica="{name}",state="live",topic="{topic}"}} 1.0' in text
        parser = f'parser="{parser_name()}",replica="{name}",topic="{topic}"'
        assert (f"kafka_replica_parser{{{parser}}} 1.0" in text) == (parsed_by is not None)
        assert f'kafka_replica_high_watermark{{partition="0",{labels}}} 3.0' in text


def test_closed_while_starting(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """close() right after start() ends cleanly, and waiting threads get an error."""
    replica = Replica(config(local_kafka), kafka_topic("starting")).start()
    replica.close()
    with pytest.raises(ReplicaClosedError):
        replica.start()
    assert replica.state is State.STOPPED
