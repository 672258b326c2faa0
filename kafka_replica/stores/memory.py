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
  reader that finds a new record in the dict also finds the link that tells it the old one.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock, RLock
from typing import TypeVar, overload
from weakref import WeakSet

from kafka_replica.bookmark import Bookmark
from kafka_replica.delta import Applied, Delta
from kafka_replica.records import Cut, Headers, Key, Partition, Record, Stored, as_record, key_bytes
from kafka_replica.stores.contract import Snapshot

T = TypeVar("T")

_UNTOUCHED = object()
_NOWHERE = Partition("", -1)
_GATHER_EVERY_VERSIONS = 64


class _Version:
    """A version's place in the chain; ``newer`` is set last, and makes ``replaced`` valid."""

    __slots__ = ("count", "cut", "newer", "number", "replaced")

    def __init__(self, number: int, cut: Cut, count: int) -> None:
        self.number = number
        self.cut = cut
        self.count = count
        self.replaced: dict[bytes, Stored | None] = {}
        self.newer: _Version | None = None


class _Present:
    """The records of the newest version; shared by the store and its snapshots."""

    __slots__ = ("_lock", "records", "source")

    def __init__(self, records: dict[bytes, Stored], source: Partition) -> None:
        self.records = records
        self.source = source  # of records that do not say it
        self._lock = RLock()  # a signal handler may read what the same thread is making

    def update(self, alive: dict[bytes, Stored], deleted: tuple[bytes, ...]) -> None:
        """Makes the next version. The lock keeps a reader from putting back what was replaced meanwhile."""
        with self._lock:
            self.records.update(alive)
            for key in deleted:
                del self.records[key]

    def made(self, key: bytes, raw: Stored) -> Record:
        """The record of what the parser made; kept, if it is still the present one."""
        record = as_record(raw, self.source)
        with self._lock:
            if self.records.get(key) is raw:
                self.records[key] = record
        return record


class MemorySnapshot(Snapshot):
    """One version of a memory store."""

    __slots__ = ("__weakref__", "_lock", "_look_up", "_old", "_present", "_seen", "_version")

    def __init__(self, present: _Present, version: _Version) -> None:
        self._present = present
        self._look_up = present.records.get
        self._version = version.number, version.cut, version.count
        self._seen = version  # the newest version whose predecessors' replaced records are in _old
        self._old: dict[bytes, Stored | None] = {}
        self._lock = RLock()  # a signal handler may read what the same thread is gathering

    @property
    def version(self) -> int:  # noqa: D102 - as the contract says
        return self._version[0]

    @property
    def cut(self) -> Cut:  # noqa: D102
        return self._version[1]

    def __len__(self) -> int:
        return self._version[2]

    @overload
    def get(self, key: Key, /) -> Record | None: ...
    @overload
    def get(self, key: Key, /, default: Record | T) -> Record | T: ...
    def get(self, key: Key, /, default: Record | T | None = None) -> Record | T | None:  # noqa: D102
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
    def _iterate(keys: list[bytes], old: dict[bytes, Stored | None]) -> Iterator[bytes]:
        for key in keys:
            if old.pop(key, _UNTOUCHED) is not None:
                yield key
        yield from (key for key, record in old.items() if record is not None)

    def gather_old(self) -> None:
        """Moves what newer versions replaced into one dict; the oldest replacement of a key counts."""
        with self._lock:
            version = self._seen
            while (newer := version.newer) is not None:
                for key, record in version.replaced.items():
                    self._old.setdefault(key, record)
                version = newer
            self._seen = version  # last: whoever still sees the old one waits for the lock


