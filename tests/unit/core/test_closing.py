"""Closing a replica from anywhere: threads, listeners, signal handlers. Without a broker."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_replica import (
    Change,
    ConfigurationError,
    KafkaReplicaError,
    MemoryStore,
    Partition,
    Position,
    Record,
    Replica,
    RocksStore,
    State,
)
from kafka_replica.errors import ReplicaClosedError, StoreError, StoreInUseError
from kafka_replica.history import VersionHistory
from kafka_replica.stores.delta import AppliedChanges, Delta
from kafka_replica.stores.rocks.folder import StoreFolder
from kafka_replica.stores.rocks.generation import Generation
from kafka_replica.testing import FakeKafka, FakeTopic
from kafka_replica.testing.fake_reader import FakeReader
from kafka_replica.transactions.resume_point import ResumePoint
from support.core.publisher_driver import Driver
from support.waiting import wait_until


@pytest.mark.timeout(60)
@pytest.mark.parametrize("does", ["publish", "fail", "stop"])
def test_closing_in_a_signal_handler_that_interrupts_an_iterator(does: str) -> None:
    """Closing waits neither for the interrupted iterator, which holds its lock, nor for the writer that it blocks."""
    driver = Driver()
    publisher = driver.publisher
    driver.count_to(1)
    mailbox = publisher.mailbox(10)
    verb = {"publish": lambda: driver.count_to(2), "fail": lambda: publisher.failed(KafkaReplicaError("x"))}
    writer = threading.Thread(target=verb.get(does, publisher.stopped), daemon=True)
    before = publisher.status()
    with mailbox._waiters:  # where a signal handler may find its own thread
        was_busy = publisher.is_busy_here
        writer.start()
        wait_until(
            lambda: (now := publisher.status()).version != before.version or now.state != before.state, timeout_s=30
        )
        publisher.stopped()
    assert (was_busy, publisher.is_busy_here) == (True, False)
    writer.join(30)
    assert not writer.is_alive()
    assert mailbox.closed


@pytest.fixture
def replica(monkeypatch: pytest.MonkeyPatch) -> Replica:
    """A replica that was never started, with a substituted publisher that shows a version."""
    made, driver = Replica({"bootstrap.servers": "127.0.0.1:1"}, "t"), Driver()
    driver.count_to(1)
    monkeypatch.setattr(made, "_publisher", driver.publisher)
    return made


@pytest.mark.timeout(60)
def test_closing_in_a_signal_handler_that_interrupts_a_question(
    replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing does not wait for a listener whose status query waits for the interrupted thread."""
    monkeypatch.setattr("kafka_replica.replica._CLOSE_S", 600)
    is_calling, has_called = threading.Event(), threading.Event()

    def listener(_change: Change) -> None:
        is_calling.set()
        replica.status()
        has_called.set()

    with replica._publisher._waiters:  # where a signal handler may find its own thread
        replica.subscribe(listener)
        assert is_calling.wait(30)
        replica.close()
        assert not has_called.is_set()
    assert has_called.wait(30)


def test_closing_waits_for_the_call_under_way(replica: Replica) -> None:
    """After ``close()`` returns, no listener is in the middle of a version."""
    begun, finished = threading.Event(), list[int]()

    def listener(change: Change) -> None:
        begun.set()
        time.sleep(0.2)
        finished.append(change.version)

    replica.subscribe(listener)
    assert begun.wait(30)
    replica.close()
    assert finished == [1]


