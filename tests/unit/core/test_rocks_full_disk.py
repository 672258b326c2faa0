"""A full disk is reported, the version shown stays, nothing is lost, and writing continues when there is room."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.core.rocks_tools import new_folder, run

pytestmark = pytest.mark.long

CROWDED = """
import gc
from support.core.rocks_tools import *
from kafka_replica.stores import StoreError
from kafka_replica.stores.delta import Delta

# What files are made of, 2.5 MB: it does not become smaller by compression.
import random
dice = random.Random(1)
BIG = {b"k%07d" % number: dice.randbytes(1_000) for number in range(2_500)}

def stage(store):
    for at in range(0, len(BIG), 100):
        store.stage(delta(dict(list(BIG.items())[at:at + 100])))

def plain(store):
    for at in range(0, len(BIG), 100):
        try:
            publish(store, dict(list(BIG.items())[at:at + 100]), at * 10)
        except StoreError:
            raise
        done.append(at)

def staged(store):
    stage(store)
    publish(store, {b"last": b"1"}, 99_000)

def rebuilt(store):
    store.rebuild()
    staged(store)

def one(store):
    publish(store, {b"huge": dice.randbytes(2_500_000)}, 99_000)

def expect_no_room(work, store):
    try:
        work(store)
    except StoreError as error:
        assert type(error) is StoreError, repr(error)
        assert "the disk is full: free some disk space and restart the replica; it resumes" in str(error), error
    else:
        raise AssertionError("there was room")
    assert not store.is_damaged

def go_through(folder, crowd, give_room, *, holds_snapshot=False):
    for work in (staged, plain, one, rebuilt):
        done.clear()
        path = folder / work.__name__
        store = RocksStore(path, write_buffer_bytes=1 << 16)
        before = {**many(100, b"old"), b"gone": b"x"}
        publish(store, before)
        publish(store, {b"gone": None}, 200)
        del before[b"gone"]
        crowd()
        expect_no_room(work, store)
        for at in done:
            before.update(list(BIG.items())[at:at + 100])
        assert values(store.snapshot()) == before
        assert len(store.snapshot()) == len(before)
        assert store.snapshot().version == 2 + len(done)
        held = store.snapshot() if holds_snapshot else None
        store.close()
        gc.collect()
        give_room()
        store = RocksStore(path, write_buffer_bytes=1 << 16)
        assert values(store.snapshot()) == before
        assert store.snapshot().version == 2 + len(done)
        work(store)
        assert len(store.snapshot()) > 100
        for key, value in (BIG if work is not one else {}).items():
            assert store.snapshot()[key].value == value
        assert held is None or values(held) == before
        store.close()
        del held
        gc.collect()
        RocksStore(path).rebuild(forget=True)
        gc.collect()

done = []
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for stores."""
    with new_folder() as path:
        yield path


def test_files_that_may_not_grow(folder: Path) -> None:
    """A limit of the operating system on file sizes has the same effect in all ways of writing a version."""
    program = """
import resource
def limit(size): resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
go_through(Path(sys.argv[1]), lambda: limit(90_000), lambda: limit(resource.RLIM_INFINITY))
print("done")
"""
    assert run(CROWDED + program, folder) == "done\n"


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of 24 MB of its own."""
    disk = folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "none", disk], check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip(f"NOT TRIED: no small disk can be mounted here: {mounted.stderr.decode()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


FULL_DISK = """
import shutil, time
ballast = Path(sys.argv[1]) / "ballast"

def crowd():
    room = shutil.disk_usage(ballast.parent).free
    ballast.write_bytes(b"x" * (room - 600_000))
"""


def test_a_store_is_opened_again_after_a_full_disk_while_a_snapshot_is_held(small_disk: Path) -> None:
    """A held snapshot keeps the database open with the full disk's error; the reopened store can be written again."""
    program = """
go_through(ballast.parent, crowd, ballast.unlink, holds_snapshot=True)
print("done")
"""
    assert run(CROWDED + FULL_DISK + program, small_disk) == "done\n"


def test_a_disk_that_is_full(small_disk: Path) -> None:
    """On a small disk that another program filled a replica fails, continues serving, and can be started again."""
    program = """
from kafka_replica.testing import FakeTopic
from kafka_replica import State

go_through(ballast.parent, crowd, ballast.unlink)

topic = FakeTopic()
topic.put("first", b"1")
path = ballast.parent / "replica"
with topic.replica(RocksStore(path, write_buffer_bytes=1 << 16)) as replica:
    replica.wait_ready(timeout_s=60)
    crowd()
    for key, value in BIG.items():
        topic.put(key, value)
    end = time.monotonic() + 60
    while replica.status().state is not State.FAILED:
        assert time.monotonic() < end, replica.status()
        time.sleep(0.01)
    assert "the disk is full: free some disk space" in str(replica.status().last_error)
    assert replica.snapshot()["first"].value == b"1"
    served = values(replica.snapshot())
del replica
gc.collect()
ballast.unlink()
store = RocksStore(path)
assert values(store.snapshot()) == served
with topic.replica(store) as replica:
    assert len(values(replica.wait_for(topic.end(), timeout_s=30))) == len(BIG) + 1
print("done")
"""
    assert run(CROWDED + FULL_DISK + program, small_disk) == "done\n"
