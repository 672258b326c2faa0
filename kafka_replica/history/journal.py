"""The database of a history: its current range of versions, its records, and the snapshots that hold versions."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from threading import RLock
from weakref import WeakSet

from kafka_replica.errors import StoreDamagedError
from kafka_replica.history.catalogue import Catalogue
from kafka_replica.history.errors import VersionNotKeptError
from kafka_replica.history.kept_version import DAMAGE_ADVICE, KeptVersion, StoredVersion
from kafka_replica.history.layout import (
    AFTER_CHUNK,
    AFTER_DATA,
    DATA,
    DELETED,
    END,
    META,
    PARTITIONS,
    chunk_key,
    data_prefix,
    key_of,
    record_key,
    split_record_key,
    unpack_keys,
    version_key,
)
from kafka_replica.history.snapshot import HistorySnapshot
from kafka_replica.records import Partition, Record
from kafka_replica.stores.rocks.codec import unpack_location, unpack_record
from kafka_replica.stores.rocks.database import Batch, Database
from kafka_replica.stores.rocks.errors import Advice
from kafka_replica.stores.rocks.tuning import Tuning

ADVICE = Advice(
    name="the history",
    damaged=DAMAGE_ADVICE,
    full="free some disk space; the history then continues, with all missed versions as one step",
)
_META = struct.Struct(">QQ")  # the sequences of the oldest and the newest version


class Journal:
    """The database of a history. One thread writes, any thread reads.

    Args:
        folder: the folder of the database.
        tuning: the resources that it may use.
        must_exist: whether a missing database counts as damage; otherwise it is created.

    Raises:
        StoreInUseError: the database is open elsewhere.
        StoreDamagedError: the database is damaged.
        StoreError: the database cannot be opened.
    """

    def __init__(self, folder: Path, tuning: Tuning, *, must_exist: bool) -> None:
        self.database = Database(folder, tuning, must_exist=must_exist, advice=ADVICE)
        self.is_claimed = True
        """True while a ``VersionHistory`` uses this journal, not only snapshots that outlived it."""
        self.partitions: list[Partition] = []
        """The partitions by their index in records; items are only appended."""
        self.key_spaces: list[bool] = []
        """For each partition: whether it has its own key space, so that the topic is a part of its keys."""
        self._saved_partitions = 0
        self.newest: StoredVersion | None = None
        """The newest version; only for the thread that writes."""
        self.oldest = 0
        """The sequence of the oldest version, 0 if there is none; only for the thread that writes."""
        self._lock = RLock()  # reentrant: a signal handler may read while its own thread is reading
        self._held: WeakSet[HistorySnapshot] = WeakSet()
        if must_exist:
            self._load()
        else:
            batch = Batch()
            batch.put(META, _META.pack(0, 0))
            batch.put(END, b"")
            self.database.write(batch)

    def _load(self) -> None:
        self.oldest, newest = self._range(self.database.get(META))
        for topic, number, has_key_space in json.loads(self.database.get(PARTITIONS) or b"[]"):
            self.add_partition(Partition(topic, number), has_key_space)
        self._saved_partitions = len(self.partitions)
        if newest:
            self.newest = Catalogue(self.database.get, self.oldest, newest).stored(newest)
        self.discard_unfinished()

    def add_partition(self, partition: Partition, has_key_space: bool) -> None:
        """Assign the next index to a partition."""
        self.key_spaces.append(has_key_space)  # first: readers find the partition's index in records
        self.partitions.append(partition)

    # --- reading ---

    def catalogue(self) -> Catalogue:
        """Return the versions that are kept now."""
        view = self.database.view()
        return Catalogue(view.get, *self._range(view.get(META)))

    def snapshot(self, kept: KeptVersion) -> HistorySnapshot:
        """Return a version with its records, which are not removed while it is held.

        Raises:
            VersionNotKeptError: the version was removed a moment ago.
        """
        snapshot = HistorySnapshot(self, kept)
        with self._lock:
            if kept.sequence < self.oldest:
                raise VersionNotKeptError(f"{kept.summary()} is no longer kept: it was just removed")
            self._held.add(snapshot)
        return snapshot

    def record(self, key: bytes, sequence: int) -> Record | None:
        """Return the record of a key in a version."""
        prefix = data_prefix(key)
        entry, data = self.database.cursor().first(record_key(key, sequence))
        return self.unpack(key, data) if data != DELETED and entry.startswith(prefix) else None

    def scan(self, sequence: int) -> Iterator[tuple[bytes, bytes]]:
        """Yield the keys of a version with their data, in the order of the keys."""
        last = b""
        for entry, data in self.database.items(DATA, AFTER_DATA):
            prefix, found = split_record_key(entry)
            if found <= sequence and prefix != last:
                last = prefix
                if data != DELETED:
                    yield key_of(prefix), data

    def unpack(self, key: bytes, data: bytes) -> Record:
        """Decode the record of a key.

        Raises:
            StoreDamagedError: the data is not a record.
        """
        try:
            return unpack_record(key, data, self.partitions, self.key_spaces[unpack_location(data)[1]])
        except (struct.error, IndexError, ValueError) as error:
            self.database.no_record(key, error)

    def touched_keys(self, after: int, until: int) -> set[bytes]:
        """Return the keys touched by the versions from one sequence to another; ``after`` must be held or kept."""
        chunks = self.database.items(chunk_key(after + 1), chunk_key(until + 1))
        return {key for _, packed in chunks for key in unpack_keys(packed)}

    @property
    def held(self) -> int:
        """The number of snapshots that are held."""
        return len(self._held)

    # --- writing ---

    def commit(self, batch: Batch, newest: StoredVersion, oldest: int) -> None:
        """Write a batch that completes a version, and set the range that is kept.

        Raises:
            StoreError: nothing was written.
        """
        if oldest > self.oldest > 0:
            batch.delete_range(version_key(self.oldest), version_key(oldest))
        if len(self.partitions) != self._saved_partitions:
            named = zip(self.partitions, self.key_spaces, strict=True)
            batch.put(PARTITIONS, json.dumps([(*partition, has_own) for partition, has_own in named]).encode())
        batch.put(META, _META.pack(oldest, newest.version.sequence))
        self.database.write(batch)
        self._saved_partitions = len(self.partitions)
        with self._lock:
            self.newest, self.oldest = newest, oldest

    def set_oldest(self, newest: StoredVersion, oldest: int) -> None:
        """Set the oldest version to keep.

        Raises:
            StoreError: nothing was written.
        """
        if oldest != self.oldest:
            self.commit(Batch(), newest, oldest)

    def oldest_in_use(self) -> int:
        """Return the sequence of the oldest version that is kept or held; records that it replaced may be removed."""
        with self._lock:
            return min([self.oldest, *(snapshot.kept.sequence for snapshot in self._held)])

    def discard_unfinished(self) -> None:
        """Remove the parts of a version that was never completed."""
        batch = Batch()
        if self.newest is None:
            batch.delete_range(DATA, AFTER_DATA)
        else:
            sequence = self.newest.version.sequence + 1
            for entry, packed in self.database.items(chunk_key(sequence), AFTER_CHUNK):
                for key in unpack_keys(packed):
                    batch.delete(record_key(key, sequence))
                batch.delete(entry)
        self.database.write(batch)

    # --- helpers ---

    def _range(self, meta: bytes | None) -> tuple[int, int]:
        if meta is None or len(meta) != _META.size:
            raise StoreDamagedError(
                f"opening the history in {self.database.folder}: its range is missing; {DAMAGE_ADVICE}"
            )
        oldest, newest = _META.unpack(meta)
        return oldest, newest
