"""A program that kills replicas at random moments: ``rocks_killed.py FOLDER KILLS SEED``.

This is not a test but a program that ``test_rocks_crashes`` starts. Each replica is in a process forked for it, with
a writer and a ``FakeTopic`` that is rebuilt each time up to the end of the previous one: only the number of a
transaction determines its content.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

from kafka_replica import Record, RocksStore
from kafka_replica.testing import FakeTopic, fake_cluster
from support.core.rocks_crasher import forked
from support.core.rocks_tools import values

WHOLE = [f"whole{number}" for number in range(8)]
"""The keys that every transaction gives the same value."""


class Written:
    """A topic, and the number of transactions begun on it, in a file that outlives the process."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.seed = seed
        self.file = os.open(folder / "written", os.O_CREAT | os.O_RDWR)
        with mock.patch.object(fake_cluster, "uuid4", return_value="the same topic"):
            self.topic = FakeTopic(partitions=3)
        self.number = 0
        for _ in range(int(os.pread(self.file, 20, 0) or b"0")):
            self.write()

    def write(self) -> None:
        """Write the next transaction."""
        self.number += 1
        if self.number > int(os.pread(self.file, 20, 0) or b"0"):
            os.pwrite(self.file, b"%020d" % self.number, 0)
        dice = random.Random(f"{self.seed} {self.number}")
        transaction = self.topic.begin()
        for key in WHOLE:
            transaction.put(key, b"%d" % self.number, timestamp_ms=self.number)
        for _ in range(dice.choice([1, 5, 400])):
            key = f"k{dice.randrange(600)}"
            if dice.random() < 0.3:
                transaction.delete(key, timestamp_ms=self.number)
            else:
                transaction.put(key, dice.randbytes(200), timestamp_ms=self.number)
        transaction.abort() if dice.random() < 0.1 else transaction.commit()


def open_store(folder: Path) -> RocksStore:
    """A store with small buffers and parts, so that much happens."""
    store = RocksStore(folder / "store", write_buffer_bytes=1 << 16)
    store.part_bytes = 1 << 14
    return store


def live(folder: Path, seed: int) -> None:
    """Run a replica and a writer, until they are killed."""
    written, store = Written(folder, seed), open_store(folder)
    with written.topic.replica(store, barrier_timeout_s=60):
        (folder / "alive").touch()
        while True:
            written.write()
            time.sleep(0.001)


def look(folder: Path) -> None:
    """Check that the remaining state is whole, and not older than the state before."""
    store = open_store(folder)
    found = values(store.snapshot())
    assert len({found.get(key.encode()) for key in WHOLE}) == 1, "half a transaction was left"
    version, before = store.snapshot().version, folder / "version"
    assert version >= int(before.read_text() if before.exists() else 0)
    before.write_text(str(version))
    store.close()


def finish(folder: Path, seed: int) -> None:
    """Check that the final state is that of the topic."""
    written, store = Written(folder, seed), open_store(folder)
    begun_at, resume_point = store.snapshot().version, store.resume_point
    assert resume_point is not None, "it was never gone on from anything"
    read_to = resume_point.position.resume()
    unread = sum(record.offset >= read_to.get(record.source, 0) for record in written.topic.records())
    expected: dict[bytes, Record] = {}
    for record in written.topic.records():
        if record.value is None:
            expected.pop(record.key, None)
        else:
            expected[record.key] = record
    with written.topic.replica(store) as replica:
        snapshot = replica.wait_for(written.topic.end(), timeout_s=60)
        assert dict(snapshot) == expected
        assert len(snapshot) == len(expected) > 100
        assert replica.status().counts.records == unread < len(written.topic.records()), "it began from nothing"
    print(begun_at, snapshot.version, written.number, flush=True)  # this process ends by os._exit


def killed(work: Callable[[], None], folder: Path, delay_s: float) -> None:
    """Run a function in a process until that long after it has made the file ``alive`` in the folder, then kill it."""
    (folder / "alive").unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    kill_at_s = None
    while kill_at_s is None or time.monotonic() < kill_at_s:
        if kill_at_s is None and (folder / "alive").exists():
            kill_at_s = time.monotonic() + delay_s
        assert os.waitpid(child, os.WNOHANG) == (0, 0), "it ended before it was killed"
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def main() -> None:
    """Kill, check, and finish."""
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    dice = random.Random(seed)
    for _ in range(kills):
        killed(partial(live, folder, seed), folder, dice.random() * 0.2)
        forked(partial(look, folder))
    forked(partial(finish, folder, seed))


if __name__ == "__main__":
    assert threading.active_count() == 1
    main()
