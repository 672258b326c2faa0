"""The checkpoint file of a memory store: damage, crashes, full disks."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from kafka_replica import Change, Position
from kafka_replica.errors import StoreDamagedError
from kafka_replica.stores.checkpoint import FIRST_RECORD, HEADER
from kafka_replica.stores.delta import Delta
from kafka_replica.testing import FakeTopic
from kafka_replica.testing.fake_reader import FakeReader
from support.core.checkpoint_tools import WRITTEN, damage, opened, opened_and_closed, outcome, saved
from support.core.store_contract import P, records, values
from support.effort import usual_or_long
from support.waiting import wait_until


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a path for a checkpoint file."""
    return tmp_path / "state"


# --- damage ---


@pytest.mark.thorough
def test_every_flipped_bit_is_noticed(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Bit flips in header, keys, positions and resume point are noticed on opening, in a record when it is read."""
    first = saved(path, dict(WRITTEN))
    with_one = path.stat().st_size
    store = opened(path)
    store.save_resume_point(second := first.with_position(Position({P: 50}), 60))
    store.close()
    good = path.read_bytes()
    keys_at = HEADER.unpack_from(good)[4]
    for at in range(len(good)):
        bad = bytearray(good)
        bad[at] ^= 1 << at % 8
        path.write_bytes(bad)
        caplog.clear()
        found = outcome(path)
        if at < FIRST_RECORD or keys_at <= at < with_one:
            assert found == ("begun anew", None), at
            assert str(path) in caplog.text
        elif at < keys_at:
            assert found == ("noticed at reading", second), at
        else:  # the newest resume point; the one before it is of the same data
            assert found == ("as it was", first), at
    path.write_bytes(good)
    assert outcome(path) == ("as it was", second)


@pytest.mark.thorough
def test_every_flipped_bit_is_noticed_where_the_places_of_records_are_read(path: Path) -> None:
    """A place that is read without its record is checked, too: it decides which records Kafka has deleted."""
    saved(path, dict(WRITTEN))
    good = path.read_bytes()
    keys_at = HEADER.unpack_from(good)[4]
    for at in range(FIRST_RECORD, keys_at):
        bad = bytearray(good)
        bad[at] ^= 1 << at % 8
        path.write_bytes(bad)
        damaged = opened(path)
        with pytest.raises(StoreDamagedError):
            list(damaged.offsets())
        assert damaged.is_damaged
        damaged.close()


@pytest.mark.thorough
def test_every_cut_off_file_is_noticed(path: Path) -> None:
    """A file truncated anywhere is noticed; but of two resume points the first is enough."""
    first = saved(path, dict(WRITTEN))
    with_one = path.stat().st_size
    store = opened(path)
    store.save_resume_point(first.with_position(Position({P: 50}), 60))
    store.close()
    good = path.read_bytes()
    for size in range(len(good)):
        path.write_bytes(good[:size])
        assert outcome(path) == (("begun anew", None) if size < with_one else ("as it was", first)), size


def test_a_torn_note_is_overwritten(path: Path) -> None:
    """The torn note that a crash left at the end of the file is overwritten."""
    first = saved(path, dict(WRITTEN))
    with path.open("ab") as file:
        file.write(b"torn" * 100)
    store = opened(path)
    assert store.resume_point == first
    store.save_resume_point(second := first.with_position(Position({P: 50}), 60))
    store.close()
    assert outcome(path) == ("as it was", second)


def test_a_file_of_another_program_is_not_overwritten(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file of another program or of a newer format version is not overwritten, but kept under another name."""
    saved(path, dict(WRITTEN))
    newer = bytearray(path.read_bytes())
    newer[16] = 9
    for other, why in [(b"settings: mine", "is not a checkpoint file"), (bytes(newer), "has format 9")]:
        path.write_bytes(other)
        caplog.clear()
        saved(path, dict(WRITTEN))
        assert why in caplog.text
        assert (path.parent / "state.set-aside").read_bytes() == other
        assert outcome(path)[0] == "as it was"


def test_damage_is_not_carried_on_into_the_next_file(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Copying a record verifies its checksum, too: the file stays as it is, and the store has to be rebuilt."""
    saved(path, dict(WRITTEN))
    damage(path, b"first")
    bad = path.read_bytes()
    store = opened(path)
    store.apply(Delta(records([(b"d", b"1")], 10)), Position({P: 11}))
    store.close()
    assert store.is_damaged
    assert "differs from the data written" in caplog.text
    assert path.read_bytes() == bad
    assert not path.with_name("state.writing").exists()


def test_a_damaged_file_is_not_saved_during_the_rebuild(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The file stays away until there is a new state, and no failure is reported where there is none."""
    saved(path, dict(WRITTEN))
    damage(path, b"first")
    store = opened(path)
    with pytest.raises(StoreDamagedError):
        store.snapshot().get(b"a")
    store.rebuild()
    store.close()
    assert not path.exists()
    assert not caplog.records


def test_a_damaged_store_is_rebuilt(path: Path) -> None:
    """The file is removed at once and no diff is given; snapshots from before keep their undamaged records."""
    saved(path, dict(WRITTEN))
    damage(path, b"first")
    store = opened(path)
    held = store.snapshot()
    with pytest.raises(StoreDamagedError, match="reading a in the checkpoint file"):
        held.get(b"a")
    was_damaged = store.is_damaged
    store.rebuild()
    assert (was_damaged, store.is_damaged) == (True, False)
    assert not path.exists()
    applied = store.apply(Delta(records(list(WRITTEN.items()), 100)), Position({P: 103}))
    assert not store.is_damaged
    assert applied is None
    assert values(store.snapshot()) == WRITTEN
    assert held[b"c"].value == b"x" * 40
    store.close()
    assert outcome(path)[0] == "as it was"


def damaged_topic(path: Path) -> FakeTopic:
    """Return a topic of which the file has all records; the first one is damaged."""
    topic = FakeTopic()
    for key, value in WRITTEN.items():
        topic.put(key, value)
    with topic.replica(opened(path)) as replica:
        replica.wait_for(topic.end(), 30)
    damage(path, b"first")
    return topic


def test_a_damaged_record_that_is_replaced_hides_no_change_from_listeners(path: Path) -> None:
    """A listener that lags gets the complete state, if its differences cannot be kept; others get the version as usual.

    The store is then rebuilt, but the rebuilt state has no differences to the version that has the changes.
    """
    topic, may_go_on = damaged_topic(path), Event()
    lagging, fast = list[set[bytes]](), list[set[bytes]]()

    def listener(heard: list[set[bytes]], waits: bool) -> Callable[[Change], None]:
        def note(change: Change) -> None:
            heard.append(set(change.changed))
            assert not waits or may_go_on.wait(30)

        return note

    with topic.replica(opened(path)) as replica:
        replica.wait_for(topic.end(), 30)
        replica.subscribe(listener(lagging, waits=True), max_pending=1)
        replica.subscribe(listener(fast, waits=False))
        wait_until(lambda: lagging and fast)
        replica.wait_for(topic.put("fills the mailbox", b"1"), 30)
        with topic.transaction() as transaction:
            for written in ("a", "c", "new"):
                transaction.put(written, b"2")
        wait_until(lambda: replica.status().counts.rebuilds and replica.ready, timeout_s=30)
        may_go_on.set()
        for heard in (lagging, fast):
            wait_until(lambda heard=heard: {b"a", b"c", b"new"} <= set().union(*heard[1:]))  # type: ignore[misc]
        assert replica.snapshot()["a"].value == b"2"


def test_a_change_that_a_listener_has_not_taken_does_not_prevent_the_rebuild(path: Path) -> None:
    """The rebuilt version is kept, although the listener's earlier change refers to the damaged record."""
    topic, may_go_on = damaged_topic(path), Event()
    heard = list[set[bytes]]()

    def listener(change: Change) -> None:
        heard.append(set(change.changed))
        assert may_go_on.wait(30)

    with topic.replica(opened(path)) as replica:
        replica.wait_for(topic.end(), 30)
        replica.subscribe(listener)
        wait_until(lambda: heard)
        with topic.transaction() as transaction:
            for written in ("a", "new"):
                transaction.put(written, b"2")
        wait_until(lambda: replica.status().counts.rebuilds and replica.ready, timeout_s=30)
        replica.wait_for(topic.put("later", b"3"), 30)
        assert replica.status().counts.rebuilds == 1
        may_go_on.set()
        wait_until(lambda: {b"a", b"new", b"later"} <= set().union(*heard[1:]))


@pytest.mark.thorough
def test_waiting_for_a_position_does_not_wait_for_the_rebuild_of_a_damaged_store(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version shown has the position, of the same log."""
    topic, may_go_on, open_ = damaged_topic(path), Event(), FakeReader.open
    with topic.replica(opened(path)) as replica:
        replica.wait_for(topic.end(), 30)

        def slowly(*arguments: Any) -> Any:
            assert may_go_on.wait(30)
            return open_(*arguments)

        monkeypatch.setattr(FakeReader, "open", slowly)
        with pytest.raises(StoreDamagedError):
            replica.snapshot().get("a")
        wait_until(lambda: replica.status().counts.rebuilds, timeout_s=30)
        try:
            assert replica.wait_for(topic.end(), 20).version == 1
        finally:
            may_go_on.set()


# --- crashes and full disks ---

_SAVES_ALL_THE_TIME = """
import sys
from kafka_replica import Position, MemoryStore, Partition, Record
from kafka_replica.stores.delta import Delta
P, path = Partition("t", 0), sys.argv[1]
store = MemoryStore(path, checkpoint_every_s=0.001)
print("ready", flush=True)
number = store.snapshot().version
while True:
    number += 1
    value = b"%d" % number * 50
    store.apply(Delta([Record(b"%d" % key, value, number, 0, (), P) for key in range(2000)]), Position({P: number}))
"""


@pytest.mark.long
@pytest.mark.scaled
def test_kill_9_at_any_moment(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A process killed at any moment leaves one whole version, never older than one found before."""
    dice, versions = random.Random(1), [0]
    for _ in range(usual_or_long(12, 25, 200)):
        program = [sys.executable, "-c", _SAVES_ALL_THE_TIME, str(path)]
        with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(dice.uniform(0.05, 0.3))
            process.send_signal(signal.SIGKILL)
        store = opened_and_closed(path)
        snapshot = store.snapshot()
        assert {record.value for record in snapshot.values()} <= {b"%d" % snapshot.version * 50}
        assert len(snapshot) == (2000 if snapshot.version else 0)
        assert snapshot.position.get(P, 0) == snapshot.version >= versions[-1]
        versions.append(snapshot.version)
    assert len(set(versions)) > 2
    assert not caplog.records
    assert not path.with_name("state.writing").exists()


def test_half_a_file_beside_is_nothing(path: Path) -> None:
    """A file that was half written when the process was killed is removed."""
    saved(path, dict(WRITTEN))
    aside = path.with_name("state.writing")
    aside.write_bytes(path.read_bytes()[:100])
    assert outcome(path)[0] == "as it was"
    assert not aside.exists()


_HAS_NO_ROOM = """
import logging, resource, sys, time
from kafka_replica.testing import FakeTopic
from kafka_replica import MemoryStore
messages = []
class Noted(logging.Handler):
    def emit(self, record):
        messages.append(record.getMessage())
logging.getLogger("kafka_replica").addHandler(Noted())
def until(is_so):
    give_up_s = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < give_up_s
        time.sleep(0.01)
before = resource.getrlimit(resource.RLIMIT_FSIZE)
path = sys.argv[1]
topic = FakeTopic()
topic.put("first", b"small")
store = MemoryStore(path, checkpoint_every_s=0.01)
tries, save = [], store._saver._save
store._saver._save = lambda: (save(), tries.append(1))
with topic.replica(store) as replica:
    replica.wait_ready(60)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    topic.put("large", b"x" * 100_000)
    until(lambda: messages)
    done = len(tries)
    until(lambda: len(tries) > done + 5)
    said = list(messages)
    topic.put("later", b"y")
    until(lambda: "later" in replica.snapshot())
    state = str(replica.state)
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
store = MemoryStore(path)
print(len(said), said[0])
print(state, b",".join(sorted(store.snapshot())).decode(), messages == said)
"""


@pytest.mark.thorough
def test_a_full_disk(path: Path) -> None:
    """A full disk is logged once; the replica continues; once there is room, the file is written."""
    program = [sys.executable, "-c", _HAS_NO_ROOM, str(path)]
    done = subprocess.run(program, check=False, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith(f"1 cannot write the checkpoint file {path}: File too large; free some disk space")
    assert second == "live first,large,later True"
