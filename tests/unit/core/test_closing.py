"""Closing a replica from anywhere: threads, listeners, signal handlers. Without a broker."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_replica import (
    Change,
    KafkaReplicaError,
    MemoryStore,
    Partition,
    Position,
    Record,
    Replica,
    RocksStore,
    State,
)
from kafka_replica.errors import StoreError
from kafka_replica.stores.delta import Delta
from kafka_replica.testing import FakeKafka, FakeTopic
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


def test_a_closed_store_on_disk_cannot_be_written(tmp_path: Path) -> None:
    """Another process may use its folder."""
    store, position = RocksStore(tmp_path), Position({Partition("t", 0): 1})
    store.apply(Delta(), position)
    store.close()
    writes: tuple[Callable[[], object], ...] = (
        lambda: store.apply(Delta(), position),
        lambda: store.stage(Delta()),
        lambda: store.note(ResumePoint(position)),
        store.rebuild,
    )
    for write in writes:
        with pytest.raises(StoreError, match="closed"):
            write()
