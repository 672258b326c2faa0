"""The store in memory; ``memory_snapshot`` explains how it keeps versions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakSet

from kafka_replica.common.compiled import PARSER
from kafka_replica.common.wording import counted
from kafka_replica.errors import StoreDamagedError, UsageError
from kafka_replica.records import NOWHERE, Headers, Partition, Position, Stored, as_record, source_of
from kafka_replica.stores.checkpoint import NOTHING_SAVED, Kept
from kafka_replica.stores.delta import AppliedChanges, Delta
from kafka_replica.stores.memory_snapshot import MemorySnapshot, PresentRecords, Version
from kafka_replica.transactions.resume_point import ResumePoint

if TYPE_CHECKING:
    from kafka_replica.stores.checkpoint_file import CheckpointImage, Saver

_GATHER_EVERY_VERSIONS = 64


class MemoryStore:
    """A store that keeps a topic in memory; ``memory_snapshot`` explains how.

    Without a checkpoint file, nothing outlives the process. With one, the store writes the current version to the file
    when it is closed, and in a background thread at intervals; the next store with the same file starts from that
    version. A replica then reads only newer records. Versions published after the file was written are read again,
    under another ``incarnation``. Readers never see a damaged file: the replica is rebuilt. If the file cannot be
    written, an error is logged, and the replica continues.

    Args:
        checkpoint: the file; only one store at a time may use it.
        checkpoint_every_s: the interval in seconds at which to write changes; None: only at the end.

    Raises:
        ConfigurationError: the file is a folder, or the interval is invalid.
        StoreInUseError: another store uses the file.
        StoreError: the file cannot be written.
    """

    part_bytes: int | None = None

    def __init__(
        self, checkpoint: str | os.PathLike[str] | None = None, *, checkpoint_every_s: float | None = 300.0
    ) -> None:
        self._staged: Delta | None = None
        self._is_rebuilding = False
        # One reference, so that a snapshot never combines the records of one version with the number of another.
        self._now = PresentRecords({}, NOWHERE), Version(0, Position(), 0)
        self._held: WeakSet[MemorySnapshot] = WeakSet()
        self._held_lock = Lock()
        self._saved = NOTHING_SAVED  # the file that may contain records of the current version
        self._beginnings = 0  # how often version numbers have restarted
        self._checkpoint = None if checkpoint is None else Path(checkpoint).absolute()
        self._saver = None if self._checkpoint is None else self._open(self._checkpoint, checkpoint_every_s)

    def __repr__(self) -> str:
        _, version = self._now
        where = "" if self._checkpoint is None else f" {str(self._checkpoint)!r}"
        return f"<MemoryStore{where} version {version.number}, {counted(version.count, 'key')}>"

    @property
    def resume_point(self) -> ResumePoint | None:
        """The resume point of the current version."""
        return self._now[1].resume_point

    @property
    def is_damaged(self) -> bool:
        """True if damaged data was found in the checkpoint file. Memory is never damaged."""
        return self._saved.is_damaged

    @property
    def damage(self) -> StoreDamagedError | None:
        """The damage that was found when the checkpoint file was read; None without any."""
        return None if self._saver is None else self._saver.damage

    def newest(self, key: bytes) -> Stored | None:
        """Return the newest record written for a key, staged or published."""
        if self._staged is not None and key in self._staged.changes:
            staged = self._staged.changes[key]
            return as_record(staged, self._staged.source or NOWHERE)
        return None if self._is_rebuilding else self.snapshot().get(key)

    def offsets(self) -> Iterator[tuple[bytes, Partition, int]]:
        """Yield key, partition and offset of every record that was written, staged or published."""
        present, _ = self._now
        staged = Delta() if self._staged is None else self._staged
        if not self._is_rebuilding:
            for key, kept in list(present.records.items()):
                if key not in staged.changes:
                    yield key, *present.location(key, kept)
        source = staged.source or NOWHERE
        for key, raw in staged.changes.items():
            if raw[1] is not None:
                yield key, source_of(raw, source), raw[2]

    def stage(self, delta: Delta) -> None:
        """Add a part of the next version; see ``Store.stage``."""
        self._staged = self._staged or Delta()
        self._staged.merge(delta)

    def apply(self, delta: Delta, position: Position, resume_point: ResumePoint | None = None) -> AppliedChanges | None:
        """Publish the next version; see ``Store.apply``."""
        if self._staged is not None:
            self._staged.merge(delta)
            delta, self._staged = self._staged, None
        resume_point = resume_point or ResumePoint(position)
        present, before = self._now
        present.source = delta.source or present.source
        applied: AppliedChanges | None
        if self._is_rebuilding:
            applied = self._replace(delta, position, resume_point)
        else:
            applied = (
                self._change(delta, position, resume_point)
                if before.count
                else self._fill(delta, position, resume_point)
            )
        if PARSER is not None:
            PARSER.untrack(self._now[0].records)
        if (before.number + 1) % _GATHER_EVERY_VERSIONS == 0:
            self._gather()
        return applied

    def save_resume_point(self, resume_point: ResumePoint) -> None:
        """Set the resume point that is saved with the current version."""
        self._now[1].resume_point = resume_point

    def begin_at(self, number: int) -> None:
        """Give the first version a number other than 1: the number of the same version in another process.

        Raises:
            UsageError: the store has had a version already.
        """
        if self._now[1].number:
            raise UsageError(f"{self!r} has versions, whose numbers cannot be changed")
        self._now = self._now[0], Version(number - 1, Position(), 0)

    def rebuild(self, *, forget: bool = False) -> None:
        """Start to rebuild the store; see ``Store.rebuild``."""
        self._staged = None
        self._is_rebuilding = True
        if self._saver is not None and (forget or self.is_damaged):
            self._saver.discard()
        self._saved = NOTHING_SAVED
        if forget:
            self._now = PresentRecords({}, NOWHERE), Version(0, Position(), 0)
            self._is_rebuilding = False
            self._beginnings += 1

    def _replace(self, delta: Delta, position: Position, resume_point: ResumePoint) -> AppliedChanges | None:
        """Replace all records by those of a delta; a record that has only moved in the log is not a change."""
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
        return AppliedChanges(tuple(key for key in applied.changed if key not in moved), applied.deleted)

    def _fill(self, delta: Delta, position: Position, resume_point: ResumePoint) -> AppliedChanges:
        """Publish the first records: the delta's dict becomes the store, without copying."""
        empty, before = self._now
        records: dict[bytes, Kept]
        if delta.has_deletions:
            records = {key: record for key, record in delta.changes.items() if record[1] is not None}
        else:
            records = delta.changes  # type: ignore[assignment] # no other code uses the dict from now on
        # Snapshots of the empty version, or of a version before it, keep their dict.
        self._now = (
            PresentRecords(records, empty.source),
            Version(before.number + 1, position, len(records), resume_point),
        )
        return AppliedChanges(tuple(records), ())

    def _change(self, delta: Delta, position: Position, resume_point: ResumePoint) -> AppliedChanges:
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
        return AppliedChanges(changed, deleted)

    def snapshot(self) -> MemorySnapshot:
        """Return the current version, in O(1)."""
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
        """Save to the checkpoint file, if there is one, and release it. Snapshots stay readable. Idempotent."""
        if self._saver is not None:
            self._saver.close()

    def _open(self, path: Path, every_s: float | None) -> Saver:
        """Start from the version in a file, if it can be used."""
        from kafka_replica.stores.checkpoint_file import Saver  # noqa: PLC0415 - imports asyncio, with its locks

        saver = Saver(path, every_s)
        found = saver.load()
        if found is not None:
            # Versions published after the file was written had the same numbers as the next versions.
            resume_point = replace(found.note.resume_point, incarnation="")
            self._saved = found.saved
            version = Version(found.note.version, resume_point.position, len(found.records), resume_point)
            self._now = PresentRecords(found.records, NOWHERE, found.saved), version
        saver.begin(self._image, (self._beginnings, self._now[1].number), self.resume_point)
        return saver

    def _image(self) -> CheckpointImage | None:
        """Return the current version, if it should be saved; thread-safe."""
        from kafka_replica.stores.checkpoint_file import CheckpointImage  # noqa: PLC0415

        beginnings, now = self._beginnings, self._now
        present, version = now
        resume_point = version.resume_point
        if resume_point is None or self._is_rebuilding or self.is_damaged:
            return None
        data = beginnings, version.number
        snapshot = MemorySnapshot(present, version)
        return CheckpointImage(data, snapshot.kept(), present.saved, present.source, version.number, resume_point)


def _content(present: PresentRecords, key: bytes, kept: Kept) -> tuple[bytes | None, Headers] | None:
    """Return value and headers of a record; None if they cannot be read."""
    if not isinstance(kept, int):
        return kept[1], kept[4]
    try:
        record = present.saved.record(key, kept)
    except StoreDamagedError:
        return None
    return record.value, record.headers
