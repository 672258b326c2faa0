"""The states of a replica as a state machine, and the status made from them."""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from threading import Condition
from typing import Any

import pytest

from kafka_replica import BadRecordError, KafkaReplicaError, KeyFilter, Partition, Position, Record, State
from kafka_replica.errors import LogReplacedError
from kafka_replica.publication.health import Health
from kafka_replica.publication.health_tracker import HealthTracker
from kafka_replica.publication.status import Status, lag
from kafka_replica.testing import FakeTopic
from kafka_replica.transactions import Ends
from support.waiting import wait_until

P = Partition("t", 0)


def health() -> Health:
    """Return a health that stalls after 10 s and blocks after 1 s, started at 0."""
    made = Health(stalled_after_s=10, blocked_after_s=1)
    made.started(0)
    return made


def at(offset: int) -> Position:
    """Return a position."""
    return Position({P: offset})


def test_a_replica_catches_up_and_then_is_live() -> None:
    """A replica is new until started, catching up until ready, then live."""
    assert Health(stalled_after_s=1, blocked_after_s=1).state(0) is State.NEW
    machine = health()
    assert machine.state(1) is State.CATCHING_UP
    machine.ready()
    assert machine.state(1) is State.LIVE


def test_a_contact_ends_the_stalled_state() -> None:
    """After the given time without contact the state is stalled; the next contact ends that."""
    machine = health()
    machine.ready()
    machine.heard(5)
    assert machine.state(14.9) is State.LIVE
    assert machine.state(15) is State.STALLED
    machine.heard(16)
    assert machine.state(16) is State.LIVE


def test_a_pause_in_which_the_replica_asks_nothing_does_not_count_as_silence() -> None:
    """After the pause the broker has the given time to answer; a replica that is stalled already stays so."""
    machine = health()
    machine.heard(5)
    machine.paused(6, 36)
    assert machine.state(45.9) is State.CATCHING_UP
    assert machine.state(46) is State.STALLED
    machine.paused(50, 80)
    assert machine.state(50) is State.STALLED
    machine.heard(81)
    assert machine.state(90.9) is State.CATCHING_UP
    assert machine.state(91) is State.STALLED


def test_an_open_transaction_in_the_way_blocks() -> None:
    """A last stable offset below the high watermark, unchanged for a second and read up to, means blocked."""
    machine = health()
    machine.ends(at(5), at(9), at(5), now_s=1)
    assert machine.state(1.5) is State.CATCHING_UP
    machine.ends(at(5), at(12), at(5), now_s=2)
    assert machine.state(2) is State.BLOCKED
    assert machine.blocking_transaction == (P, 5)
    assert machine.blocked_s(3) == 2
    machine.ends(at(12), at(12), at(12), now_s=3)
    assert machine.state(3) is State.CATCHING_UP
    assert machine.blocking_transaction is None


def test_busy_writers_do_not_block() -> None:
    """A last stable offset that moves is not blocked by a transaction, however far it lags."""
    machine = health()
    machine.ready()
    for second in range(1, 9):
        machine.heard(second)
        machine.ends(at(second * 10), at(second * 10 + 5), at(second * 10), now_s=second)
        assert machine.state(second) is State.LIVE


def test_reading_that_has_not_come_so_far_is_not_blocked() -> None:
    """A reader below the last stable offset is catching up and not blocked by a transaction."""
    machine = health()
    machine.ends(at(50), at(90), at(10), now_s=1)
    machine.ends(at(50), at(90), at(20), now_s=3)
    assert machine.state(3) is State.CATCHING_UP


def test_an_open_transaction_that_holds_back_no_committed_records_does_not_block() -> None:
    """Versions are made meanwhile; it is reported, and blocks as soon as records wait for its end."""
    machine = health()
    machine.ready()
    machine.ends(at(5), at(9), at(5), 0, waits=False)
    assert (machine.state(2), machine.blocked_s(2), machine.blocking_transaction) == (State.LIVE, 2, (P, 5))
    machine.ends(at(5), at(9), at(5), 2)
    assert machine.state(2) is State.BLOCKED


