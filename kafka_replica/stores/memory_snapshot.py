"""The store in memory: a dict of the current version, and the old records that snapshots need.

The dict always holds the newest version. Each version that has a successor keeps the records that the
successor replaced (``replaced``), and a reference to the successor (``newer``). A snapshot looks up a key in
the dict and then checks, oldest first, whether a later version replaced it. So:

* taking a snapshot is O(1), applying a delta is O(its keys), and neither depends on the number of keys;
* versions refer only forward: once the last snapshot of a version is gone, its old records are freed.
  From time to time, a live snapshot gathers the records it needs from newer versions, one record per key, so
  that a key that is written repeatedly is kept once;
* records are kept in the parser's form. That of the parser in Python is converted to a ``Record`` once, on the first
  access;
* no reader waits for the writer. The writer first links the records that it will replace, then changes
  the dict; a reader looks first into the dict, then at the links. However reader and writer interleave, a reader that
  finds a new record in the dict also finds the link to the old one;
* a store that started from a checkpoint file keeps the offset of a record in that file until the record is first
  accessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from threading import RLock
from typing import TypeVar, overload

from kafka_replica.errors import BadRecordError
from kafka_replica.records import Key, Partition, Position, Record, Stored, as_record, key_bytes, source_of
from kafka_replica.stores.checkpoint import NOTHING_SAVED, Kept, SavedRecords
from kafka_replica.stores.contract import Snapshot
from kafka_replica.transactions.resume_point import ResumePoint

T = TypeVar("T")

_UNTOUCHED = object()
_KEPT_AT_ONCE = 200


class Version:
    """A version in the chain; ``newer`` is set last, and makes ``replaced`` valid."""

    __slots__ = ("count", "newer", "number", "position", "replaced", "resume_point")

    def __init__(self, number: int, position: Position, count: int, resume_point: ResumePoint | None = None) -> None:
        self.number = number
        self.position = position
        self.count = count
        self.resume_point = resume_point
        self.replaced: dict[bytes, Kept | None] = {}
        self.newer: Version | None = None


class PresentRecords:
    """The records of the newest version; shared by the store and its snapshots."""

    __slots__ = ("_lock", "records", "saved", "source")

    def __init__(self, records: dict[bytes, Kept], source: Partition, saved: SavedRecords = NOTHING_SAVED) -> None:
        self.records = records
        self.source = source  # the partition of records without a source
        self.saved = saved  # the file to which offsets among the records refer
        self._lock = RLock()  # reentrant: a signal handler may read while its own thread is writing

    def update(self, alive: dict[bytes, Stored], deleted: tuple[bytes, ...]) -> None:
        """Apply the next version. The lock prevents a reader from restoring a record that was replaced meanwhile."""
        with self._lock:
            self.records.update(alive)
            for key in deleted:
                del self.records[key]

    def location(self, key: bytes, raw: Kept) -> tuple[Partition, int]:
        """Return partition and offset of an entry.

        Raises:
            StoreDamagedError: the data in a file is damaged.
        """
        if isinstance(raw, int):
            return self.saved.location(key, raw)
        return source_of(raw, self.source), raw[2]

    def loaded(self, key: bytes, raw: Kept) -> Record:
        """Return the record of an entry, and replace the entry by it, if the entry is still current.

        Raises:
            StoreDamagedError: the record is in a file, and damaged.
        """
        record = self.saved.record(key, raw) if isinstance(raw, int) else as_record(raw, self.source)
        with self._lock:
            if self.records.get(key) is raw:
                self.records[key] = record
        return record


class MemorySnapshot(Snapshot):
    """A version of a memory store."""

    __slots__ = ("__weakref__", "_lock", "_look_up", "_old", "_present", "_seen", "_version")

    def __init__(self, present: PresentRecords, version: Version) -> None:
        self._present = present
        self._look_up = present.records.get
        self._version = version.number, version.position, version.count
        self._seen = version  # the newest version whose predecessors' replaced records are in _old
        self._old: dict[bytes, Kept | None] = {}
        self._lock = RLock()  # reentrant: a signal handler may read while its own thread is gathering

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
        """Return the record of a key, or ``default``.

        Raises:
            StoreDamagedError: the record is in a checkpoint file, and damaged.
        """
        raw: bytes = key if key.__class__ is bytes else key_bytes(key)  # pyright: ignore[reportAssignmentType] # as below
        record = self._look_up(raw)  # the dict first, then the links: see above
        if self._seen.newer is not None:
            self.gather_old()
        if self._old:
            record = self._old.get(raw, record)
        if record.__class__ is Record:
            return record  # pyright: ignore[reportReturnType] # it does not narrow by __class__
        return default if record is None else self._present.loaded(raw, record)

    def __iter__(self) -> Iterator[bytes]:
        keys = list(self._present.records)  # one atomic step, so that the writer cannot interfere
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
        """Yield keys and entries of all records, for saving them."""
        keys_of_all = iter(self)
        while keys := list(islice(keys_of_all, _KEPT_AT_ONCE)):
            found = [self._look_up(key) for key in keys]
            self.gather_old()
            for key, now in zip(keys, found, strict=True):
                kept = self._old.get(key, now)
                if kept is not None:  # every key of this version has an entry
                    yield key, kept

    def scan_values(self) -> Iterator[tuple[bytes, bytes | BadRecordError]]:
        """Yield each key with its value; unlike look-ups, this leaves records in the parser's form."""
        for key, kept in self.kept():
            yield key, self._present.loaded(key, kept).value if kept.__class__ is int else kept[1]  # type: ignore[misc, index]

    def gather_old(self) -> None:
        """Collect in one dict the records that newer versions replaced; the first replaced record of a key is kept."""
        with self._lock:
            version = self._seen
            while (newer := version.newer) is not None:
                for key, record in version.replaced.items():
                    self._old.setdefault(key, record)
                version = newer
            self._seen = version  # last: readers that still see the old value wait for the lock
