"""Changes, mailboxes and subscriptions, without a broker."""

from __future__ import annotations

import gc
import os
import pickle
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica import Change, Changes, KafkaReplicaError, MemoryStore, Position, UsageError, WaitTimeoutError
from kafka_replica.errors import LogReplacedError
from kafka_replica.listeners import Subscription
from kafka_replica.listeners.version_diff import MergedDiff
from kafka_replica.stores.delta import Delta
from kafka_replica.testing import FakeTopic
from support.core.publisher_driver import Driver, Reader
from support.core.store_contract import P, Writes, records, values, writes
from support.waiting import wait_until


@pytest.mark.thorough
@given(st.lists(writes, min_size=1, max_size=10), st.integers(1, 5), st.data())
def test_changes_applied_in_order_give_the_last_version(
    deltas: list[Writes], max_pending: int, data: st.DataObject
) -> None:
    """However slow a listener and small its mailbox, its changes, applied in order, give the last version."""
    driver = Driver(recent_changes=0)
    reader = Reader(driver, driver.publisher.mailbox(max_pending))
    for written in deltas:
        driver.publish(written)
        if data.draw(st.booleans()):
            reader.take()
    driver.publisher.stopped()
    while reader.mailbox._pending:
        reader.take()
    assert reader.mailbox.take(0) is None
    assert sum(change.conflated for change in reader.heard) == len(deltas)
    assert reader.state == driver.models[-1]


def test_a_late_listener_gets_the_whole_state_first() -> None:
    """A late listener gets all keys first, as one change."""
    driver = Driver()
    driver.count_to(3)
    first = driver.publisher.mailbox(10).take(0)
    assert first is not None
    assert (first.initial, first.version, first.conflated, first.deleted) == (True, 3, 1, ())
    assert set(first.changed) == {b"number", b"only-1", b"only-2", b"only-3"}


def test_a_key_added_and_deleted_is_absent_in_a_merged_change() -> None:
    """In a merged change a key added and deleted is absent; a key deleted and written again counts as changed."""
    driver = Driver()
    driver.publish([(b"a", b"1"), (b"b", b"1")])
    reader = Reader(driver, driver.publisher.mailbox(1))
    reader.take()
    for written in ([(b"c", b"1"), (b"a", None)], [(b"c", None), (b"a", b"2")], [(b"b", None), (b"d", b"1")]):
        driver.publish(written)
    change = reader.take()
    assert (set(change.changed), set(change.deleted), change.conflated) == ({b"a", b"d"}, {b"b"}, 3)


@pytest.mark.long
@pytest.mark.parametrize("recent_changes", [0, 1000])
def test_a_stuck_listener_holds_few_versions(recent_changes: int) -> None:
    """Pending changes are kept as diffs: each version kept would hold a record of every key written since."""
    driver = Driver(recent_changes)
    stuck = driver.publisher.mailbox(100)
    driver.count_to(1)
    assert stuck.take(0) is not None
    driver.count_to(400)
    gc.collect()
    assert len(driver.store._held) <= 4
    reader = Reader(driver, stuck, 1)
    reader.take_all()
    assert [change.conflated for change in reader.heard] == [1] * 99 + [300]


def test_a_listener_that_raises_hears_the_next_version(caplog: pytest.LogCaptureFixture) -> None:
    """An error of a listener is logged with listener and version, kept and counted; it and others continue."""
    driver = Driver()
    driver.count_to(1)
    others: list[int] = []

    def fragile(change: Change) -> None:
        if change.version != 2:
            raise SystemExit(3) if change.version == 3 else RuntimeError("planned")

    def count() -> None:
        driver.publisher.health.listener_failed()

    subscription = Subscription(fragile, driver.publisher.mailbox(10), count)
    other = Subscription(lambda change: others.append(change.version), driver.publisher.mailbox(10), count)
    driver.count_to(3)
    wait_until(lambda: driver.publisher.status().counts.listener_errors == 2 and others == [1, 2, 3])
    assert isinstance(subscription.last_error, SystemExit)  # not even that ends its thread silently
    assert other.last_error is None
    messages = [record.getMessage() for record in caplog.records]
    assert [(message.split()[1].split(".")[-1], message[-9:]) for message in messages] == [
        ("fragile", "version 1"),
        ("fragile", "version 3"),
    ]
    subscription.close()
    other.close()


def test_an_error_that_is_kept_holds_no_version(caplog: pytest.LogCaptureFixture) -> None:
    """``last_error`` has its traceback, but not the listener's variables, one of which is the version."""
    driver = Driver(recent_changes=0)
    driver.count_to(1)

    def fragile(change: Change) -> None:
        if change.version == 1:
            raise RuntimeError(weakref.ref(change.snapshot))

    subscription = Subscription(fragile, driver.publisher.mailbox(10), lambda: None)
    wait_until(lambda: subscription.last_error is not None)
    driver.count_to(2)
    error = subscription.last_error
    assert error is not None
    assert error.__traceback__ is not None
    wait_until(lambda: error.args[0]() is None)
    subscription.close()


