"""A program that kills replicas with histories at random moments: ``history_killed.py FOLDER KILLS SEED``.

This is not a test but a program that ``test_kills`` starts. As in ``rocks_killed``, whose topic it uses, each replica
is in a process forked for it. After each kill the history must have every version of the store but perhaps the newest,
each equal to the state of the topic at its position.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections import deque
from functools import partial
from pathlib import Path

from kafka_replica import Position, Record
from kafka_replica.history import VersionHistory, step_writer
from support.core.rocks_crasher import forked
from support.core.rocks_killed import Written, killed, open_store

KEPT = 60
step_writer._BATCH_BYTES, step_writer.CHUNK_KEYS = 1 << 12, 20  # so that large transactions are written in parts


def open_history(folder: Path) -> VersionHistory:
    """A history with small buffers that removes old versions."""
    return VersionHistory(folder / "history", keep_versions=KEPT, write_buffer_bytes=1 << 16)


def live(folder: Path, seed: int) -> None:
    """Run a replica, its history and a writer, until they are killed."""
    written, store = Written(folder, seed), open_store(folder)
    replica = written.topic.replica(store, barrier_timeout_s=60)
    open_history(folder).follow(replica)
    begun_at = store.snapshot().version
    with replica:
        while True:
            written.write()
            if replica.ready and replica.snapshot().version > begun_at:  # so it has recorded a version
                (folder / "alive").touch()
            time.sleep(0.001)


def look(folder: Path, seed: int) -> None:
    """Check all versions that are kept."""
    written, store, history = Written(folder, seed), open_store(folder), open_history(folder)
    stored, kept = store.snapshot(), history.versions(limit=1_000)[::-1]
    assert 0 <= stored.version - kept[-1].number <= 1, "more than the version that was being published is missing"
    assert all(each.missing == 0 for each in kept[1:]), "a version was not recorded"
    assert [each.number for each in kept] == list(range(kept[0].number, kept[-1].number + 1))
    assert len({each.incarnation for each in kept}) == 1
    for version, state in zip(kept, states(written, [each.position for each in kept]), strict=True):
        snapshot = history.at(version=version)
        assert dict(snapshot) == state
        assert len(snapshot) == len(state)
    with (folder / "looks").open("a") as file:
        file.write(f"{kept[-1].number} {len(kept)}\n")


def states(written: Written, positions: list[Position]) -> list[dict[bytes, Record]]:
    """Return the states of the topic at positions, in ascending order."""
    found, state = [], dict[bytes, Record]()
    left = {partition: deque[Record]() for partition in written.topic.partitions}  # a key is in one partition
    for record in written.topic.records():
        left[record.source].append(record)
    for position in positions:
        for records in left.values():
            while records and is_in(position, records[0]):
                record = records.popleft()
                if record.value is None:
                    state.pop(record.key, None)
                else:
                    state[record.key] = record
        found.append(dict(state))
    return found


def is_in(position: Position, record: Record) -> bool:
    """Return whether a record of the only writer is in the version at a position."""
    is_open = any(open_.partition == record.source and open_.holds(record.offset) for open_ in position.open)
    return record.offset < position.get(record.source, 0) and not is_open


def main() -> None:
    """Kill and check."""
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    dice = random.Random(seed)
    for _ in range(kills):
        killed(partial(live, folder, seed), folder, 0.05 + dice.random() * 0.2)
        forked(partial(look, folder, seed))
    print((folder / "looks").read_text(), flush=True)


if __name__ == "__main__":
    assert threading.active_count() == 1
    main()
