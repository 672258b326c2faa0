"""``FakeTopic``: the contract of topics, and its own features."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from typing import Any

import pytest

from kafka_replica import Change, Partition, Position, Replica, State, UsageError
from kafka_replica.broker.reading.contract import LogReader
from kafka_replica.broker.reading.readers import Boundaries
from kafka_replica.errors import (
    AuthenticationError,
    AuthorizationError,
    CommitUnknownError,
    PublishError,
    RecordNotSentError,
    TopicNotFoundError,
)
from kafka_replica.producer import TransactionalProducer
from kafka_replica.replication import follower
from kafka_replica.replication.opening import MakeReader
from kafka_replica.testing import FakeKafka, FakeTopic
from kafka_replica.testing.fake_reader import FakeReader
from kafka_replica.testing.fake_replica import make_fake_reader
from kafka_replica.transactions import Batch, BoundaryDetector, Decision, Kind, MarkerDetector, Reading
from support.broker.fake_backend import FakeBackend
from support.broker.topic_backend import PATIENCE_S
from support.broker.topic_contract import TopicContract, both_kinds, values
from support.broker.topic_history import BackendPlayer, random_history
from support.waiting import wait_until


class TestFakeTopic(TopicContract):
    """``FakeTopic`` fulfils the contract of topics."""

    def make(self, partitions: int = 1, *, takes_any_key: bool = False) -> FakeBackend:
        """Make a fake topic, which takes any key."""
        return FakeBackend(partitions)


# --- usage ---


def test_the_simplest_use() -> None:
    """Three lines suffice: a topic, a replica, a transaction; only the transaction has to be waited for."""
    topic = FakeTopic()
    with topic.replica() as replica:
        with topic.transaction() as transaction:
            transaction.put("a", b"1")
        snapshot = replica.wait_for(transaction.committed.position, PATIENCE_S)
        assert values(snapshot) == {"a": b"1"}
        assert [record.value for record in topic.records()] == [b"1"]


def test_a_block_that_raises_aborts() -> None:
    """A block that raises aborts; a block that ended its transaction itself does nothing more."""
    topic = FakeTopic()
    with pytest.raises(ZeroDivisionError), topic.transaction() as transaction:
        transaction.put("a", str(1 // 0).encode())
    with topic.transaction() as transaction:
        transaction.put("b", b"1")
        transaction.abort()
    with topic.transaction() as transaction:
        transaction.put("c", b"1")
        transaction.commit()
    assert [record.key for record in topic.records()] == [b"c"]
    assert topic.open_transactions == []


def test_writing_returns_the_position_to_wait_for() -> None:
    """Writing a record outside transactions returns the position to wait for, and keeps all given properties."""
    topic = FakeTopic(partitions=3)
    with topic.replica() as replica:
        positions = topic.put(b"a", b"1", (("h", b"x"),), partition=2, timestamp_ms=5)
        assert positions == Position({topic.partitions[2]: 1})
        record = replica.wait_for(positions, PATIENCE_S)["a"]
        assert (record.partition, record.timestamp_ms, record.headers) == (2, 5, (("h", b"x"),))
        assert len(replica.wait_for(topic.delete("a", partition=2), PATIENCE_S)) == 0


def test_a_transaction_over_two_topics_shows_at_once() -> None:
    """A transaction over two topics becomes visible at once in a replica of both."""
    kafka = FakeKafka()
    kafka.topic("codes")
    flows = kafka.topic("flows", partitions=2)
    heard: list[Change] = []
    with kafka.replica("codes", "flows", one_key_space=True) as replica:
        replica.subscribe(heard.append, max_pending=1000)
        for number in range(5):
            with kafka.transaction("codes") as transaction:
                transaction.put("a", str(number).encode())
                transaction.put("b", str(number).encode(), topic="flows")
        snapshot = replica.wait_for(transaction.committed.position, PATIENCE_S)
        wait_until(lambda: heard and heard[-1].version == snapshot.version)
    assert {len(set(values(change.snapshot).values())) for change in heard if change.snapshot} == {1}
    assert [record.topic for record in flows.records()] == ["flows"] * 5


def test_mistakes_are_reported_in_the_callers_terms() -> None:
    """Each mistake is reported in the caller's terms."""
    topic = FakeTopic("t", partitions=2)
    with pytest.raises(UsageError, match=r"key 'a'.*str, not bytes"):
        topic.put("a", "text")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="NoneType, not bytes"), topic.transaction() as transaction:
        transaction.put("a", None)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="was aborted"):
        transaction.commit()
    with pytest.raises(UsageError, match="2 partitions; there is no t-2"):
        topic.put("a", b"1", partition=2)
    with pytest.raises(UsageError, match="only grow"):
        topic.add_partitions(2)
    with pytest.raises(UsageError, match="already"):
        topic.kafka.topic("t")
    with pytest.raises(UsageError, match="without a topic"), topic.kafka.transaction() as transaction:
        transaction.put("a", b"1")
    with pytest.raises(TopicNotFoundError), topic.kafka.transaction("other") as transaction:
        transaction.put("a", b"1")
    with pytest.raises(UsageError, match="at least one partition"):
        FakeTopic("none", partitions=0)
    assert topic.end() == Position(dict.fromkeys(topic.partitions, 0))
    assert topic.open_transactions == []


