"""Changes, mailboxes and subscriptions, without a broker."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_contract import P, Writes, apply_to, records, values, writes

from kafka_replica import Change, Changes, Cut, KafkaReplicaError, MemoryStore, WaitTimeoutError
from kafka_replica.delta import Delta
from kafka_replica.listeners import Mailbox, Subscription


def changes_for(deltas: list[Writes]) -> list[Change]:
    """The changes that these deltas make, the first being the whole state."""
    store = MemoryStore()
    store.apply(Delta(), Cut({P: 0}))
    made = [Change.first(store.snapshot())]
    for number, written in enumerate(deltas, 1):
        previous = store.snapshot()
        applied = store.apply(Delta(records(written, number * 10)), Cut({P: number * 10}))
        made.append(Change(store.snapshot(), previous, applied.changed, applied.deleted))
    return made


@given(st.lists(writes, max_size=10), st.integers(1, 5), st.data())
def test_what_a_listener_hears_adds_up(deltas: list[Writes], max_pending: int, data: st.DataObject) -> None:
    """However slow the listener and small its mailbox: its events, applied in order, give the last version."""
    mailbox = Mailbox(max_pending)
    known: dict[bytes, bytes | None] = {}
    versions = []

    def take() -> None:
        change = mailbox.take(0)
        assert change is not None
        assert not set(change.changed) & set(change.deleted)
        assert set(change.deleted) <= set(known)
        if change.initial:
            known.clear()
        known.update({key: change.snapshot[key].value for key in change.changed})
        for key in change.deleted:
            del known[key]
        versions.append((change.version, change.conflated))
        assert known == values(change.snapshot)

    for change in changes_for(deltas):
        mailbox.put(change)
        if data.draw(st.booleans()):
            take()
    mailbox.close()
    while mailbox._changes:
        take()
    assert mailbox.take(0) is None
    assert [v for v, _ in versions] == sorted({v for v, _ in versions})
    assert sum(count for _, count in versions) == len(deltas) + 1
    state: dict[bytes, bytes | None] = {}
    for written in deltas:
        state = apply_to(state, written)
    assert known == state


def test_a_listener_that_raises_hears_the_next_version(caplog: pytest.LogCaptureFixture) -> None:
    """Its error is logged with the version, kept and counted; it goes on."""
    heard, errors, mailbox = [], [], Mailbox(10)
    twice = threading.Event()

    def listener(change: Change) -> None:
        heard.append(change.version)
        if len(heard) == 1:
            raise RuntimeError("planned")
        twice.set()

    subscription = Subscription(listener, mailbox, lambda: errors.append(1))
    for change in changes_for([[(b"a", b"1")]]):
        mailbox.put(change)
    assert twice.wait(5)
    subscription.close()
    assert heard == [1, 2]
    assert len(errors) == 1
    assert isinstance(subscription.last_error, RuntimeError)
    assert "failed at version 1" in caplog.text


def test_a_listener_may_close_its_own_subscription() -> None:
    """Closing from within the call does not wait for itself."""
    mailbox = Mailbox(10)
    closed = threading.Event()

    def listener(_change: Change) -> None:
        subscription.close()
        closed.set()

    subscription = Subscription(listener, mailbox, lambda: None)
    mailbox.put(changes_for([])[0])
    assert closed.wait(5)
    assert subscription.closed


def test_an_iterator_ends_times_out_and_fails() -> None:
    """Closed: it ends. Nothing in time: WaitTimeoutError. The replica failed: its error, after what came before."""
    mailbox = Mailbox(10)
    changes = Changes(mailbox, 0.01)
    with pytest.raises(WaitTimeoutError, match="no new version"):
        next(changes)
    mailbox.put(changes_for([])[0])
    mailbox.close(KafkaReplicaError("gone"))
    assert next(changes).version == 1
    with pytest.raises(KafkaReplicaError, match="gone"):
        next(changes)
    ended = Changes(Mailbox(1), None)
    ended.close()
    assert list(ended) == []


def test_merging_costs_what_is_new() -> None:
    """A full mailbox takes a change of one key without going through what already waits."""
    looked_up: list[object] = []

    class Counting(dict[bytes, int]):
        def __contains__(self, key: object) -> bool:
            looked_up.append(key)
            return super().__contains__(key)

    mailbox = Mailbox(1)
    store = Counting()
    mailbox.put(Change(store, store, (b"first",), ()))  # type: ignore[arg-type] # only asked for keys
    for number in range(100):
        mailbox.put(Change(store, store, (str(number).encode(),), ()))  # type: ignore[arg-type]
    assert looked_up == []
    change = mailbox.take(0)
    assert change is not None
    assert change.conflated == 101
    assert len(looked_up) >= 101


def test_a_listener_that_exits_is_told_the_next_version() -> None:
    """Not even SystemExit ends a listener's thread unseen."""
    heard: list[int] = []
    mailbox, done = Mailbox(10), threading.Event()

    def listener(change: Change) -> None:
        heard.append(change.version)
        if len(heard) == 1:
            raise SystemExit(3)
        done.set()

    subscription = Subscription(listener, mailbox, lambda: None)
    for change in changes_for([[(b"a", b"1")]]):
        mailbox.put(change)
    assert done.wait(5)
    subscription.close()
    assert isinstance(subscription.last_error, SystemExit)