def test_a_rebuild_forgets_the_open_transactions_of_the_log_before() -> None:
    """The replica is not blocked while it reads the new log."""
    machine = health()
    machine.ready()
    machine.ends(at(5), at(9), at(5), 0)
    assert machine.state(2) is State.BLOCKED
    machine.not_ready()
    assert (machine.state(2), machine.blocked_s(2), machine.blocking_transaction) == (State.CATCHING_UP, 0, None)


def test_ends_are_final() -> None:
    """A failed replica stays failed; closing it afterwards changes the state to stopped."""
    machine = health()
    machine.failed()
    machine.heard(1)
    machine.ready()
    assert machine.state(1) is State.FAILED
    machine.stopped()
    machine.failed()
    assert machine.state(1) is State.STOPPED


def test_lag_counts_offsets() -> None:
    """The lag is unknown until the ends are known, and never negative."""
    assert lag(at(3), Position()) is None
    assert lag(Position(), at(3)) == 3
    assert lag(at(5), at(3)) == 0


def test_a_version_of_a_replaced_log_lags_until_the_new_log_was_read() -> None:
    """While a replaced log with fewer offsets is read, all its offsets count, and the time since the replacement."""
    machine = health()
    machine.heard(time.monotonic())
    tracker = HealthTracker(Condition(), machine)
    for end in (at(100), at(0), at(5)):
        tracker.ends(Ends(end, end), waits=False)
        tracker.published(at(100), 1, ())
        assert (tracker.status(0).lag_records, tracker.status(0).lag_s) == (0, 0.0)
        tracker.outdated(LogReplacedError("replaced"))
        tracker.heard()
        for new in (at(0), at(30)):
            tracker.ends(Ends(new, new), waits=False)
            status = tracker.status(0)
            assert (status.lag_records, status.lag_stable_records) == (new[P], new[P])
            assert status.lag_s is not None
            assert status.lag_s > 0
            assert status.position == at(100)
        tracker.advanced(at(30))
        assert (tracker.status(0).lag_records, tracker.status(0).lag_s) == (0, 0.0)


def test_counts_of_records_do_not_decrease_at_a_rebuild() -> None:
    """The records and tombstones that were read before rebuilds are still counted afterwards."""
    tracker = HealthTracker(Condition(), health())
    seen = []
    for totals in ((10, 2), (4, 1), (7, 0)):
        tracker.counted(0, totals)
        counts = tracker.status(0).counts
        seen.append((counts.records, counts.tombstones))
        tracker.outdated(LogReplacedError("replaced"))
    assert seen == [(10, 2), (14, 3), (21, 3)]


def test_status_is_json() -> None:
    """A status can be written as JSON, with the state as text and positions as objects."""
    plain = Status(state=State.BLOCKED, ready=False, version=0, keys=0, position=at(4)).as_json()
    assert json.loads(json.dumps(plain))["position"] == {"t-0": 4}
    assert plain["state"] == "blocked"
    assert plain["counts"]["records"] == 0


def test_the_oldest_of_several_open_transactions_blocks() -> None:
    """A transaction hangs in one partition, while another partition has short transactions all the time."""
    busy, hanging = Partition("t", 0), Partition("t", 1)
    machine = Health(stalled_after_s=1000.0, blocked_after_s=1.0)
    machine.started(0)
    machine.ready()
    for number in range(60):
        is_open = number % 3 != 0
        stable = Position({busy: 100 + number - is_open, hanging: 5})
        high = Position({busy: 100 + number, hanging: 9})
        machine.ends(stable, high, high, now_s=number * 0.1)
    assert machine.state(6.0) is State.BLOCKED
    assert machine.blocked_s(6.0) == pytest.approx(6.0)
    assert machine.blocking_transaction == (hanging, 5)


class OutcomeOfTest(BaseException):
    """An exception like those of ``pytest.fail`` and ``pytest.skip``."""


