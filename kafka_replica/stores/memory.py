"""The store in memory. How it keeps versions is told in ``memory_snapshot``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakSet

from kafka_replica.common.wording import counted
from kafka_replica.errors import StoreDamagedError
from kafka_replica.records import Headers, Partition, Position, Record, Stored, as_record
from kafka_replica.stores.checkpoint import NOTHING_SAVED, Kept
from kafka_replica.stores.delta import Applied, Delta
from kafka_replica.stores.memory_snapshot import NOWHERE, MemorySnapshot, Present, Version
from kafka_replica.transactions.resume_point import ResumePoint

if TYPE_CHECKING:
    from kafka_replica.stores.checkpoint_file import Image, Saver

_GATHER_EVERY_VERSIONS = 64


class MemoryStore:
    """Keeps a topic in memory; see ``memory_snapshot`` for how.

    Nothing outlives the process, unless there is a checkpoint file: the present version is written there when the
    store is closed and at intervals, by a thread of its own, and the next store made with the file begins with that
    version. A replica then reads only what is new. What was shown after the file was written is read again, under
    another ``incarnation``. A file that is damaged is never shown: the replica is built anew. A file that cannot be
    written is said in the log, and the replica goes on.

    Args:
        checkpoint: the file; one store at a time may have it.
        checkpoint_every_s: seconds between two times that it is written, if there is news; None: at the end only.

    Raises:
        ConfigurationError: the file is a folder, or the interval is none.
        StoreInUseError: another store has the file.
        StoreError: nothing can be written there.
    """

    part_bytes: int | None = None

    def __init__(
        self, checkpoint: str | os.PathLike[str] | None = None, *, checkpoint_every_s: float | None = 300.0
    ) -> None:
        self._staged: Delta | None = None
        self._is_rebuilding = False
        # One reference, so that who takes a snapshot never gets the records of one with the version of another.
        self._now = Present({}, NOWHERE), Version(0, Position(), 0)
        self._held: WeakSet[MemorySnapshot] = WeakSet()
        self._held_lock = Lock()
        self._saved = NOTHING_SAVED  # what the present version may lie in
        self._beginnings = 0  # numbers of versions count from each of them
        self._checkpoint = None if checkpoint is None else Path(checkpoint).absolute()
        self._saver = None if self._checkpoint is None else self._open(self._checkpoint, checkpoint_every_s)

    def __repr__(self) -> str:
        _, version = self._now
        place = "" if self._checkpoint is None else f" {str(self._checkpoint)!r}"
        return f"<MemoryStore{place} version {version.number}, {counted(version.count, 'key')}>"

    @property
    def resume_point(self) -> ResumePoint | None:
        """What was given with the present version."""
        return self._now[1].resume_point

    @property
    def is_damaged(self) -> bool:
        """Whether something was met in the checkpoint file that is not what was written. Memory is not damaged."""
        return self._saved.is_damaged

    def newest(self, key: bytes) -> Stored | None:
        """What was written of a key, staged or published."""
        if self._staged is not None and key in self._staged.changes:
            staged = self._staged.changes[key]
            return as_record(staged, self._staged.source or NOWHERE)
        return None if self._is_rebuilding else self.snapshot().get(key)

    def offsets(self) -> Iterator[tuple[bytes, Partition, int]]:
        """Key, partition and offset of every record that was written, staged or published."""
        present, _ = self._now
        staged = Delta() if self._staged is None else self._staged
        if not self._is_rebuilding:
            for key, kept in list(present.records.items()):
                if key not in staged.changes:
                    yield key, *present.place(kept)
        source = staged.source or NOWHERE
        for key, raw in staged.changes.items():
            if raw[1] is not None:
                yield key, raw.source if isinstance(raw, Record) else source, raw[2]

    def stage(self, delta: Delta) -> None:
        """Takes in a part of the next version; see ``Store.stage``."""
        self._staged = self._staged or Delta()
        self._staged.merge(delta)

    def apply(self, delta: Delta, position: Position, resume_point: ResumePoint | None = None) -> Applied | None:
        """Makes the next version; see ``Store.apply``."""
        if self._staged is not None:
            self._staged.merge(delta)
            delta, self._staged = self._staged, None
        resume_point = resume_point or ResumePoint(position)
        present, before = self._now
        present.source = delta.source or present.source
        applied: Applied | None
        if self._is_rebuilding:
            applied = self._replace(delta, position, resume_point)
        else:
            applied = (
                self._change(delta, position, resume_point)
                if before.count
                else self._fill(delta, position, resume_point)
            )
        if (before.number + 1) % _GATHER_EVERY_VERSIONS == 0:
            self._gather()
        return applied

    def note(self, resume_point: ResumePoint) -> None:
        """Is saved with the present version."""
        self._now[1].resume_point = resume_point

    def rebuild(self, *, forget: bool = False) -> None:
        """Begins to build anew; see ``Store.rebuild``."""
        self._staged = None
        self._is_rebuilding = True
        if self._saver is not None and (forget or self.is_damaged):
            self._saver.discard()
        self._saved = NOTHING_SAVED
        if forget:
            self._now = Present({}, NOWHERE), Version(0, Position(), 0)
            self._is_rebuilding = False
            self._beginnings += 1

    def _replace(self, delta: Delta, position: Position, resume_point: ResumePoint) -> Applied | None:
        """All that there was, replaced by the records of a delta; what only lies elsewhere in the log is no change."""
        present, _ = self._now
        source = delta.source or present.source
        whole = Delta(source=source)
        whole.changes.update((key, as_record(new, source)) for key, new in delta.changes.items())
        moved: set[bytes] = set()
        is_known = True
        for key, old in list(present.records.items()):
            was, new = _content(present, key, old), whole.changes.setdefault(key, (key, None, -1, -1, ()))
            is_known &= was is not None
            if was == _content(present, key, new):
                moved.add(key)
        whole.tombstone_count = sum(record[1] is None for record in whole.changes.values())
        applied = self._change(whole, position, resume_point)
        self._is_rebuilding = False
        if not is_known:
            return None
        return Applied(tuple(key for key in applied.changed if key not in moved), applied.deleted)

    def _fill(self, delta: Delta, position: Position, resume_point: ResumePoint) -> Applied:
        """The first records: the delta becomes the store, nothing is copied."""
        empty, before = self._now
        records: dict[bytes, Kept]
        if delta.has_deletions:
            records = {key: record for key, record in delta.changes.items() if record[1] is not None}
        else:
            records = delta.changes  # type: ignore[assignment] # it is nobody else's from now on
        # Who holds the empty version, or one before it, keeps the dict that they have.
        self._now = Present(records, empty.source), Version(before.number + 1, position, len(records), resume_point)
        return Applied(tuple(records), ())

    def _change(self, delta: Delta, position: Position, resume_point: ResumePoint) -> Applied:
        present, before = self._now
        records, changes = present.records, delta.changes
        replaced = {key: records.get(key) for key in changes}
        if delta.has_deletions:
            alive = {key: record for key, record in changes.items() if record[1] is not None}
            deleted = tuple(key for key, old in replaced.items() if old is not None and key not in alive)
        else:
            alive, deleted = changes, ()
        changed = tuple(alive)
        added = sum(replaced[key] is None for key in changed)
        version = Version(before.number + 1, position, before.count + added - len(deleted), resume_point)
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
        """Saves, where there is a checkpoint file, and lets go of that. Snapshots stay readable. Idempotent."""
        if self._saver is not None:
            self._saver.close()

    def _open(self, path: Path, every_s: float | None) -> Saver:
        """Begins with what a file has, if it can be used."""
        from kafka_replica.stores.checkpoint_file import Saver  # noqa: PLC0415 - brings asyncio, with its locks

        saver = Saver(path, every_s)
        found = saver.load()
        if found is not None:
            # Versions that were shown after it was written had the same numbers as those that come next.
            resume_point = replace(found.note.resume_point, incarnation="")
            self._saved = found.saved
            version = Version(found.note.version, resume_point.position, len(found.records), resume_point)
            self._now = Present(found.records, NOWHERE, found.saved), version
        saver.begin(self._image, (self._beginnings, self._now[1].number), self.resume_point)
        return saver

    def _image(self) -> Image | None:
        """The present version, if it is to be saved; from any thread."""
        from kafka_replica.stores.checkpoint_file import Image  # noqa: PLC0415

        beginnings, now = self._beginnings, self._now
        present, version = now
        resume_point = version.resume_point
        if resume_point is None or self._is_rebuilding or self.is_damaged:
            return None
        data = beginnings, version.number
        snapshot = MemorySnapshot(present, version)
        return Image(data, snapshot.kept(), present.saved, present.source, version.number, resume_point)


def _content(present: Present, key: bytes, kept: Kept) -> tuple[bytes | None, Headers] | None:
    """What counts of a record; None where nobody can say."""
    if not isinstance(kept, int):
        return kept[1], kept[4]
    try:
        record = present.saved.record(key, kept)
    except StoreDamagedError:
        return None
    return record.value, record.headers
