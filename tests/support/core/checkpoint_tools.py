"""Shared tools of the tests of the checkpoint file."""

from __future__ import annotations

from pathlib import Path

from kafka_replica import MemoryStore, Position
from kafka_replica.errors import StoreDamagedError
from kafka_replica.stores.delta import Delta
from kafka_replica.transactions.resume_point import ResumePoint
from support.core.store_contract import P, records, values

PATIENCE_S = 60.0
WRITTEN = {b"a": b"first", b"b\n": b"", b"c": b"x" * 40}


def opened(path: Path) -> MemoryStore:
    """Open a store that saves when it is closed."""
    return MemoryStore(path, checkpoint_every_s=None)


def opened_and_closed(path: Path) -> MemoryStore:
    """Open and close a store; snapshots stay readable."""
    store = opened(path)
    store.close()
    return store


def bookmark_of(position: Position) -> ResumePoint:
    """Return a resume point with a value in every field except the incarnation."""
    return ResumePoint(position, {"t": "id"}, {P: 3}, 5, "everything")


def saved(path: Path, written: dict[bytes, bytes | None]) -> ResumePoint:
    """Write a file with these values."""
    store = opened(path)
    mark = bookmark_of(Position({P: len(written)}))
    store.apply(Delta(records(list(written.items()))), mark.position, mark)
    store.close()
    return mark


def outcome(path: Path) -> tuple[str, ResumePoint | None]:
    """Return the result of a store that starts from a file, and is read."""
    store = opened(path)
    try:
        if store.resume_point is None:
            assert len(store.snapshot()) == 0
            return "begun anew", None
        try:
            same = values(store.snapshot()) == WRITTEN
        except StoreDamagedError:
            assert store.is_damaged
            return "noticed at reading", store.resume_point
        assert same, "served"
        assert not store.is_damaged
        return "as it was", store.resume_point
    finally:
        store.close()


def damage(path: Path, what: bytes) -> None:
    """Change these bytes of a file."""
    data = path.read_bytes()
    assert data.count(what) == 1
    path.write_bytes(data.replace(what, what[::-1]))