class MemoryStore:
    """Keeps a topic in memory; see the module for how. Nothing outlives the process."""

    part_bytes: int | None = None

    def __init__(self) -> None:
        self._bookmark: Bookmark | None = None
        self._staged: Delta | None = None
        self._is_rebuilding = False
        # One reference, so that who takes a snapshot never gets the records of one with the version of another.
        self._now = _Present({}, _NOWHERE), _Version(0, Cut(), 0)
        self._held: WeakSet[MemorySnapshot] = WeakSet()
        self._held_lock = Lock()

    @property
    def bookmark(self) -> Bookmark | None:
        """What was given with the present version."""
        return self._bookmark

    @property
    def is_damaged(self) -> bool:
        """Memory is not."""
        return False

    def newest(self, key: bytes) -> Stored | None:
        """What was written of a key, staged or published."""
        if self._staged is not None and key in self._staged.changes:
            staged = self._staged.changes[key]
            return as_record(staged, self._staged.source or _NOWHERE)
        return None if self._is_rebuilding else self.snapshot().get(key)

    def stage(self, delta: Delta) -> None:
        """Takes in a part of the next version; see ``Store.stage``."""
        self._staged = self._staged or Delta()
        self._staged.merge(delta)

    def apply(self, delta: Delta, cut: Cut, bookmark: Bookmark | None = None) -> Applied:
        """Makes the next version; see ``Store.apply``."""
        if self._staged is not None:
            self._staged.merge(delta)
            delta, self._staged = self._staged, None
        present, before = self._now
        present.source = delta.source or present.source
        if self._is_rebuilding:
            applied = self._replace(delta, cut)
        else:
            applied = self._change(delta, cut) if before.count else self._fill(delta, cut)
        self._bookmark = bookmark or Bookmark(cut)
        if (before.number + 1) % _GATHER_EVERY_VERSIONS == 0:
            self._gather()
        return applied

    def note(self, bookmark: Bookmark) -> None:
        """Nothing outlives the process."""
        self._bookmark = bookmark

    def rebuild(self, *, forget: bool = False) -> None:
        """Begins to build anew; see ``Store.rebuild``."""
        self._staged = None
        self._is_rebuilding = True
        if forget:
            self._bookmark, self._is_rebuilding = None, False
            self._now = _Present({}, _NOWHERE), _Version(0, Cut(), 0)

    def _replace(self, delta: Delta, cut: Cut) -> Applied:
        """All that there was, replaced by the records of a delta; what only lies elsewhere in the log is no change."""
        self._is_rebuilding = False
        present, _ = self._now
        source = delta.source or present.source
        whole = Delta(source=source)
        moved: set[bytes] = set()
        for key, new in delta.changes.items():
            old = present.records.get(key)
            if old is not None and _content(old) == _content(new):
                moved.add(key)
            whole.changes[key] = as_record(new, source)
        for key in present.records.keys() - whole.changes.keys():
            whole.changes[key] = (key, None, -1, -1, ())
        whole.tombstone_count = sum(record[1] is None for record in whole.changes.values())
        applied = self._change(whole, cut)
        return Applied(tuple(key for key in applied.changed if key not in moved), applied.deleted)

    def _fill(self, delta: Delta, cut: Cut) -> Applied:
        """The first records: the delta becomes the store, nothing is copied."""
        empty, before = self._now
        records = delta.changes
        if delta.tombstone_count:
            records = {key: record for key, record in records.items() if record[1] is not None}
        # Who holds the empty version, or one before it, keeps the dict that they have.
        self._now = _Present(records, empty.source), _Version(before.number + 1, cut, len(records))
        return Applied(tuple(records), ())

    def _change(self, delta: Delta, cut: Cut) -> Applied:
        present, before = self._now
        records, changes = present.records, delta.changes
        replaced = {key: records.get(key) for key in changes}
        if delta.tombstone_count:
            alive = {key: record for key, record in changes.items() if record[1] is not None}
            deleted = tuple(key for key, old in replaced.items() if old is not None and key not in alive)
        else:
            alive, deleted = changes, ()
        changed = tuple(alive)
        added = sum(replaced[key] is None for key in changed)
        version = _Version(before.number + 1, cut, before.count + added - len(deleted))
        before.replaced = replaced
        before.newer = version
        present.update(alive, deleted)
        self._now = present, version
        return Applied(changed, deleted)

    def snapshot(self) -> MemorySnapshot:
        """The present version, in O(1)."""
        snapshot = MemorySnapshot(*self._now)
        with self._held_lock:
            self._held.add(snapshot)
        return snapshot

    def _gather(self) -> None:
        with self._held_lock:
            held = list(self._held)
        for snapshot in held:
            snapshot.gather_old()

    def close(self) -> None:
        """Nothing to let go of: snapshots stay readable."""


def _content(stored: Stored) -> tuple[bytes | None, Headers]:
    return stored[1], stored[4]