def test_a_listener_may_close_its_own_subscription() -> None:
    """Closing a subscription from within its call does not wait for itself."""
    driver = Driver()
    closed = threading.Event()

    def listener(_change: Change) -> None:
        subscription.close()
        closed.set()

    subscription = Subscription(listener, driver.publisher.mailbox(10), lambda: None)
    driver.count_to(1)
    assert closed.wait(30)
    assert subscription.closed


def test_an_iterator_ends_times_out_and_fails() -> None:
    """A closed iterator ends; a timeout raises WaitTimeoutError; a failed replica raises after earlier changes."""
    driver = Driver()
    changes = Changes(driver.publisher.mailbox(10), 0.01)
    ended = Changes(driver.publisher.mailbox(1), None)
    with pytest.raises(WaitTimeoutError, match="no new version"):
        next(changes)
    was_ready = changes.ready
    driver.count_to(1)
    driver.publisher.failed(KafkaReplicaError("gone"))
    assert next(changes).version == 1
    assert (was_ready, changes.ready) == (False, True)
    with pytest.raises(KafkaReplicaError, match="gone"):
        next(changes)
    late = Changes(driver.publisher.mailbox(10), 0)
    assert next(late).initial
    with pytest.raises(KafkaReplicaError, match="gone"):
        next(late)
    ended.close()
    assert driver.publisher.mailbox(1).closed


def test_closing_an_iterator_ends_a_wait_in_it() -> None:
    """Closing an iterator ends a wait in it; dropping an iterator closes its mailbox, so nothing is kept for it."""
    driver = Driver()
    changes = Changes(driver.publisher.mailbox(10), None)
    waiting = threading.Thread(target=lambda: list(changes))
    waiting.start()
    changes.close()
    waiting.join(30)
    assert not waiting.is_alive()
    forgotten = driver.publisher.mailbox(10)
    Changes(forgotten, None)
    assert forgotten.closed
    driver.count_to(1)
    assert driver.publisher._mailboxes == []


def test_closed_mailboxes_are_dropped_without_a_new_version() -> None:
    """Clients that connect and disconnect while nothing is written leave no mailboxes behind."""
    driver = Driver()
    driver.count_to(1)
    for _ in range(5):
        driver.publisher.mailbox(10).close()
    last = driver.publisher.mailbox(10)
    assert driver.publisher._mailboxes == [last]


@pytest.mark.parametrize("since", [None, 1])
def test_a_whole_state_replaces_pending_changes(since: int | None) -> None:
    """A version whose changes are unknown replaces what waits: its content is exact, and it counts all versions."""
    driver = Driver()
    driver.count_to(2)
    mailbox = driver.publisher.mailbox(3, since)
    driver.count_to(4)
    pending = sum(each.versions for each in mailbox._pending)
    driver.store.apply(Delta(records([(b"a", b"x"), (b"number", None)], 50)), Position({P: 50}))
    driver.publisher.published(driver.store.snapshot(), None)
    applied = driver.store.apply(Delta(records([(b"b", b"y")], 60)), Position({P: 60}))
    driver.publisher.published(driver.store.snapshot(), applied)
    state, later = mailbox.take(0), mailbox.take(0)
    assert state is not None
    assert later is not None
    assert (state.initial, state.conflated) == (True, pending + 1)
    expected = {**driver.models[4], b"a": b"x"}
    del expected[b"number"]
    assert values(state.snapshot) == expected
    assert (later.initial, set(later.changed), later.previous) == (False, {b"b"}, state.snapshot)
    assert not mailbox.ready


@pytest.mark.thorough
def test_merging_costs_only_the_new_keys() -> None:
    """A full mailbox merges a change of two keys without going through the thousand pending ones."""
    requested_keys: list[object] = []

    class Counting(dict[bytes, Any]):
        def setdefault(self, key: bytes, default: Any = None, /) -> Any:
            requested_keys.append(key)
            return super().setdefault(key, default)

        def __iter__(self) -> Iterator[bytes]:
            requested_keys.extend(super().__iter__())
            return super().__iter__()

    driver = Driver()
    mailbox = driver.publisher.mailbox(1)
    driver.count_to(1)
    Reader(driver, mailbox).take()
    driver.count_to(1000)
    merged = mailbox._pending[-1]
    assert isinstance(merged, MergedDiff)
    merged.before = Counting(merged.before)
    driver.count_to(1001)
    assert mailbox._pending[-1] is merged
    assert set(requested_keys) == {b"number", b"only-1001"}