@pytest.mark.parametrize("kind", [SystemExit, asyncio.CancelledError, OutcomeOfTest])
@pytest.mark.parametrize("place", ["validator", "key_filter", "recorder", "initial_records"])
def test_a_replica_fails_with_any_exception_of_a_function_given_to_it(kind: type[BaseException], place: str) -> None:
    """The reading thread never ends unnoticed, even by exceptions that a thread does not report."""
    topic, is_armed = FakeTopic("t"), threading.Event()

    def raise_it(*_: object) -> bool:
        if is_armed.is_set():
            raise kind("from a user")
        return True

    options_of: dict[str, dict[str, Any]] = {
        "validator": {"validator": raise_it, "on_bad_record": "skip"},
        "key_filter": {"key_filter": KeyFilter(raise_it, "raises")},
        "recorder": {},
        "initial_records": {"initial_records": raise_it},
    }
    if place == "initial_records":
        is_armed.set()
    with topic.replica(**options_of[place]) as replica:
        if place != "initial_records":
            replica.wait_ready(60)
            replica.record_versions(raise_it if place == "recorder" else lambda *_: None)
            is_armed.set()
            topic.put("k", b"v")
        wait_until(lambda: replica.state is State.FAILED)
        with pytest.raises(
            KafkaReplicaError, match=f"{kind.__name__}: from a user; .* a subclass of Exception"
        ) as raised:
            replica.wait_for({P: 99}, 60)
        assert ("<Record k at t-0@0, 1 byte>" in str(raised.value)) is (place == "validator")
        assert str(raised.value) == replica.status().last_error


def test_a_lack_of_memory_fails_a_replica_and_sets_no_record_aside() -> None:
    """Another machine would accept the record, so that replicas would differ."""
    topic = FakeTopic("t")
    topic.put("k", b"v")

    def exhaust(_: Record) -> None:
        raise MemoryError

    with topic.replica(validator=exhaust, on_bad_record="skip") as replica:
        with pytest.raises(KafkaReplicaError, match=r"validating .*k.*MemoryError: ; start it again with more memory"):
            replica.wait_ready(60)
        assert replica.bad_records == []


class TwoPartError(KafkaReplicaError):
    """An error whose constructor takes other arguments than its base."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


def test_an_error_with_its_own_constructor_is_raised_to_every_waiter() -> None:
    """An error about the arguments of its constructor does not replace it."""

    def load() -> list[tuple[str, bytes]]:
        raise TwoPartError("the real", "reason")

    with FakeTopic("t").replica(initial_records=load) as replica:
        for call in (replica.wait_ready, replica.snapshot, lambda: next(replica.changes(timeout_s=60))):
            wait_until(lambda: replica.state is State.FAILED)
            with pytest.raises(TwoPartError, match="the real reason"):
                call()


def test_an_infinite_timeout_waits_without_limit() -> None:
    """No system can measure that time, so it is not passed on."""
    topic = FakeTopic("t")
    with topic.replica() as replica:
        changes = replica.changes(timeout_s=math.inf)
        replica.wait_ready(math.inf)
        writer = threading.Timer(0.1, topic.put, ("k", b"v"))
        writer.start()
        assert list(replica.wait_for({P: 1}, math.inf)) == [b"k"]
        assert [next(changes).version, next(changes).version] == [1, 2]
        writer.join(30)


def test_a_version_is_served_after_a_failure_and_after_closing() -> None:
    """Waiting for a version that is there already returns it; waiting for any other one raises the reason."""
    topic = FakeTopic("t")
    with topic.replica() as replica:
        replica.wait_ready(60)
        topic.put("k", b"v")
        shown = replica.wait_for(topic.end(), 60)
        topic.put(None, b"bad")
        wait_until(lambda: replica.state is State.FAILED)
        for closes in (False, True):
            if closes:
                replica.close()
            assert replica.ready
            assert replica.wait_ready(60).version == replica.wait_for({P: 1}, 60).version == shown.version
            with pytest.raises(BadRecordError, match="t-0, offset 1"):
                replica.wait_for({P: 2}, 60)