def test_closing_does_not_wait_for_ever(
    replica: Replica, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A listener that joins another thread that closes cannot be waited for: this is logged, and closing continues."""
    monkeypatch.setattr("kafka_replica.replica._CLOSE_S", 0.2)
    closed = threading.Event()

    def listener(_change: Change) -> None:
        closing = threading.Thread(target=replica.close)
        closing.start()
        closing.join()
        closed.set()

    replica.subscribe(listener)
    assert closed.wait(30)
    assert "but has not returned after" in caplog.text


def test_the_warning_has_the_time_that_each_listener_had(
    replica: Replica, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The listeners share the timeout, and so the second one had it as well."""
    monkeypatch.setattr("kafka_replica.replica._CLOSE_S", 0.2)
    begun, ends = threading.Barrier(3), threading.Event()

    def listener(_change: Change) -> None:
        begun.wait(30)
        ends.wait(30)

    for _ in range(2):
        replica.subscribe(listener)
    begun.wait(30)
    replica.close()
    ends.set()
    lines = [record.getMessage() for record in caplog.records if "has not returned" in record.getMessage()]
    assert [line.rpartition("after ")[2] for line in lines] == ["0.2 s"] * 2


@pytest.mark.timeout(60)
def test_closing_in_a_signal_handler_while_another_thread_starts_something(replica: Replica) -> None:
    """Closing does not wait for a thread that is blocked by the interrupted one while starting or subscribing."""
    held = threading.Event()

    def start() -> None:
        with replica._lifecycle:
            held.set()
            replica.status()

    other = threading.Thread(target=start, daemon=True)
    with replica._publisher._waiters:  # where a signal handler may find its own thread
        other.start()
        assert held.wait(30)
        replica.close()
        assert other.is_alive()
    other.join(30)
    assert not other.is_alive()


@pytest.mark.timeout(60)
def test_two_listeners_that_close_do_not_wait_for_each_other(replica: Replica, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two listeners that close at once do not wait for each other, though each is in a call."""
    monkeypatch.setattr("kafka_replica.replica._CLOSE_S", 600)
    both, closed = threading.Barrier(2, timeout=30), [threading.Event(), threading.Event()]

    def closer(number: int) -> None:
        both.wait()
        replica.close()
        closed[number].set()

    for number in range(2):
        replica.subscribe(lambda _, number=number: closer(number))  # type: ignore[misc] # a lambda with a default
    assert all(event.wait(30) for event in closed)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("closes", ["elsewhere", "in the validator"])
def test_nothing_is_written_to_a_store_that_was_closed_before_reading_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closes: str
) -> None:
    """A validator takes longer than closing waits; the version that contains its record is not written.

    Otherwise it would be written to a new, nearly empty database, which would replace the other one.
    """
    monkeypatch.setattr("kafka_replica.replica._CLOSE_S", 0.1)
    is_checking, may_end = threading.Event(), threading.Event()
    kafka = FakeKafka(bumps_epochs=True)
    topic = kafka.topic("t", partitions=2)
    with kafka.transaction("t") as transaction:
        for number in range(20):
            transaction.put(f"k{number}", b"v")

    def validator(record: Record) -> None:
        if record.key == b"new":
            is_checking.set()
            if closes == "in the validator":
                closed.close()
            else:
                assert may_end.wait(30)

    closed = kafka.replica("t", store=RocksStore(tmp_path), validator=validator)
    closed.start().wait_ready(30)
    with kafka.transaction("t") as transaction:
        transaction.put("new", b"v")
    assert is_checking.wait(30)
    if closes == "elsewhere":
        closed.close()
    may_end.set()
    assert closed._thread is not None
    closed._thread.join(30)
    assert closed.state is State.STOPPED
    with kafka.replica("t", store=RocksStore(tmp_path)) as again:
        assert len(again.wait_for(topic.end(), 30)) == 21


@pytest.mark.timeout(60)
def test_a_checkpoint_is_written_although_reading_has_not_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version shown is saved before closing returns, because the process may end then."""
    monkeypatch.setattr("kafka_replica.replica._CLOSE_S", 0.1)
    is_checking, may_end, topic = threading.Event(), threading.Event(), FakeTopic("t")
    topic.put("k", b"v")

    def validator(record: Record) -> None:
        if record.key == b"new":
            is_checking.set()
            assert may_end.wait(30)

    closed = topic.replica(store=MemoryStore(tmp_path / "state", checkpoint_every_s=None), validator=validator)
    closed.start().wait_ready(30)
    topic.put("new", b"v")
    assert is_checking.wait(30)
    closed.close()
    saved = MemoryStore(tmp_path / "state")
    assert list(saved.snapshot()) == [b"k"]
    saved.close()
    may_end.set()


class SlowCalls:
    """A method that waits in each call, so that a replica can be closed meanwhile.

    Closing waits for 0.1 s only.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
        self.begun, self.may_go_on = threading.Event(), threading.Event()
        method = getattr(owner, name)

        def slow(*arguments: object) -> object:
            self.begun.set()
            assert self.may_go_on.wait(30)
            return method(*arguments)

        monkeypatch.setattr(owner, name, slow)
        monkeypatch.setattr("kafka_replica.replica._CLOSE_S", 0.1)
        monkeypatch.setattr("kafka_replica.stores.rocks.store._CLOSE_S", 0.1)

    def close_meanwhile(self, replica: Replica) -> None:
        """Close a replica during a call."""
        assert self.begun.wait(30)
        closing = threading.Thread(target=replica.close, daemon=True)
        closing.start()
        closing.join(30)
        assert not closing.is_alive()

    def end(self, replica: Replica) -> None:
        """Let the call and the thread of the replica end."""
        self.may_go_on.set()
        assert replica._thread is not None
        replica._thread.join(30)
        assert not replica._thread.is_alive()


@pytest.mark.timeout(60)
def test_a_store_closed_during_a_slow_start_shows_and_records_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The empty version of a closed store is not taken for the saved version: no key is recorded as deleted."""
    topic = FakeTopic("t")
    topic.put("k", b"v")
    with VersionHistory(tmp_path / "history") as history:
        with topic.replica(RocksStore(tmp_path / "store"), tombstones_kept_s=1000) as replica:
            history.follow(replica)
            replica.wait_for(topic.end(), 30)
        opening = SlowCalls(monkeypatch, FakeReader, "open")
        late = topic.replica(RocksStore(tmp_path / "store"), tombstones_kept_s=1000)
        history.follow(late)
        late.start()
        opening.close_meanwhile(late)
        opening.end(late)
        assert late.state is State.STOPPED
        with pytest.raises(ReplicaClosedError):
            late.snapshot()
        assert [each.number for each in history.versions()] == [1]
        assert list(history.at()) == [b"k"]


@pytest.mark.timeout(60)
def test_closing_does_not_wait_for_a_write_that_takes_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is released when the write ends; the last version shown stays readable, and no other is recorded."""
    topic = FakeTopic("t")
    topic.put("k", b"v")
    replica = topic.replica(RocksStore(tmp_path / "store"))
    with VersionHistory(tmp_path / "history") as history:
        history.follow(replica)
        replica.start().wait_ready(30)
        writing = SlowCalls(monkeypatch, Generation, "publish")
        topic.put("new", b"v")
        writing.close_meanwhile(replica)
        with pytest.raises(StoreInUseError):
            RocksStore(tmp_path / "store")
        writing.end(replica)
        assert list(replica.snapshot()) == [b"k"]
        assert [each.number for each in history.versions()] == [1]
    again = RocksStore(tmp_path / "store")
    assert set(again.snapshot()) == {b"k", b"new"}
    again.close()


@pytest.mark.timeout(60)
def test_a_version_in_memory_that_is_made_after_closing_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither readers nor recorders get it: another replica may record later versions already."""
    topic, recorded = FakeTopic("t"), list[int]()
    topic.put("k", b"v")
    replica = topic.replica(MemoryStore())
    replica.start().wait_ready(30)
    replica.record_versions(lambda change, _: recorded.append(change.version))
    writing = SlowCalls(monkeypatch, MemoryStore, "apply")
    topic.put("new", b"v")
    writing.close_meanwhile(replica)
    writing.end(replica)
    assert (replica.snapshot().version, list(replica.snapshot()), recorded) == (1, [b"k"], [1])


def test_a_version_that_was_made_before_a_failure_is_shown() -> None:
    """Processes that copy the versions of another one may learn of its failure first."""
    driver = Driver()
    driver.count_to(1)
    driver.publisher.failed(KafkaReplicaError("x"))
    driver.count_to(2)
    assert driver.publisher.status().version == 2
    driver.publisher.stopped()
    driver.count_to(3)
    assert driver.publisher.status().version == 2


@pytest.mark.timeout(60)
def test_closing_a_store_again_while_it_is_released_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second signal may interrupt closing in the thread that releases the folder."""
    store, release = RocksStore(tmp_path), StoreFolder.release
    took_s = list[float]()

    def released(folder: StoreFolder) -> None:
        if not took_s:
            begun_s = time.monotonic()
            store.close()
            took_s.append(time.monotonic() - begun_s)
        release(folder)

    monkeypatch.setattr(StoreFolder, "release", released)
    store.close()
    assert took_s[0] < 3
    RocksStore(tmp_path).close()


@pytest.mark.timeout(60)
def test_a_store_on_disk_can_be_closed_while_two_states_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a rebuild, comparing all keys may take long; the folder is free meanwhile, and has the new state."""
    store, begun, may_go_on = RocksStore(tmp_path), threading.Event(), threading.Event()
    for number in (1, 2):
        store.rebuild()
        delta = Delta([Record(b"k%d" % number, b"v", 0, 0, (), Partition("t", 0))])
        if number == 1:
            store.apply(delta, Position({Partition("t", 0): 1}))

    def slow(*_: object) -> AppliedChanges:
        begun.set()
        assert may_go_on.wait(30)
        return AppliedChanges((), ())

    monkeypatch.setattr("kafka_replica.stores.rocks.store.difference", slow)
    writer = threading.Thread(target=lambda: store.apply(delta, Position({Partition("t", 0): 1})))
    writer.start()
    assert begun.wait(30)
    store.close()
    again = RocksStore(tmp_path)
    may_go_on.set()
    writer.join(30)
    assert list(again.snapshot()) == [b"k2"]
    again.close()


@pytest.mark.timeout(60)
def test_a_late_reading_thread_leaves_the_checkpoint_file_of_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Closing ends during a slow start that then finds another log; the file may be in use elsewhere by then."""
    path, topic = tmp_path / "state", FakeTopic("t")
    topic.put("k", b"v")
    with topic.replica(MemoryStore(path)) as replica:
        replica.wait_for(topic.end(), 30)
    topic.recreate()
    opening = SlowCalls(monkeypatch, FakeReader, "open")
    late = topic.replica(MemoryStore(path))
    late.start()
    opening.close_meanwhile(late)
    other = MemoryStore(path)
    opening.end(late)
    assert path.exists()
    assert "is rebuilt" not in caplog.text
    assert list(other.snapshot()) == [b"k"]
    other.close()


def test_a_closed_store_leaves_its_checkpoint_file(tmp_path: Path) -> None:
    """A rebuild removes the file of an open store only."""
    for closes in (True, False):
        store, position = MemoryStore(tmp_path / "state", checkpoint_every_s=None), Position({Partition("t", 0): 1})
        store.apply(Delta(), position)
        store.close()
        if not closes:
            store = MemoryStore(tmp_path / "state", checkpoint_every_s=None)
        store.rebuild(forget=True)
        assert (tmp_path / "state").exists() is closes
        store.close()


def test_a_closed_store_on_disk_cannot_be_written(tmp_path: Path) -> None:
    """Another process may use its folder. The empty version that it has is not shown either."""
    store, position = RocksStore(tmp_path), Position({Partition("t", 0): 1})
    store.apply(Delta(), position)
    store.close()
    writes: tuple[Callable[[], object], ...] = (
        lambda: store.apply(Delta(), position),
        lambda: store.stage(Delta()),
        lambda: store.save_resume_point(ResumePoint(position)),
        store.rebuild,
        store.snapshot,
    )
    for write in writes:
        with pytest.raises(StoreError, match="closed"):
            write()


@pytest.mark.timeout(60)
def test_a_store_in_memory_is_not_used_again_before_reading_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A validator takes longer than closing waits: its version is not written, and deleted keys do not come back."""
    monkeypatch.setattr("kafka_replica.replica._CLOSE_S", 0.1)
    is_checking, may_end, store, kafka = threading.Event(), threading.Event(), MemoryStore(), FakeKafka()
    topic = kafka.topic("t", partitions=2)

    def validator(record: Record) -> None:
        if record.value == b"old":
            is_checking.set()
            assert may_end.wait(30)

    closed = topic.replica(store=store, validator=validator).start()
    closed.wait_ready(30)
    with kafka.transaction("t") as transaction:
        transaction.put("a", b"old", partition=0)
        transaction.put("b", b"2", partition=1)
    assert is_checking.wait(30)
    closed.close()
    with pytest.raises(
        ConfigurationError, match=r"another replica uses <MemoryStore .*until its validator has returned"
    ):
        topic.replica(store=store)
    may_end.set()
    assert closed._thread is not None
    closed._thread.join(30)
    assert (store.snapshot().version, len(store.snapshot())) == (1, 0)
    with kafka.transaction("t") as transaction:
        transaction.put("a", b"new", partition=0)
        transaction.delete("b", partition=1)
    with topic.replica(store=store) as again:
        closed.close()  # once more, which does not release the store of the other replica
        assert {key: record.value for key, record in again.wait_for(topic.end(), 30).items()} == {b"a": b"new"}
        with pytest.raises(ConfigurationError, match="another replica uses"):
            topic.replica(store=store)
    assert topic.replica(store=store).state is State.NEW


def test_a_replica_whose_thread_cannot_start_can_be_started_again_or_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state stays new, closing releases the store, and a subscription that cannot start leaves no mailbox."""
    topic, store = FakeTopic("t"), MemoryStore(tmp_path / "state", checkpoint_every_s=None)
    topic.put("k", b"v")
    replica = topic.replica(store=store)

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as limited:
        limited.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            replica.start()
        with pytest.raises(RuntimeError, match="new thread"):
            replica.subscribe(lambda _: None)
        with pytest.raises(RuntimeError, match="new thread"):
            MemoryStore(tmp_path / "other")
    assert replica.state is State.NEW
    assert all(mailbox.closed for mailbox in replica._publisher._mailboxes)
    MemoryStore(tmp_path / "other").close()
    replica.close()
    again = topic.replica(store=MemoryStore(tmp_path / "state"))
    with monkeypatch.context() as limited:
        limited.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            again.start()
    with again:
        assert list(again.wait_ready(30)) == [b"k"]


class Interruption:
    """A signal handler that interrupts the start of a replica's thread, at a given moment of the thread.

    Closing waits for 0.1 s only.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, handler: Callable[[], None], moment: str) -> None:
        self.reads, self.may_begin = threading.Event(), threading.Event()
        self.handler, self.moment = handler, moment
        self.thread: threading.Thread | None = None
        monkeypatch.setattr("kafka_replica.replica.Thread", self._make_thread)
        monkeypatch.setattr("kafka_replica.replica._CLOSE_S", 0.1)

    def _make_thread(self, **arguments: Any) -> threading.Thread:
        """Return the first thread, whose start is interrupted, or another one."""
        if self.thread is not None:
            return threading.Thread(**arguments)
        self.thread = InterruptedThread(self, **arguments)
        return self.thread

    def join(self) -> None:
        """Wait for the end of the thread, if it exists."""
        self.may_begin.set()
        assert self.thread is not None
        if self.thread.ident is not None:
            self.thread.join(30)
            assert not self.thread.is_alive()


class InterruptedThread(threading.Thread):
    """A thread whose start is interrupted."""

    def __init__(self, interruption: Interruption, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.interruption = interruption

    def start(self) -> None:
        """Start the thread, and call the handler."""
        moment, handler = self.interruption.moment, self.interruption.handler
        if moment == "before it exists":
            handler()
        super().start()
        if moment == "before it runs":
            handler()
        if moment == "while it reads":
            assert self.interruption.reads.wait(30)
            handler()

    def run(self) -> None:
        """Run; if the handler is called before that, only when the test allows it."""
        assert self.interruption.moment == "while it reads" or self.interruption.may_begin.wait(30)
        super().run()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("moment", ["before it exists", "before it runs", "while it reads"])
def test_a_start_that_a_signal_handler_ends_leaves_at_most_one_reading_thread(
    monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Two threads would write to one store: a second start reads only if the first thread does not."""
    topic, store, reading = FakeTopic("t"), MemoryStore(), set[threading.Thread]()
    topic.put("k", b"v")

    def interrupt() -> None:
        raise KeyboardInterrupt

    def validator(_: Record) -> None:
        reading.add(threading.current_thread())
        interruption.reads.set()

    interruption = Interruption(monkeypatch, interrupt, moment)
    replica = topic.replica(store, validator=validator)
    with pytest.raises(KeyboardInterrupt):
        replica.start()
    reads = moment == "while it reads"
    assert (replica.state is State.NEW) is not reads
    replica.start().wait_ready(30)
    if not reads:
        interruption.join()
    topic.put("new", b"v")
    assert replica.wait_for(topic.end(), 30).version == 2
    assert (len(reading), interruption.thread in reading) == (1, reads)
    replica.close()
    interruption.join()
    assert topic.replica(store).state is State.NEW


@pytest.mark.timeout(60)
@pytest.mark.parametrize("moment", ["before it exists", "before it runs", "while it reads"])
def test_closing_in_a_signal_handler_that_interrupts_the_start(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """The store stays in use while the thread reads; a thread that has not begun yet never reads."""
    topic, store, may_end, keys = FakeTopic("t"), MemoryStore(), threading.Event(), list[bytes]()
    topic.put("k", b"v")

    def validator(record: Record) -> None:
        keys.append(record.key)
        interruption.reads.set()
        assert may_end.wait(30)

    replica = topic.replica(store, validator=validator)
    interruption = Interruption(monkeypatch, replica.close, moment)
    runs, run = list[bool](), replica._supervisor.run
    monkeypatch.setattr(replica._supervisor, "run", lambda: (runs.append(True), run()))
    replica.start()
    assert replica.state is State.STOPPED
    if moment == "while it reads":
        with pytest.raises(ConfigurationError, match="another replica uses"):
            topic.replica(store)
        may_end.set()
        interruption.join()
    with topic.replica(store) as again:
        interruption.join()
        assert list(again.wait_ready(30)) == [b"k"]
    assert (keys, runs) == (([b"k"], [True]) if moment == "while it reads" else ([], []))


@pytest.mark.timeout(60)
def test_a_store_whose_creation_a_signal_handler_ends_saves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkpoint file is released, and another process may use it."""
    start, started = threading.Thread.start, list[threading.Thread]()

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        started.append(thread)
        raise KeyboardInterrupt

    with monkeypatch.context() as limited:
        limited.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            MemoryStore(tmp_path / "state")
    started[0].join(30)
    assert not started[0].is_alive()
    MemoryStore(tmp_path / "state").close()


@pytest.mark.timeout(60)
def test_no_thread_begins_to_read_while_a_replica_is_closed() -> None:
    """A thread whose start a signal handler interrupted may begin at any time, such as while the store is closed."""
    reads = list[bool]()

    class WatchedStore(MemoryStore):
        def close(self) -> None:
            super().close()
            replica._ownership.run(permit, self, lambda: reads.append(True))

    topic = FakeTopic("t")
    replica = topic.replica(WatchedStore())
    permit = replica._ownership.permit()
    replica.close()
    assert not reads
    other = topic.replica()
    other._ownership.run(other._ownership.permit(), other._store, lambda: reads.append(True))
    assert reads == [True]


@pytest.mark.timeout(60)
def test_a_block_whose_start_is_interrupted_closes_the_replica(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the thread would read on, and the store would stay in use, without anyone who can close it."""
    topic, store = FakeTopic("t"), MemoryStore()
    topic.put("k", b"v")

    def interrupt() -> None:
        raise KeyboardInterrupt

    interruption = Interruption(monkeypatch, interrupt, "while it reads")
    replica = topic.replica(store, validator=lambda _: interruption.reads.set())
    with pytest.raises(KeyboardInterrupt), replica:
        pass
    assert replica.state is State.STOPPED
    interruption.join()
    assert topic.replica(store).state is State.NEW