@pytest.mark.thorough
def test_the_package_alone_loads_no_client_of_kafka() -> None:
    """Importing the package loads no Kafka client: every pytest run imports it for its fixtures."""
    code = "import sys, kafka_replica.testing.pytest_plugin; sys.exit('confluent_kafka' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- threads ---


def test_the_first_record_or_a_failure_ends_a_wait() -> None:
    """A read that may wait for ten minutes ends with the first record, and also when the broker fails."""
    topic = FakeTopic()
    for wake in (lambda: topic.put("a", b"1"), lambda: topic.fail(AuthorizationError("planned"))):
        source = FakeReader(topic.kafka.cluster, [topic.name], committed_only=False)
        source.open()
        source.read(0)
        came: list[object] = []

        def read(source: LogReader = source, came: list[object] = came) -> None:
            try:
                came.extend(source.read(600).reading.batches)
            except AuthorizationError as error:
                came.append(error)

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        wake()
        reader.join(PATIENCE_S)
        assert len(came) == 1


def test_closing_wakes_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing wakes the reader, however long it might wait: tests have many replicas."""
    monkeypatch.setattr(follower, "_READ_S", 600.0)
    with FakeTopic().replica() as replica:
        replica.wait_ready(PATIENCE_S)
        thread = replica._thread
        assert thread is not None
        assert thread.is_alive()
    assert not thread.is_alive()


@pytest.mark.thorough
def test_many_writers_at_once() -> None:
    """Four threads write whole transactions over three partitions: no version shows a part of one."""
    topic = FakeTopic(partitions=3)
    torn: list[str] = []

    def look(change: Change) -> None:
        for writer in range(4):
            found = {change.snapshot.get(f"{writer}-{number}") for number in range(6)}
            if len({record.value if record else None for record in found}) > 1:
                torn.append(f"version {change.version} of writer {writer}")

    def write(writer: int) -> None:
        dice = random.Random(writer)
        for number in range(60):
            transaction = topic.begin()
            for key in range(6):
                transaction.put(f"{writer}-{key}", str(number).encode())
            (transaction.abort if dice.random() < 0.2 else transaction.commit)()

    with topic.replica() as replica:
        replica.subscribe(look, max_pending=10_000)
        writers = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
        for thread in writers:
            thread.start()
        for thread in writers:
            thread.join(PATIENCE_S)
        snapshot = replica.wait_for(topic.end(), PATIENCE_S)
    assert torn == []
    assert snapshot.version > 1
    assert values(snapshot) == {record.key.decode(): record.value for record in topic.records()}


class _Careless(MarkerDetector):
    """The detector with its rule switched off: records of a transaction count before the commit."""

    def take(self, reading: Reading, *, every_point: bool) -> list[Decision]:
        def careless(batch: Batch) -> Batch:
            return batch._replace(kind=Kind.PLAIN) if batch.kind is Kind.DATA else batch

        return super().take(reading._replace(batches=list(map(careless, reading.batches))), every_point=every_point)


def test_a_careless_rule_is_found_out() -> None:
    """With the rule switched off a replica shows half a transaction: the fake's fetches can be torn."""
    topic = FakeTopic()

    def make_reader(
        config: Mapping[str, Any], topics: Iterable[str], boundaries: Boundaries
    ) -> tuple[LogReader, BoundaryDetector]:
        return make_fake_reader(topic.kafka.cluster, topics, boundaries)[0], _Careless()

    class CarelessReplica(Replica):
        def _reader_factory(self) -> MakeReader:
            return make_reader

    with CarelessReplica({"bootstrap.servers": "fake.invalid:9092"}, topic.name) as replica:
        transaction = topic.begin()
        transaction.put("a", b"1")
        wait_until(lambda: replica.state == State.LIVE and "a" in replica.snapshot())
        transaction.abort()


