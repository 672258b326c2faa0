"""The behaviour of a topic, as far as replicas and producers can tell, on two topics: the fake one and a real one.

A subclass creates the topic. The assertions here, including offsets and markers, were observed on Kafka 4.3.0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import ExitStack, suppress
from zlib import crc32

import pytest

from kafka_replica import (
    BadRecordError,
    BrokerError,
    Change,
    Position,
    Record,
    Snapshot,
    State,
    UsageError,
    WaitTimeoutError,
)
from kafka_replica.broker.reading.readers import Boundaries
from kafka_replica.errors import CommitUnknownError, PublishError, TopicNotFoundError
from kafka_replica.producer import Transaction, TransactionalProducer
from kafka_replica.replication import broker_retry, follower
from kafka_replica.transactions import Kind
from support.broker.topic_backend import PATIENCE_S, Backend, Entry
from support.waiting import wait_until

MARKERS, QUIESCENCE = Boundaries.MARKERS, Boundaries.QUIESCENCE
both_kinds = pytest.mark.parametrize("boundaries", [MARKERS, QUIESCENCE])


def values(snapshot: Snapshot) -> dict[str, bytes | None]:
    """Return the content of a version."""
    return {key.decode(): record.value for key, record in snapshot.items()}


def write_and_raise(producer: TransactionalProducer) -> Transaction:
    """Run a transaction whose block raises."""
    with suppress(ValueError), producer.transaction() as transaction:
        transaction.put("d", b"2")
        raise ValueError("planned")
    return transaction


class TopicContract(ABC):
    """The tests of the contract."""

    @abstractmethod
    def make(self, partitions: int = 1, *, takes_any_key: bool = False) -> Backend:
        """Return a fresh topic; it is compacted unless ``takes_any_key``, so that it accepts records without a key."""

    # --- transactions ---

    @both_kinds
    def test_a_transaction_is_one_version(self, boundaries: Boundaries) -> None:
        """A transaction shows nothing before its commit; then all of it, with all parts of each record."""
        topic = self.make()
        with topic.replica(boundaries=boundaries) as replica:
            changes = replica.changes(timeout_s=PATIENCE_S)
            assert (next(changes).version, len(replica.snapshot())) == (1, 0)
            writing = topic.begin()
            writing.put("a", b"1", (("h", b"x"), ("h", None)), timestamp_ms=1_600_000_000_000)
            writing.put("b", b"")
            writing.commit()
            change = next(changes)
            assert (change.version, set(change.changed), set(change.deleted)) == (2, {b"a", b"b"}, set())
            headers = (("h", b"x"), ("h", None))
            assert change.snapshot["a"] == Record(b"a", b"1", 0, 1_600_000_000_000, headers, topic.place())
            assert change.snapshot["b"].value == b""
            assert change.position == Position({topic.place(): 3})

    def test_the_log_of_interleaving_transactions(self) -> None:
        """Markers use offsets; readers by markers see the whole log, readers of committed records only those."""
        topic = self.make()
        first, second = topic.begin(), topic.begin()
        first.put("a", b"1")
        second.put("b", b"2")
        first.put("c", b"3")
        first.commit()
        third = topic.begin()
        third.put("d", b"4")
        topic.put("e", b"5")
        second.abort()
        third.delete("a")
        third.commit()
        seen = topic.look()
        assert seen.entries == [
            Entry(0, 0, Kind.DATA, 0, 0, b"a", b"1"),
            Entry(0, 1, Kind.DATA, 1, 0, b"b", b"2"),
            Entry(0, 2, Kind.DATA, 0, 0, b"c", b"3"),
            Entry(0, 3, Kind.COMMIT, 0, 0, None, None),
            Entry(0, 4, Kind.DATA, 0, 0, b"d", b"4"),
            Entry(0, 5, Kind.PLAIN, -1, 0, b"e", b"5"),
            Entry(0, 6, Kind.ABORT, 1, 0, None, None),
            Entry(0, 7, Kind.DATA, 0, 0, b"a", None),
            Entry(0, 8, Kind.COMMIT, 0, 0, None, None),
        ]
        assert (seen.positions, seen.stable, seen.high, seen.gap) == ([9], [9], [9], False)
        committed = topic.look(QUIESCENCE)
        assert [(entry.offset, entry.key, entry.value) for entry in committed.entries] == [
            (0, b"a", b"1"), (2, b"c", b"3"), (4, b"d", b"4"), (5, b"e", b"5"), (7, b"a", None),
        ]  # fmt: skip
        assert (committed.positions, committed.stable, committed.high) == ([9], [9], [9])

    def test_only_readers_by_markers_see_an_open_transaction(self) -> None:
        """Readers by markers see the whole log; readers of committed records only what lies below its first offset."""
        topic = self.make()
        closed, held = topic.begin(), topic.begin()
        closed.put("a", b"1")
        held.put("b", b"2")
        closed.put("c", b"3")
        closed.commit()
        seen = topic.look()
        kinds = [entry.kind for entry in seen.entries]
        assert kinds == [Kind.DATA, Kind.DATA, Kind.DATA, Kind.COMMIT]
        assert (seen.positions, seen.stable, seen.high) == ([4], [1], [4])
        committed = topic.look(QUIESCENCE)
        assert [entry.offset for entry in committed.entries] == [0], "one half of the transaction that was committed"
        assert (committed.positions, committed.stable, committed.high) == ([1], [1], [4])
        held.abort()

    def test_markers_show_a_transaction_behind_an_open_one(self) -> None:
        """A transaction behind an open one is shown by markers; the position names the open one, which follows."""
        topic = self.make()
        held = topic.begin()
        held.put("a", b"late")
        held.put("b", b"late")
        end = topic.write({"b": b"early", "c": b"1"})
        with topic.replica(boundaries=MARKERS, blocked_after_s=0.1) as replica:
            snapshot = replica.wait_for(end, PATIENCE_S)
            assert values(snapshot) == {"b": b"early", "c": b"1"}
            assert [(opened.partition, opened.first_offset) for opened in snapshot.position.open] == [
                (topic.place(), 0)
            ]
            assert replica.state == State.LIVE
            held.commit()
            snapshot = replica.wait_for(topic.end(), PATIENCE_S)
            # The higher offset wins, as for compaction: not the record that was committed last.
            assert values(snapshot) == {"a": b"late", "b": b"early", "c": b"1"}
            assert snapshot.position.open == ()

    def test_quiescence_delays_a_transaction_behind_an_open_one(self) -> None:
        """A transaction behind an open one waits with quiescence, as the replica reports; in the end both are there."""
        topic = self.make()
        topic.write({"z": b"0"})
        with topic.replica(boundaries=QUIESCENCE, blocked_after_s=0.1) as replica:
            replica.wait_ready(PATIENCE_S)
            held = topic.begin()
            held.put("a", b"late")
            held.put("b", b"late")
            topic.write({"b": b"early", "c": b"1"})
            wait_until(lambda: replica.state == State.BLOCKED)
            assert replica.status().blocking_transaction == f"{topic.place()}@2"
            assert values(replica.snapshot()) == {"z": b"0"}
            held.commit()
            snapshot = replica.wait_for(topic.end(), PATIENCE_S)
            assert values(snapshot) == {"a": b"late", "b": b"early", "c": b"1", "z": b"0"}
            wait_until(lambda: replica.state == State.LIVE)

    @both_kinds
    def test_aborted_records_never_show(self, boundaries: Boundaries) -> None:
        """Aborted records never show, neither while open nor after; a log that ends in them makes a replica ready."""
        topic = self.make()
        heard: list[Change] = []
        with topic.replica(boundaries=boundaries) as replica:
            replica.subscribe(heard.append)
            topic.write({"a": b"1"})
            topic.write({"a": b"2", "b": b"2"}, commit=False)
            end = topic.write({"c": b"3"})
            assert values(replica.wait_for(end, PATIENCE_S)) == {"a": b"1", "c": b"3"}
            wait_until(lambda: heard and heard[-1].snapshot.get("c"))
        assert not any(b"b" in change.snapshot or b"b" in change.changed for change in heard)
        topic.write({"d": b"4"}, commit=False)
        with topic.replica(boundaries=boundaries) as replica:
            assert values(replica.wait_ready(PATIENCE_S)) == {"a": b"1", "c": b"3"}

    @both_kinds
    def test_an_empty_transaction_leaves_nothing(self, boundaries: Boundaries) -> None:
        """An empty transaction leaves no marker, no offset, no version."""
        topic = self.make()
        topic.begin().commit()
        topic.begin().abort()
        assert topic.end() == Position({topic.place(): 0})
        with topic.replica(boundaries=boundaries) as replica:
            assert replica.wait_ready(PATIENCE_S).position == Position({topic.place(): 0})
            topic.begin().commit()
            end = topic.write({"a": b"1"})
            assert replica.wait_for(end, PATIENCE_S).version == 2

    # --- keys ---

    @both_kinds
    def test_a_tombstone_deletes_its_key(self, boundaries: Boundaries) -> None:
        """A tombstone deletes its key, one for an unknown key deletes nothing; a key returns with a new record."""
        topic = self.make()
        with topic.replica(boundaries=boundaries) as replica:
            replica.wait_for(topic.write({"a": b"1", "b": b"1"}), PATIENCE_S)
            changes = replica.changes(timeout_s=PATIENCE_S)
            assert next(changes).initial
            topic.write({"a": None, "never": None})
            change = next(changes)
            assert (set(change.changed), set(change.deleted)) == (set(), {b"a"})
            topic.write({"a": b"2"})
            change = next(changes)
            assert (set(change.changed), change.snapshot["a"].offset) == ({b"a"}, 6)
            topic.put("a", None)
            assert set(next(changes).deleted) == {b"a"}

    @both_kinds
    def test_a_record_without_a_key(self, boundaries: Boundaries) -> None:
        """A record without a key stops a replica, or is left out and reported with its place."""
        topic = self.make(takes_any_key=True)
        topic.put("a", b"1")
        topic.put(None, b"nobody's")
        topic.put("b", b"2")
        with topic.replica(boundaries=boundaries) as replica, pytest.raises(BadRecordError, match="no key") as caught:
            replica.wait_ready(PATIENCE_S)
        assert (caught.value.topic, caught.value.partition, caught.value.offset) == (topic.name, 0, 1)
        with topic.replica(boundaries=boundaries, on_bad_record="skip") as replica:
            assert values(replica.wait_ready(PATIENCE_S)) == {"a": b"1", "b": b"2"}
            assert [bad.offset for bad in replica.bad_records] == [1]

    # --- partitions ---

    @both_kinds
    def test_a_transaction_over_partitions_shows_at_once(self, boundaries: Boundaries) -> None:
        """Each key has its partition; each written partition gets a marker; a transaction shows at once."""
        topic = self.make(partitions=3)
        keys = [f"key-{number}" for number in range(9)]
        heard: list[Change] = []
        with topic.replica(boundaries=boundaries) as replica:
            replica.subscribe(heard.append, max_pending=1000)
            for number in range(6):
                end = topic.write(dict.fromkeys(keys, str(number).encode()))
            snapshot = replica.wait_for(end, PATIENCE_S)
            wait_until(lambda: heard and heard[-1].version == snapshot.version)
        assert {key: record.partition for key, record in snapshot.items()} == {
            key.encode(): crc32(key.encode()) % 3 for key in keys
        }
        assert [len({*values(change.snapshot).values()}) for change in heard[1:]] == [1] * (len(heard) - 1)
        assert all(len(change.snapshot) in {0, 9} for change in heard)
        writing = topic.begin()
        writing.put("only", b"here", partition=1)
        writing.commit()
        before, after = end, topic.end()
        assert [after[place] - before[place] for place in map(topic.place, range(3))] == [0, 2, 0]

    @both_kinds
    def test_partitions_that_are_added(self, boundaries: Boundaries, monkeypatch: pytest.MonkeyPatch) -> None:
        """A running replica also reads records of partitions that are added later."""
        monkeypatch.setattr(follower, "_TOPIC_CHECK_INTERVAL_S", 0.1)
        topic = self.make(partitions=1)
        topic.write({"a": b"1"})
        with topic.replica(boundaries=boundaries) as replica:
            replica.wait_ready(PATIENCE_S)
            topic.add_partitions(3)
            topic.put("b", b"2", partition=2)
            wait_until(lambda: "b" in replica.snapshot())
            assert replica.snapshot()["b"].source == topic.place(2)
            assert values(replica.snapshot()) == {"a": b"1", "b": b"2"}

    # --- compaction ---

    @both_kinds
    def test_compaction_keeps_the_state(self, boundaries: Boundaries) -> None:
        """Overwritten, aborted and deleted records go, markers with the last of their data; the state is kept."""
        topic = self.make()
        topic.write({"a": b"1", "b": b"1"})
        topic.write({"a": b"2"})
        topic.write({"c": b"3"}, commit=False)
        topic.write({"b": None})
        topic.put("d", b"4")
        topic.put("d", b"5")
        left = [
            Entry(0, 3, Kind.DATA, 0, 0, b"a", b"2"),
            Entry(0, 4, Kind.COMMIT, 0, 0, None, None),
            Entry(0, 8, Kind.COMMIT, 0, 0, None, None),  # the last batch of its producer
            Entry(0, 10, Kind.PLAIN, -1, 0, b"d", b"5"),
        ]

        def is_compacted() -> bool:
            topic.compact()
            return topic.look().entries == left

        with topic.replica(boundaries=boundaries) as old:
            old.wait_ready(PATIENCE_S)
            wait_until(is_compacted)
            assert topic.look().gap
            snapshot = old.wait_for(topic.end(), PATIENCE_S)
            with topic.replica(boundaries=boundaries) as new:
                fresh = new.wait_for(snapshot.position, PATIENCE_S)
        assert dict(fresh) == dict(snapshot)
        assert values(fresh).items() >= {"a": b"2", "d": b"5"}.items()
        assert not {"b", "c"} & values(fresh).keys()

    def test_compaction_stops_at_an_open_transaction(self) -> None:
        """Compaction keeps everything behind the first offset of an open transaction until it has ended."""
        topic = self.make()
        topic.write({"a": b"1"})
        topic.write({"a": b"2"})
        topic.compact()  # the log continues in another segment; the segment with an open transaction is not touched
        held = topic.begin()
        held.put("b", b"1")
        topic.write({"c": b"1"})
        topic.write({"c": b"2"})

        def left() -> list[object]:
            topic.compact()
            return [entry.value if entry.key else entry.kind for entry in topic.look().entries]

        def records_left() -> list[object]:
            return [entry for entry in left() if isinstance(entry, bytes)]

        # A marker needs a separate pass, for which the real cleaner finds no reason before the transaction has ended.
        wait_until(lambda: records_left() == [b"2", b"1", b"1", b"2"])
        assert records_left() == [b"2", b"1", b"1", b"2"]
        held.commit()
        wait_until(lambda: left() == [b"2", Kind.COMMIT, b"1", b"2", Kind.COMMIT, Kind.COMMIT])

    @both_kinds
    def test_a_front_that_is_deleted(self, boundaries: Boundaries) -> None:
        """Records below the log start offset disappear by ordinary deletes, also in the middle of a transaction."""
        topic = self.make(takes_any_key=True)
        topic.write({"a": b"1", "b": b"1"})
        end = topic.write({"c": b"2", "a": b"2"})
        with topic.replica(boundaries=boundaries) as replica:
            before = replica.wait_for(end, PATIENCE_S)
            changes = replica.changes(since=before.version, timeout_s=PATIENCE_S)
            topic.delete_before(4)
            change = next(changes)
            assert (set(change.changed), set(change.deleted), change.transactions) == (set(), {b"b", b"c"}, 0)
            assert change.snapshot.position == before.position
            assert values(change.snapshot) == {"a": b"2"}
            assert values(before) == {"a": b"2", "b": b"1", "c": b"2"}
            with topic.replica(boundaries=boundaries) as fresh:
                assert dict(fresh.wait_ready(PATIENCE_S)) == dict(change.snapshot)
            end = topic.write({"b": b"3"})
            assert values(replica.wait_for(end, PATIENCE_S)) == {"a": b"2", "b": b"3"}
            assert replica.status().counts.rebuilds == 0

    # --- changes of a topic ---

    @both_kinds
    def test_a_topic_that_is_made_again(self, boundaries: Boundaries, monkeypatch: pytest.MonkeyPatch) -> None:
        """A replica of a recreated topic serves the old version until it has the new one, and reports differences."""
        monkeypatch.setattr(follower, "_TOPIC_CHECK_INTERVAL_S", 0.1)
        topic = self.make()
        with topic.replica(boundaries=boundaries) as replica:
            replica.wait_for(topic.write({"a": b"old", "same": b"1"}), PATIENCE_S)
            changes = replica.changes(since=replica.snapshot().version, timeout_s=PATIENCE_S)
            topic.drop()
            topic.recreate()
            topic.write({"b": b"new", "same": b"1"})
            shown: list[dict[str, bytes | None]] = []
            wait_until(lambda: shown.append(values(replica.snapshot())) or "b" in shown[-1])
            # The recreated topic is empty for a moment, which may or may not be seen.
            assert all(state in ({"a": b"old", "same": b"1"}, {}, {"b": b"new", "same": b"1"}) for state in shown)
            last = replica.wait_for(topic.end(), PATIENCE_S)
            assert values(last) == {"b": b"new", "same": b"1"}
            assert replica.status().counts.rebuilds == 1
            received: dict[str, bytes | None] = {}
            for change in changes:
                received |= {key.decode(): change.snapshot[key].value for key in change.changed}
                received |= {key.decode(): None for key in change.deleted}
                if change.version >= last.version:
                    break
            assert received in ({"a": None, "b": b"new"}, {"a": None, "b": b"new", "same": b"1"})

    @pytest.mark.thorough
    def test_a_topic_that_is_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A replica waits for a missing topic, or fails, at the start and later."""
        monkeypatch.setattr(follower, "_TOPIC_CHECK_INTERVAL_S", 0.1)
        monkeypatch.setattr(broker_retry, "_NO_TOPIC_FOR_S", 3.0)
        topic = self.make()
        topic.drop()
        with topic.replica(wait_for_topic=False) as replica, pytest.raises(TopicNotFoundError):
            replica.wait_ready(PATIENCE_S)
        with topic.replica(stalled_after_s=0.5) as replica:
            wait_until(lambda: replica.status().last_error)
            topic.recreate()
            with topic.replica(wait_for_topic=False) as impatient:
                end = topic.write({"a": b"1"})
                assert values(replica.wait_for(end, PATIENCE_S)) == {"a": b"1"}
                impatient.wait_for(end, PATIENCE_S)
                topic.drop()
                wait_until(lambda: impatient.state == State.FAILED)
                with pytest.raises(TopicNotFoundError):
                    impatient.wait_for(Position({topic.place(): 10}), PATIENCE_S)
            wait_until(lambda: replica.state == State.STALLED)
            assert values(replica.snapshot()) == {"a": b"1"}
            topic.recreate()
            assert values(replica.wait_for(topic.write({"b": b"1", "c": b"1"}), PATIENCE_S)).keys() <= {"a", "b", "c"}
            wait_until(lambda: values(replica.snapshot()) == {"b": b"1", "c": b"1"})

    @both_kinds
    @pytest.mark.thorough
    def test_a_replica_reports_a_missing_broker_and_continues_later(self, boundaries: Boundaries) -> None:
        """A replica reports that the broker is gone, serves its version, and continues by itself."""
        topic = self.make()
        with topic.replica(boundaries=boundaries, stalled_after_s=0.5) as replica:
            replica.wait_for(topic.write({"a": b"1"}), PATIENCE_S)
            with topic.outage():
                wait_until(lambda: replica.state == State.STALLED)
                assert values(replica.snapshot()) == {"a": b"1"}
            end = topic.write({"b": b"2"})
            assert values(replica.wait_for(end, PATIENCE_S)) == {"a": b"1", "b": b"2"}
            wait_until(lambda: replica.state == State.LIVE)

    # --- the producer ---

    @both_kinds
    def test_read_your_own_write(self, boundaries: Boundaries) -> None:
        """A producer returns where its transaction ends, and a replica waits for that position."""
        topic = self.make(partitions=2)
        producer = topic.producer("writer")
        with topic.replica(boundaries=boundaries) as replica:
            with producer.transaction() as transaction:
                transaction.put("a", b"1", (("h", b"1"),))
                transaction.put("d", b"1")
                transaction.delete("a")
            committed = transaction.committed
            assert (committed.records, committed.tombstones) == (3, 1)
            assert committed.position == Position({topic.place(0): 1, topic.place(1): 2})
            assert values(replica.wait_for(committed.position, PATIENCE_S)) == {"d": b"1"}
            producer.wait_visible(committed, PATIENCE_S)
            abandoned = write_and_raise(producer)
            assert not abandoned.committed.is_committed
            with pytest.raises(UsageError, match="not committed"):
                assert abandoned.committed.position
            with producer.transaction() as transaction:
                pass
            assert transaction.committed.position == Position()
            assert values(replica.wait_for(topic.end(), PATIENCE_S)) == {"d": b"1"}

    def test_writing_after_the_end_of_a_transaction(self) -> None:
        """A record that comes too late is refused, and does not become part of the next transaction."""
        topic = self.make()
        producer = topic.producer("writer")
        with producer.transaction() as committed:
            committed.put("a", b"1")
        aborted = write_and_raise(producer)
        with producer.transaction() as current:
            for late in committed, aborted:
                with pytest.raises(UsageError, match="ended"):
                    late.put("b", b"1")
                with pytest.raises(UsageError, match="ended"):
                    late.delete("a")
            current.put("c", b"1")
        assert (committed.committed.records, current.committed.records) == (1, 1)
        with topic.replica() as replica:
            assert values(replica.wait_for(topic.end(), PATIENCE_S)) == {"a": b"1", "c": b"1"}

    def test_waiting_for_a_transaction_to_be_visible(self) -> None:
        """A committed transaction is not visible to plain readers while another one is open before it."""
        topic = self.make()
        producer = topic.producer("writer")
        held = topic.begin()
        held.put("a", b"1")
        with producer.transaction() as transaction:
            transaction.put("b", b"1")
        with pytest.raises(WaitTimeoutError, match="open"):
            producer.wait_visible(transaction.committed, 0.2)
        held.abort()
        producer.wait_visible(transaction.committed, PATIENCE_S)

    def test_a_newer_producer_of_the_same_id(self) -> None:
        """A newer producer of the same id fences the older one, and the older one's open transaction is aborted."""
        topic = self.make()
        old = topic.producer("writer")
        with ExitStack() as stack:
            stack.enter_context(old.transaction()).put("a", b"old")
            wait_until(lambda: topic.look().entries)
            new = topic.producer("writer")
            with pytest.raises(PublishError):
                stack.close()
        with pytest.raises(BrokerError), old.transaction():
            pass
        with new.transaction() as transaction:
            transaction.put("a", b"new")
        new.wait_visible(transaction.committed, PATIENCE_S)
        assert topic.look().entries == [
            Entry(0, 0, Kind.DATA, 0, 0, b"a", b"old"),
            Entry(0, 1, Kind.ABORT, 0, 1, None, None),
            Entry(0, 2, Kind.DATA, 0, 2, b"a", b"new"),
            Entry(0, 3, Kind.COMMIT, 0, 2, None, None),
        ]

    def test_records_that_are_not_acknowledged(self) -> None:
        """Their transaction is not committed, and the same producer continues when the broker answers again."""
        topic = self.make()
        producer = topic.producer("writer", timeout_s=5)
        with topic.outage(), pytest.raises(PublishError), producer.transaction() as transaction:
            transaction.put("a", b"1")
        assert not transaction.committed.is_committed
        with producer.transaction() as transaction:
            transaction.put("c", b"2")
        with topic.replica() as replica:
            assert values(replica.wait_for(transaction.committed.position, PATIENCE_S)) == {"c": b"2"}

    def test_a_commit_that_is_not_answered(self) -> None:
        """The outcome of an unanswered commit is unknown, and its producer cannot continue."""
        topic = self.make()
        producer = topic.producer("writer", timeout_s=5)

        def publish(stack: ExitStack) -> None:
            with producer.transaction() as transaction:
                transaction.put("a", b"1")
                wait_until(lambda: topic.end() != Position({topic.place(): 0}))
                client = getattr(producer._writer, "_producer", None)  # a real one must know that the record arrived
                wait_until(lambda: client is None or not client.flush(0.1))
                stack.enter_context(topic.outage())

        with ExitStack() as stack, pytest.raises(CommitUnknownError):
            publish(stack)
        with pytest.raises(UsageError), producer.transaction():
            pass
        newer = topic.producer("writer")
        with newer.transaction() as transaction:
            transaction.put("a", b"2")
        with topic.replica() as replica:
            assert values(replica.wait_for(transaction.committed.position, PATIENCE_S)) == {"a": b"2"}
