"""The store in memory: one dict of the present, and what snapshots need of the past.

The dict always holds the newest version. Each version that has a successor keeps the records which
that successor replaced (``replaced``), and a reference to it (``newer``). A snapshot looks a key up in
the dict and then asks the versions made since, oldest first, whether one of them replaced it. So:

* taking a snapshot is O(1), applying a delta is O(its keys), neither depends on the number of keys;
* versions refer forward only: once the last snapshot of a version is gone, so is what was kept for it.
  A snapshot that is held gathers what it needs of newer versions now and then, one record a key, so that
  a key which is written again and again is kept once;
* records are kept as the parser made them, and become a ``Record`` when one is asked for, once;
* no reader waits for the writer. The writer first links what it is going to replace, then changes
  the dict; a reader first looks into the dict, then at the links. Whichever way the two interleave, a
  reader that finds a new record in the dict also finds the link that tells it the old one;
* a store that began with a checkpoint file keeps, instead of a record, where it lies in that file, until somebody
  asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from threading import RLock
from typing import TypeVar, overload

from kafka_replica.records import Key, Partition, Position, Record, Stored, as_record, key_bytes
from kafka_replica.stores.checkpoint import NOTHING_SAVED, Kept, Saved
from kafka_replica.stores.contract import Snapshot
from kafka_replica.transactions.resume_point import ResumePoint

T = TypeVar("T")

NOWHERE = Partition("", -1)
_UNTOUCHED = object()
_KEPT_AT_ONCE = 200


class Version:
    """A version's place in the chain; ``newer`` is set last, and makes ``replaced`` valid."""

    __slots__ = ("count", "newer", "number", "position", "replaced", "resume_point")

    def __init__(self, number: int, position: Position, count: int, resume_point: ResumePoint | None = None) -> None:
        self.number = number
        self.position = position
        self.count = count
        self.resume_point = resume_point
        self.replaced: dict[bytes, Kept | None] = {}
        self.newer: Version | None = None


class Present:
    """The records of the newest version; shared by the store and its snapshots."""

    __slots__ = ("_lock", "records", "saved", "source")

    def __init__(self, records: dict[bytes, Kept], source: Partition, saved: Saved = NOTHING_SAVED) -> None:
        self.records = records
        self.source = source  # of records that do not say it
        self.saved = saved  # what numbers among the records are places in
        self._lock = RLock()  # a signal handler may read what the same thread is making

    def update(self, alive: dict[bytes, Stored], deleted: tuple[bytes, ...]) -> None:
        """Makes the next version. The lock keeps a reader from putting back what was replaced meanwhile."""
        with self._lock:
            self.records.update(alive)
            for key in deleted:
                del self.records[key]

    def place(self, raw: Kept) -> tuple[Partition, int]:
        """The partition and the offset of what is kept; what lies in a file is not checked for damage."""
        if isinstance(raw, int):
            return self.saved.place(raw)
        return raw.source if isinstance(raw, Record) else self.source, raw[2]

    def made(self, key: bytes, raw: Kept) -> Record:
        """The record of what is kept, which is kept itself from now on, if it is still the present one.

        Raises:
            StoreDamagedError: it lies in a file, where something else was written over it.
        """
        record = self.saved.record(key, raw) if isinstance(raw, int) else as_record(raw, self.source)
        with self._lock:
            if self.records.get(key) is raw:
                self.records[key] = record
        return record


class MemorySnapshot(Snapshot):
    """One version of a memory store."""

    __slots__ = ("__weakref__", "_lock", "_look_up", "_old", "_present", "_seen", "_version")

    def __init__(self, present: Present, version: Version) -> None:
        self._present = present
        self._look_up = present.records.get
        self._version = version.number, version.position, version.count
        self._seen = version  # the newest version whose predecessors' replaced records are in _old
        self._old: dict[bytes, Kept | None] = {}
        self._lock = RLock()  # a signal handler may read what the same thread is gathering

    @property
    def version(self) -> int:  # noqa: D102 - as the contract says
        return self._version[0]

    @property
    def position(self) -> Position:  # noqa: D102
        return self._version[1]

    def __len__(self) -> int:
        return self._version[2]

    @overload
    def get(self, key: Key, /) -> Record | None: ...
    @overload
    def get(self, key: Key, /, default: Record | T) -> Record | T: ...
    def get(self, key: Key, /, default: Record | T | None = None) -> Record | T | None:
        """The record of a key, or ``default``.

        Raises:
            StoreDamagedError: it lies in a checkpoint file, and is not what was written there.
        """
        if key.__class__ is not bytes:
            key = key_bytes(key)
        record = self._look_up(key)  # the dict first, then the links: see above
        if self._seen.newer is not None:
            self.gather_old()
        if self._old:
            record = self._old.get(key, record)
        if record.__class__ is Record:
            return record
        return default if record is None else self._present.made(key, record)

    def __iter__(self) -> Iterator[bytes]:
        keys = list(self._present.records)  # one step, so the writer cannot come in between
        self.gather_old()
        old = self._old.copy()
        if not old:
            return iter(keys)
        return self._iterate(keys, old)

    @staticmethod
    def _iterate(keys: list[bytes], old: dict[bytes, Kept | None]) -> Iterator[bytes]:
        for key in keys:
            if old.pop(key, _UNTOUCHED) is not None:
                yield key
        yield from (key for key, record in old.items() if record is not None)

    def kept(self) -> Iterator[tuple[bytes, Kept]]:
        """Keys and what is kept of their records, for who saves them."""
        keys_of_all = iter(self)
        while keys := list(islice(keys_of_all, _KEPT_AT_ONCE)):
            found = [self._look_up(key) for key in keys]
            self.gather_old()
            for key, now in zip(keys, found, strict=True):
                kept = self._old.get(key, now)
                if kept is not None:  # as is every key of this version
                    yield key, kept

    def gather_old(self) -> None:
        """Moves what newer versions replaced into one dict; the oldest replacement of a key counts."""
        with self._lock:
            version = self._seen
            while (newer := version.newer) is not None:
                for key, record in version.replaced.items():
                    self._old.setdefault(key, record)
                version = newer
            self._seen = version  # last: whoever still sees the old one waits for the lock