def test_a_change_after_a_rebuild_is_marked() -> None:
    """The change that follows a rebuild says so, also if a full mailbox has merged it with others."""
    driver = Driver()
    mailbox = driver.publisher.mailbox(1)
    driver.count_to(1)
    mailbox.take()
    driver.count_to(2)
    driver.publisher.outdated(LogReplacedError("the topic was recreated"))
    driver.count_to(4)
    merged = mailbox.take()
    assert merged is not None
    assert (merged.rebuilt, merged.conflated) == (True, 3)
    driver.count_to(5)
    later = mailbox.take()
    assert later is not None
    assert not later.rebuilt


def test_calls_at_a_version() -> None:
    """A callback runs once, when its version is there or never will be, unless removed; an error affects no others."""
    driver = Driver()
    called: list[str] = []
    position = driver.store.snapshot().position.advanced({})
    driver.publisher.call_when(position, lambda: 1 / 0)
    driver.publisher.call_when(position, lambda: called.append("first"))
    driver.publisher.call_when(position, lambda: called.append("taken back"))()
    driver.count_to(1)
    assert called == ["first"]
    driver.publisher.call_when(position, lambda: called.append("at once"))
    assert driver.publisher.snapshot is not None
    second = {partition: offset + 10 for partition, offset in driver.publisher.snapshot.position.items()}
    never = {partition: offset + 990 for partition, offset in driver.publisher.snapshot.position.items()}
    driver.publisher.call_when(second, lambda: called.append("second"))
    driver.publisher.call_when(never, lambda: called.append("never"))
    assert called == ["first", "at once"]
    driver.count_to(3)
    assert called == ["first", "at once", "second"]
    further = {partition: offset + 3 for partition, offset in driver.publisher.snapshot.position.items()}
    driver.publisher.call_when(further, lambda: called.append("further"))
    driver.publisher.advanced(Position(further))
    assert called.pop() == "further", "the version shown may come to stand for a later cut"
    driver.publisher.stopped()
    assert called == ["first", "at once", "second", "never"]
    assert driver.publisher._callbacks._waiting == {}


def test_pickling_process_bound_objects_raises_with_advice() -> None:
    """Pickling both kinds of snapshots, changes with them, iterators and subscriptions raises an error with advice."""
    driver = Driver()
    driver.count_to(3)
    mailbox = driver.publisher.mailbox(10, since=1)
    change = mailbox.take(0)
    assert change is not None
    subscription = Subscription(lambda _: None, mailbox, lambda: None)
    for what, says in (
        (driver.store.snapshot(), "dict\\(snapshot\\)"),
        (change.snapshot, "dict\\(snapshot\\)"),
        (change, "dict\\(snapshot\\)"),
        (Changes(driver.publisher.mailbox(10), None), "in the other process"),
        (subscription, "in the other process"),
    ):
        with pytest.raises(UsageError, match=says):
            pickle.dumps(what)
    subscription.close()
    assert type(driver.store) is MemoryStore


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forking with threads is what is tested
def test_an_iterator_in_a_forked_child_raises_with_advice() -> None:
    """In a forked child an iterator, which is never notified, raises with advice and does not touch locks.

    Another thread may have held the locks at the fork.
    """
    driver = Driver()
    driver.count_to(1)
    changes = Changes(mailbox := driver.publisher.mailbox(10), None)
    locked, done = threading.Event(), threading.Event()

    def hold() -> None:
        with mailbox._waiters:
            locked.set()
            done.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    assert locked.wait(30)
    child = os.fork()
    if child == 0:
        threading.Timer(30, os._exit, [3]).start()
        try:
            next(changes)
        except UsageError as error:
            changes.close()  # without the lock
            os._exit(17 if "after the fork" in str(error) else 1)
        os._exit(2)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    done.set()
    holder.join()
    assert code == 17


def test_a_transaction_whose_records_are_all_outdated_makes_no_version() -> None:
    """Its position is reached without a version, and no record is reported as pending."""
    topic = FakeTopic()
    with topic.replica() as replica:
        replica.wait_ready(60)
        changes = replica.changes(timeout_s=60)
        first, second = topic.begin(), topic.begin()
        first.put("k", b"first")
        second.put("k", b"second")
        second.commit()
        first.commit()
        replica.wait_for(topic.end(), 60)
        assert replica.status().pending_records == 0
        topic.put("last", b"1")
        seen: list[tuple[int, list[bytes], list[bytes]]] = []
        while not seen or b"last" not in seen[-1][1]:
            change = next(changes)
            seen.append((change.version, list(change.changed), list(change.deleted)))
        assert seen == [(1, [], []), (2, [b"k"], []), (3, [b"last"], [])]
        assert replica.status().counts.records == 3
