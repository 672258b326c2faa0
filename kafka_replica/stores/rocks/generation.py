"""The data of one reading of the log, from its first version on, in one database.

A version is one write: its records, and what is known of it (``head``), together. What is too large for that
is *staged*: written in parts that readers do not see, because they look at views from before. So that a crash
does not leave such parts behind, what a key had before its first part is kept beside it, in the same write, and is
put back when the database is opened again. Publishing is one write, too: the head, and that all of this is gone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from kafka_replica.bookmark import Bookmark
from kafka_replica.delta import Applied, Delta
from kafka_replica.errors import StoreDamagedError
from kafka_replica.records import Cut, Partition, Record, Stored
from kafka_replica.stores.packed import PackedKeys
from kafka_replica.stores.rocks.codec import pack_head, pack_headers, unpack_record
from kafka_replica.stores.rocks.database import Batch, Database
from kafka_replica.stores.rocks.snapshot import AFTER_DATA, AFTER_OLD, DATA, OLD, Link, RocksSnapshot, Tally

_HEAD = b"h"
_ABSENT = b""  # what a key had that was not there
_BATCH_RECORDS = 2_000


class _Head(NamedTuple):
    version: int
    keys: int | None
    partitions: list[Partition]
    bookmark: Bookmark

    def encode(self) -> bytes:
        plain = {"version": self.version, "keys": self.keys, "partitions": self.partitions}
        return json.dumps(plain).encode() + b"\n" + self.bookmark.encode()

    @staticmethod
    def decode(data: bytes) -> _Head:
        try:
            first, bookmark = data.split(b"\n", 1)
            plain = json.loads(first)
            partitions = [Partition(*place) for place in plain["partitions"]]
            return _Head(plain["version"], plain["keys"], partitions, Bookmark.decode(bookmark))
        except (ValueError, KeyError, TypeError) as error:
            raise StoreDamagedError(f"reading what a store says of itself: {error!r}; it is built anew") from error


class Generation:
    """One database and its versions. One thread writes.

    Raises:
        StoreError: it cannot be read.
    """

    def __init__(self, database: Database, *, repair: bool = True) -> None:
        self.database = database
        self.bookmark: Bookmark | None = None
        self._version = 0
        self._partitions: list[Partition] = []
        self._numbers: dict[Partition, int] = {}
        self._tally, self._more = Tally(0), 0
        self._link = Link()
        self._staged = False
        if (data := database.get(_HEAD)) is not None:
            head = _Head.decode(data)
            self.bookmark, self._version, self._tally = head.bookmark, head.version, Tally(head.keys)
            for partition in head.partitions:
                self._number(partition)
            if repair:
                self.put_back()

    # --- reading ---

    def newest(self, key: bytes) -> Record | None:
        """What was written of a key, seen by readers or not."""
        data = self.database.get(DATA + key)
        return None if data is None else unpack_record(key, data, self._partitions)

    def snapshot(self) -> RocksSnapshot:
        """The version published last."""
        cut = Cut() if self.bookmark is None else self.bookmark.cut
        return RocksSnapshot(
            self.database.view(), self._partitions, self._version, cut, self._tally, self._more, self._link
        )

    # --- writing ---

    def stage(self, delta: Delta) -> None:
        """Writes a part of the next version.

        Raises:
            StoreError: it was not written, or not all of it; what readers see stays as it was.
        """
        self._staged = True
        changes = iter(delta.changes.items())
        while some := list(islice(changes, _BATCH_RECORDS)):
            batch = Batch()
            if self.bookmark is not None:
                self._keep_old(batch, (key for key, _ in some))
            self._fill(batch, some, delta.source)
            self.database.write(batch, is_logged=False)

    def publish(self, delta: Delta, version: int, bookmark: Bookmark) -> Applied:
        """The next version: what was staged, and the rest.

        Raises:
            StoreError: nothing has changed for readers.
        """
        is_first = self.bookmark is None
        if is_first:
            self._tally = Tally(None if self._staged else len(delta.changes) - _tombstones(delta))
        if self._staged or is_first:
            self.stage(delta)
            self.database.flush()
            applied = Applied((), ()) if is_first else self._staged_changes()
            batch = Batch()
            batch.delete_range(OLD, AFTER_OLD)
        else:
            batch = Batch()
            applied = self._small(batch, delta)
        # Before it is written: readers look for touched keys in this order, too.
        before, self._link = self._link, Link()
        before.touched, before.newer = (applied.changed, applied.deleted), self._link
        self._write_head(batch, version, bookmark)
        self._staged = False
        return applied

    def note(self, bookmark: Bookmark) -> None:
        """What is known of the version published last, anew."""
        if not self._staged:
            self._write_head(Batch(), self._version, bookmark)

    # --- helpers ---

    def _write_head(self, batch: Batch, version: int, bookmark: Bookmark) -> None:
        keys = None if self._tally.keys is None else self._tally.keys + self._more
        batch.put(_HEAD, _Head(version, keys, self._partitions, bookmark).encode())
        self.database.write(batch)
        self._version, self.bookmark = version, bookmark

    def _small(self, batch: Batch, delta: Delta) -> Applied:
        """Fills a batch with all of a delta, and says what it changes."""
        get = self.database.get
        changed, deleted, new = [], [], 0
        for key, raw in delta.changes.items():
            is_known = get(DATA + key) is not None
            if raw[1] is not None:
                changed.append(key)
                new += not is_known
            elif is_known:
                deleted.append(key)
        self._fill(batch, delta.changes.items(), delta.source)
        self._more += new - len(deleted)
        return Applied(tuple(changed), tuple(deleted))

    def _fill(self, batch: Batch, changes: Iterable[tuple[bytes, Stored]], source: Partition | None) -> None:
        put, delete = batch.put, batch.delete
        number = 0 if source is None else self._number(source)
        for key, raw in changes:
            value, headers = raw[1], raw[4]
            if value is None:
                delete(DATA + key)
                continue
            place = self._number(raw.source) if isinstance(raw, Record) else number
            packed = pack_headers(headers) if headers else b""
            put(DATA + key, pack_head(raw[2], raw[3], place, len(packed)) + packed + value)

    def _number(self, partition: Partition) -> int:
        number = self._numbers.get(partition)
        if number is None:
            number = self._numbers[partition] = len(self._partitions)
            self._partitions.append(partition)
        return number

    def _keep_old(self, batch: Batch, keys: Iterable[bytes]) -> None:
        get = self.database.get
        for key in keys:
            if get(OLD + key) is None:
                batch.put(OLD + key, get(DATA + key) or _ABSENT)

    def _staged_changes(self) -> Applied:
        changed, deleted = PackedKeys(), PackedKeys()
        for key, old in self._old():
            is_there = self.database.get(DATA + key) is not None
            if is_there:
                changed.append(key)
                self._more += old == _ABSENT
            elif old != _ABSENT:
                deleted.append(key)
                self._more -= 1
        return Applied(changed, deleted)

    def put_back(self) -> None:
        """Takes back what was staged and never published."""
        old = self._old()
        while some := list(islice(old, _BATCH_RECORDS)):
            batch = Batch()
            for key, data in some:
                if data == _ABSENT:
                    batch.delete(DATA + key)
                else:
                    batch.put(DATA + key, data)
            self.database.write(batch)
        batch = Batch()
        batch.delete_range(OLD, AFTER_OLD)
        self.database.write(batch)

    def _old(self) -> Iterator[tuple[bytes, bytes]]:
        return ((key[1:], data) for key, data in self.database.items(OLD, AFTER_OLD))


def difference(old: Database, new: Database) -> Applied:
    """What it takes to make the one of the other, for listeners: records that only moved in the log are the same."""
    changed, deleted = PackedKeys(), PackedKeys()
    was, now = (database.items(DATA, AFTER_DATA) for database in (old, new))
    before, after = next(was, None), next(now, None)
    while before is not None or after is not None:
        if after is None or (before is not None and before[0] < after[0]):
            deleted.append(before[0][1:])  # type: ignore[index]
            before = next(was, None)
        elif before is None or after[0] < before[0]:
            changed.append(after[0][1:])
            after = next(now, None)
        else:
            if _content(before[1]) != _content(after[1]):
                changed.append(after[0][1:])
            before, after = next(was, None), next(now, None)
    return Applied(changed, deleted)


def _tombstones(delta: Delta) -> int:
    return sum(raw[1] is None for raw in delta.changes.values()) if delta.tombstone_count else 0


def _content(data: bytes) -> bytes:
    return data[20:]  # from the size of the headers on: without offset, timestamp and place
