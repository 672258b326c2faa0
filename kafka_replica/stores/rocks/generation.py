"""A generation: the data of one read of the log, from its first version on, in one database.

A version is one write: its records together with its metadata (``VersionRecord``). A version that is too large for one
write is *staged*: written in parts that readers do not see, because their views are older. So that such parts do not
survive a crash, the previous data of each key is stored in the same write, and is restored when the database is opened
again. Publishing is a single write, too: it writes the version record and deletes all previous data.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from itertools import islice
from weakref import WeakSet

from kafka_replica.common.compiled import PARSER
from kafka_replica.errors import BadRecordError, StoreDamagedError
from kafka_replica.records import NOWHERE, Partition, Position, Record, Stored, source_of
from kafka_replica.stores.delta import AppliedChanges, Delta
from kafka_replica.stores.packed_headers import pack_headers
from kafka_replica.stores.packed_keys import PackedKeys
from kafka_replica.stores.rocks.codec import pack_record, unpack_location, unpack_record
from kafka_replica.stores.rocks.database import Batch, Database, View
from kafka_replica.stores.rocks.scan import (
    ABSENT,
    AFTER_DATA,
    AFTER_OLD,
    DATA,
    OLD,
    DiffLink,
    Entries,
    StagedView,
    shown,
    staged,
)
from kafka_replica.stores.rocks.snapshot import KeyCount, RocksSnapshot
from kafka_replica.stores.rocks.version_record import BAD_RECORDS, HEAD, VersionRecord
from kafka_replica.transactions.resume_point import ResumePoint, encode_bad_records

_BATCH_BYTES = 1 << 20
_SOME = 100  # keys to write between two checks whether a batch is full, or in one call of compiled code
_GATHER_EVERY_VERSIONS = 64


class Generation:
    """A database and its versions. One thread writes.

    Args:
        database: the database.
        is_new: whether the database is empty.
        is_ours: whether this process may write to the database, and can roll back parts that were staged and not
            published.

    Raises:
        StoreError: the database cannot be read.
    """

    def __init__(self, database: Database, *, is_new: bool = False, is_ours: bool = True) -> None:
        self.database = database
        self.resume_point: ResumePoint | None = None
        self._has_key_spaces = False  # as in the resume point
        self._written_bad_records: tuple[BadRecordError, ...] = ()
        self._version = 0
        self._partitions: list[Partition] = []
        self._numbers: dict[Partition, int] = {}
        self._tally, self._more = KeyCount(0), 0
        self._link = DiffLink()
        self._staged = False
        self._view_of: type[View] = View
        self._held: WeakSet[RocksSnapshot] = WeakSet()
        if is_new:
            self._write_end_key()
        else:
            self._read_head()
            if is_ours:
                self.roll_back()
            elif next(staged(database), None) is not None:
                self._view_of = StagedView

    # --- reading ---

    def newest(self, key: bytes) -> Record | None:
        """Return the newest record written for a key, even if readers cannot see it yet."""
        data = self.database.get(DATA + key)
        return None if data is None else self._record(key, data)

    def snapshot(self) -> RocksSnapshot:
        """Return a snapshot of the version published last."""
        made = RocksSnapshot(
            self,
            self.database.view(self._view_of),
            self._partitions,
            self._version,
            Position() if self.resume_point is None else self.resume_point.position,
            self._tally,
            self._more,
            self._link,
            has_key_spaces=self._has_key_spaces,
        )
        self._held.add(made)
        return made

    def entries(self) -> Entries:
        """Return the entries of the version published last, in the order of its keys."""
        return shown(self.database)

    def offsets(self) -> Iterator[tuple[bytes, Partition, int]]:
        """Yield key, partition and offset of every record that was written, even if readers cannot see it yet."""
        for key, data in self.database.items(DATA, AFTER_DATA):
            try:
                offset, number = unpack_location(data)
                partition = self._partitions[number]
            except (struct.error, IndexError) as error:
                self.database.no_record(key[1:], error)
            yield key[1:], partition, offset

    # --- writing ---

    def stage(self, delta: Delta) -> None:
        """Write a part of the next version.

        Raises:
            StoreError: the part was not written, or not completely; readers still see the same data.
        """
        self._staged = True
        if self.resume_point is None:
            self._has_key_spaces = any(key != raw[0] for key, raw in islice(delta.changes.items(), 1))
        changes = iter(delta.changes.items())
        batch = Batch()
        while some := list(islice(changes, _SOME)):
            if self.resume_point is not None:
                self._save_previous(batch, (key for key, _ in some))
            self._fill(batch, some, delta.source)
            if batch.size_bytes() > _BATCH_BYTES:
                self.database.write(batch, is_logged=False)
                batch = Batch()
        self.database.write(batch, is_logged=False)

    def publish(self, delta: Delta, version: int, resume_point: ResumePoint) -> AppliedChanges:
        """Publish the next version: the staged parts, and the rest.

        Raises:
            StoreError: nothing has changed for readers.
        """
        batch = Batch()
        if self.resume_point is None:
            applied, more = self._write_first_version(delta), 0
        elif self._staged:
            applied, more = self._publish_staged(batch, delta)
        else:
            applied, more = self._publish_unstaged(batch, delta)
        self._link = self._link.extend(applied.changed, applied.deleted)  # before the write: see ``scan``
        self._write_head(batch, version, resume_point, self._more + more)
        self._staged = False
        if version % _GATHER_EVERY_VERSIONS == 0:
            for snapshot in list(self._held):
                snapshot.gather()
        return applied

    def save_resume_point(self, resume_point: ResumePoint) -> None:
        """Replace the resume point of the version published last."""
        if not self._staged:
            self._write_head(Batch(), self._version, resume_point, self._more)

    def roll_back(self) -> None:
        """Roll back parts that were staged and never published."""
        touched = PackedKeys()
        for key, _ in staged(self.database):
            touched.append(key)
        if touched:
            self._link = self._link.extend(touched)  # before any write: see ``scan``
            self._restore_previous()
        self._staged = False

    # --- helpers ---

    def _write_end_key(self) -> None:
        """Write a key behind the records, so that they can be scanned before there is a version record."""
        batch = Batch()
        batch.put(AFTER_DATA, b"")
        self.database.write(batch, is_logged=False)

    def _read_head(self) -> None:
        data = self.database.get(HEAD)
        if data is None:
            raise StoreDamagedError(f"opening the store in {self.database.folder}: it contains no published version")
        listed = self.database.get(BAD_RECORDS)
        head = VersionRecord.decode(data, listed)
        self._written_bad_records = () if listed is None else head.resume_point.bad_records
        self.resume_point, self._version, self._tally = head.resume_point, head.version, KeyCount(head.keys)
        self._has_key_spaces = head.resume_point.has_key_spaces
        for partition in head.partitions:
            self._number(partition)

    def _write_head(self, batch: Batch, version: int, resume_point: ResumePoint, more: int) -> None:
        keys = None if self._tally.keys is None else self._tally.keys + more
        batch.put(HEAD, VersionRecord(version, keys, self._partitions, resume_point).encode())
        bad_records = resume_point.bad_records
        if bad_records != self._written_bad_records:
            batch.put(BAD_RECORDS, encode_bad_records(bad_records))
        self.database.write(batch)
        self._written_bad_records = bad_records
        if self.resume_point is None:
            self._has_key_spaces = resume_point.has_key_spaces
        self._version, self.resume_point, self._more = version, resume_point, more

    def _write_first_version(self, delta: Delta) -> AppliedChanges:
        """Write the rest of the first version, which no reader can see yet."""
        self._tally = KeyCount(None if self._staged else len(delta.changes) - _tombstones(delta))
        self.stage(delta)
        self.database.flush()
        return AppliedChanges((), ())

    def _publish_staged(self, batch: Batch, delta: Delta) -> tuple[AppliedChanges, int]:
        """Write the last staged part, fill a batch with the writes that publish the version, and return the changes."""
        self.stage(delta)
        self.database.flush()
        changed, deleted, new = PackedKeys(), PackedKeys(), 0
        for key, old in staged(self.database):
            if self.database.get(DATA + key) is not None:
                changed.append(key)
                new += old == ABSENT
            elif old != ABSENT:
                deleted.append(key)
        batch.delete_range(OLD, AFTER_OLD)
        return AppliedChanges(changed, deleted), new - len(deleted)

    def _publish_unstaged(self, batch: Batch, delta: Delta) -> tuple[AppliedChanges, int]:
        """Fill a batch with a complete delta, and return the changes."""
        olds = self.database.get_many([DATA + key for key in delta.changes])
        changed, deleted, new = [], [], 0
        before: dict[bytes, Record | None] = {}
        for (key, raw), old in zip(delta.changes.items(), olds, strict=True):
            if raw[1] is not None:
                changed.append(key)
                new += old is None
            elif old is not None:
                deleted.append(key)
            else:
                continue
            before[key] = None if old is None else self._record(key, old)
        self._fill(batch, list(delta.changes.items()), delta.source)
        return AppliedChanges(tuple(changed), tuple(deleted), before), new - len(deleted)

    def _fill(self, batch: Batch, changes: list[tuple[bytes, Stored]], source: Partition | None) -> None:
        """Put changes into a batch; those of a delta whose records contain their partitions have no source."""
        source = source or NOWHERE
        if PARSER is not None:
            for at in range(0, len(changes), _SOME):  # other threads get their turns between two calls
                some = changes[at : at + _SOME]
                PARSER.write(some, source, batch.put, batch.delete, DATA, self._number, pack_headers)
            return
        put, delete, number_of = batch.put, batch.delete, self._number
        for key, stored in changes:
            if stored[1] is None:
                delete(DATA + key)
            else:
                put(DATA + key, pack_record(stored, number_of(source_of(stored, source))))

    def _number(self, partition: Partition) -> int:
        number = self._numbers.get(partition)
        if number is None:
            number = self._numbers[partition] = len(self._partitions)
            self._partitions.append(partition)
        return number

    def _record(self, key: bytes, data: bytes) -> Record:
        try:
            return unpack_record(key, data, self._partitions, self._has_key_spaces)
        except (struct.error, IndexError, ValueError) as error:
            self.database.no_record(key, error)

    def _save_previous(self, batch: Batch, keys: Iterable[bytes]) -> None:
        get = self.database.get
        for key in keys:
            if get(OLD + key) is None:
                batch.put(OLD + key, get(DATA + key) or ABSENT)

    def _restore_previous(self) -> None:
        old = staged(self.database)
        while some := list(islice(old, _SOME)):
            batch = Batch()
            for key, data in some:
                if data == ABSENT:
                    batch.delete(DATA + key)
                else:
                    batch.put(DATA + key, data)
            self.database.write(batch)
        batch = Batch()
        batch.delete_range(OLD, AFTER_OLD)
        self.database.write(batch)


def _tombstones(delta: Delta) -> int:
    return sum(raw[1] is None for raw in delta.changes.values()) if delta.has_deletions else 0
