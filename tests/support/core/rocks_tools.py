"""Shared tools of the tests of the store on disk."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kafka_replica import Partition, Position, Record, RocksStore, Snapshot
from kafka_replica.stores.delta import AppliedChanges, Delta
from kafka_replica.stores.rocks.folder import StoreFolder

P = Partition("t", 0)
Values = Mapping[bytes, bytes | None]
_RAM = Path("/dev/shm")  # where waiting for a disk costs nothing: no test here is about power failures


@contextmanager
def new_folder() -> Iterator[Path]:
    """Yield a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(dir=_RAM if _RAM.is_dir() else None, ignore_cleanup_errors=True) as name:
        yield Path(name)


def delta(changes: Values, offset: int = 0) -> Delta:
    """Return one record per key, with ascending offsets; None deletes."""
    return Delta([Record(key, value, offset + at, 1_000, (), P) for at, (key, value) in enumerate(changes.items())])


def publish(store: RocksStore, changes: Values, offset: int = 0) -> AppliedChanges | None:
    """Apply the next version."""
    return store.apply(delta(changes, offset), Position({P: offset + len(changes)}))


def values(snapshot: Snapshot) -> dict[bytes, bytes | None]:
    """Return the content of a snapshot, by one scan."""
    return {key: record.value for key, record in snapshot.items()}


def many(count: int, value: bytes, first: int = 0) -> dict[bytes, bytes | None]:
    """Return that many keys with one value."""
    return {b"k%07d" % number: value for number in range(first, first + count)}


def present(folder: Path) -> Path:
    """Return the current database of the store in a folder."""
    found = StoreFolder(folder, read_only=True).current()
    assert found is not None
    return found


def run(program: str, *arguments: object, timeout_s: float = 120) -> str:
    """Run a Python program in a separate process, with the modules of the tests; return its output."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{program}", *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        timeout=timeout_s,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