# --- failures ---


def test_records_written_without_a_broker_are_seen_afterwards() -> None:
    """A test can write while the broker is gone; the replica sees the records afterwards."""
    topic = FakeTopic()
    with topic.replica(stalled_after_s=0.2) as replica:
        replica.wait_ready(PATIENCE_S)
        with topic.outage():
            positions = topic.put("a", b"1")
            wait_until(lambda: replica.state == State.STALLED)
            assert "a" not in replica.snapshot()
            wait_until(lambda: "unavailable" in (replica.status().last_error or ""))
        assert "a" in replica.wait_for(positions, PATIENCE_S)


def test_an_error_that_is_final() -> None:
    """A fatal error ends every replica until the broker recovers; then a new replica works."""
    topic = FakeTopic()
    topic.put("a", b"1")
    with topic.replica() as replica:
        replica.wait_ready(PATIENCE_S)
        topic.fail(AuthorizationError("planned"))
        with pytest.raises(AuthorizationError, match="planned"):
            replica.wait_for(Position({topic.partitions[0]: 9}), PATIENCE_S)
        assert replica.state == State.FAILED
        assert "a" in replica.snapshot()
    with topic.replica() as replica, pytest.raises(AuthorizationError, match="planned"):
        replica.wait_ready(PATIENCE_S)
    topic.recover()
    with topic.replica() as replica:
        assert len(replica.wait_ready(PATIENCE_S)) == 1


def test_a_refusal_is_final_at_first_and_may_pass_later() -> None:
    """A refusal is final for a replica that never connected, as with a real broker; a connected replica retries."""
    topic = FakeTopic()
    with topic.replica() as replica:
        replica.wait_ready(PATIENCE_S)
        topic.fail(AuthenticationError("planned"))
        wait_until(lambda: "planned" in (replica.status().last_error or ""))
        with topic.replica() as other, pytest.raises(AuthenticationError, match="planned"):
            other.wait_ready(PATIENCE_S)
        topic.recover()
        assert "a" in replica.wait_for(topic.put("a", b"1"), PATIENCE_S)


@pytest.mark.parametrize("commits", [True, False])
def test_a_commit_without_an_answer_is_in_the_hands_of_the_test(commits: bool) -> None:
    """A commit without an answer leaves the transaction open; the test decides how it ended."""
    topic = FakeTopic()
    producer = topic.producer()

    def publish(stack: ExitStack) -> None:
        with producer.transaction() as transaction:
            transaction.put("a", b"1")
            stack.enter_context(topic.outage())

    with ExitStack() as stack, pytest.raises(CommitUnknownError):
        publish(stack)
    [held] = topic.open_transactions
    (held.commit if commits else held.abort)()
    assert len(topic.records()) == commits


def test_a_block_that_raises_without_a_broker_leaves_its_transaction_open() -> None:
    """A block that raises while the broker is gone leaves its transaction open; the producer's next one aborts it."""
    topic = FakeTopic()
    producer = topic.producer()
    with topic.outage(), suppress(ZeroDivisionError), producer.transaction() as transaction:
        transaction.put("a", b"1")
        transaction.put("b", str(1 // 0).encode())
    assert len(topic.open_transactions) == 1
    with producer.transaction() as transaction:
        transaction.put("a", b"2")
    assert topic.open_transactions == []
    assert [record.value for record in topic.records()] == [b"2"]


def test_a_refusal_leaves_the_transaction_uncommitted() -> None:
    """A refusal by the broker leaves the transaction uncommitted, and the producer may try again."""
    topic = FakeTopic()
    producer: TransactionalProducer = topic.producer()
    topic.fail(AuthorizationError("planned"))
    with pytest.raises(PublishError, match="planned"), producer.transaction() as transaction:
        transaction.put("a", b"1")
    assert topic.records() == []
    topic.recover()
    with producer.transaction() as transaction:
        transaction.put("a", b"2")
    assert [record.value for record in topic.records()] == [b"2"]
    assert topic.open_transactions == []


def test_a_producer_refuses_a_header_name_that_a_real_one_cannot_send() -> None:
    """Readers return such names, so that code which forwards records may pass them on."""
    topic = FakeTopic()
    with pytest.raises(RecordNotSentError, match="the name of the header"), topic.producer().transaction() as sending:
        sending.put("a", b"1", (("Gr\udcf6\udcdfe", b"1"),))
    assert topic.records() == []
    assert topic.open_transactions == []
    topic.put("a", b"1", (("Gr\udcf6\udcdfe", b"1"),))  # other programs write such names


# --- the log ---


def test_epochs_as_kafkas_java_client_has_them() -> None:
    """Epochs match those of kafka-clients 4.3.0 (KIP-890): a marker has the next epoch, a fenced producer's its own."""
    backend = FakeBackend()
    topic = backend.topic = FakeTopic("fake", kafka=FakeKafka(bumps_epochs=True))
    producer = topic.producer()
    for key in "ab":
        with producer.transaction() as transaction:
            transaction.put(key, b"1")
    with producer.transaction():
        pass
    with ExitStack() as stack:
        stack.enter_context(producer.transaction()).put("open", b"1")
        producer = topic.producer()
        with pytest.raises(PublishError, match="acquired"):
            stack.close()
    with producer.transaction() as transaction:
        transaction.put("new", b"1")
    entries = backend.look().entries
    assert [(entry.kind.name, entry.epoch) for entry in entries] == [
        ("DATA", 0), ("COMMIT", 1), ("DATA", 1), ("COMMIT", 2), ("DATA", 2), ("ABORT", 3), ("DATA", 4), ("COMMIT", 5),
    ]  # fmt: skip
    with topic.replica() as replica:
        assert set(values(replica.wait_ready(PATIENCE_S))) == {"a", "b", "new"}


@both_kinds
def test_compaction_before_tombstones_may_go(boundaries: Boundaries) -> None:
    """Within ``delete.retention.ms`` tombstones and markers stay: a replica sees the deletion."""
    backend = FakeBackend()
    topic = backend.topic
    backend.write({"a": b"1", "b": b"1"})
    with topic.replica(boundaries=boundaries) as replica:
        replica.wait_ready(PATIENCE_S)
        backend.write({"a": None})
        topic.put("c", b"1")
        topic.compact(keep_tombstones=True)
        offsets = [entry.offset for entry in backend.look().entries]
        assert offsets == [1, 2, 3, 4, 5]
        replica.wait_for(topic.end(), PATIENCE_S)
        topic.compact()
        # The marker at 4 is its producer's last one.
        assert [entry.offset for entry in backend.look().entries] == [1, 2, 4, 5]
        assert values(replica.wait_for(topic.end(), PATIENCE_S)) == {"b": b"1", "c": b"1"}


@both_kinds
def test_a_log_that_ends_in_a_hole(boundaries: Boundaries) -> None:
    """A replica becomes ready although the log ends in a gap, where no record will ever appear."""
    backend = FakeBackend()
    topic = backend.topic
    topic.put("a", b"1")
    topic.put("b", b"1")
    topic.delete("b")
    topic.compact(keep_last=False)
    assert [entry.offset for entry in backend.look().entries] == [0]
    with topic.replica(boundaries=boundaries) as replica:
        snapshot = replica.wait_ready(PATIENCE_S)
        assert (values(snapshot), snapshot.position) == ({"a": b"1"}, Position({topic.partitions[0]: 3}))
        assert "c" in replica.wait_for(topic.put("c", b"1"), PATIENCE_S)


@both_kinds
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.thorough
def test_compaction_changes_no_state(boundaries: Boundaries, seed: int) -> None:
    """Over random compacted histories a running replica, a late replica and a plain dict agree."""
    partitions = 1 + seed % 3
    dice = random.Random(seed)
    compacted, plain = FakeBackend(partitions), FakeBackend(partitions)
    players = [BackendPlayer(compacted), BackendPlayer(plain)]
    removed = 0
    with compacted.replica(boundaries=boundaries) as old:
        old.wait_ready(PATIENCE_S)
        for step in random_history(seed, 200, partitions):
            for player in players:
                player.play(step)
            if dice.random() < 0.2:
                before = len(compacted.topic.records())
                keep_tombstones = dice.random() < 0.5
                if not keep_tombstones:  # a tombstone that a replica has not read yet would be lost to it
                    wait_until(lambda: old.status().read_position.dominates(_stable(compacted.topic)))
                compacted.topic.compact(keep_tombstones=keep_tombstones)
                removed += before - len(compacted.topic.records())
                assert _state(compacted.topic) == _state(plain.topic)
        with compacted.replica(boundaries=boundaries) as new:
            shown = [dict(replica.wait_for(compacted.topic.end(), PATIENCE_S)) for replica in (old, new)]
    assert removed > 20, "hardly anything was compacted: the test shows nothing"
    assert shown[0] == shown[1]
    if partitions == 1:
        assert {key: (record.offset, record.value) for key, record in shown[0].items()} == {
            key: found for (_, key), found in _state(plain.topic).items()
        }


def _stable(topic: FakeTopic) -> Position:
    """Return the offset below which compaction may remove records."""
    return Position(
        {partition: topic.kafka.cluster.log(partition).last_stable_offset for partition in topic.partitions}
    )


def _state(topic: FakeTopic) -> dict[tuple[int, bytes], tuple[int, bytes | None]]:
    """Return the final state of a plain read_committed consumer, by partition and key."""
    state: dict[tuple[int, bytes], tuple[int, bytes | None]] = {}
    for record in topic.records():
        state.pop((record.partition, record.key), None)
        if record.value is not None:
            state[record.partition, record.key] = record.offset, record.value
    return state


def test_a_transaction_that_has_lost_its_marker_ends_with_the_producers_next_one() -> None:
    """The next marker of the producer ends both, as in Kafka; the log does not end within a transaction."""
    topic = FakeTopic("t")
    topic.put("first", b"0")
    with topic.transaction() as transaction:
        transaction.put("a", b"1")
        transaction.put("b", b"1")
    topic.lose_end(2)
    assert topic.end()[Partition("t", 0)] == 1
    with topic.transaction() as transaction:
        transaction.put("c", b"2")
    for boundaries in ("markers", "quiescence"):
        with topic.replica(boundaries=boundaries) as replica:
            assert sorted(replica.wait_for(topic.end(), 30)) == [b"a", b"c", b"first"]
