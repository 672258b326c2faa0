"""Write the next version of a history: the records of its keys, then the version itself, which makes them visible."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_replica.history.journal import Journal
from kafka_replica.history.kept_version import StoredVersion
from kafka_replica.history.layout import (
    DELETED,
    chunk_key,
    data_prefix,
    pack_keys,
    record_key,
    version_key,
)
from kafka_replica.records import Partition, Record
from kafka_replica.stores.rocks.codec import pack_record
from kafka_replica.stores.rocks.database import Batch

CHUNK_KEYS = 500
_BATCH_BYTES = 1 << 20


class StepWriter:
    """Writes the next version; a large version is written in parts, which no reader sees.

    For each key, it reads one entry, the key's record in the newest version, and writes at most one. The cost of both
    does not depend on the number of keys.
    """

    def __init__(self, journal: Journal) -> None:
        newest = journal.newest
        self.sequence = 1 if newest is None else newest.version.sequence + 1
        self.changed = self.deleted = 0
        self.keys = 0 if newest is None else newest.version.keys
        self.live_bytes = 0 if newest is None else newest.live_bytes
        self.replaced_bytes = 0 if newest is None else newest.replaced_bytes
        self._is_first = newest is None
        self._journal = journal
        self._cursor = journal.database.cursor()
        self._batch = Batch()
        self._touched: list[bytes] = []
        self._chunks = self._parts = 0
        named = zip(journal.partitions, journal.key_spaces, strict=True)
        self._numbers = {source: number for number, source in enumerate(named)}

    def add_all(self, records: Iterable[tuple[bytes, Record | None]]) -> None:
        """Write the records of keys, None for keys that the version does not have; unchanged ones are skipped.

        Raises:
            StoreError: a record cannot be read or written.
        """
        for key, record in records:
            self._add(key, record)
            if len(self._touched) >= CHUNK_KEYS:
                self._end_chunk()
            if self._batch.size_bytes() > _BATCH_BYTES:
                self._write_part()

    def commit(self, version: StoredVersion, oldest: int) -> None:
        """Write the version, and set the oldest version that is kept.

        Raises:
            StoreError: the version was not written.
        """
        self._end_chunk()
        if self._parts:
            self._journal.database.flush()  # the parts are not in the log of the database
        self._batch.put(version_key(self.sequence), version.encode())
        self._journal.commit(self._batch, version, oldest)

    def _add(self, key: bytes, record: Record | None) -> None:
        old = self._old(key)
        entry = record_key(key, self.sequence)
        if record is None:
            if old is None:
                return
            data = DELETED
            self.deleted += 1
            self.keys -= 1
            self.replaced_bytes += len(entry)  # removed together with the records that it deletes
        else:
            data = pack_record(record, self._number(record.source, record.key != key))
            if data == old:
                return
            self.changed += 1
            self.keys += old is None
            self.live_bytes += len(entry) + len(data)
        if old is not None:
            self.live_bytes -= len(entry) + len(old)
            self.replaced_bytes += len(entry) + len(old)
        self._batch.put(entry, data)
        if not self._is_first:
            self._touched.append(key)

    def _old(self, key: bytes) -> bytes | None:
        """Return the data of a key in the newest version."""
        if self._is_first:
            return None
        entry, data = self._cursor.first(record_key(key, self.sequence))
        return data if data != DELETED and entry.startswith(data_prefix(key)) else None

    def _number(self, partition: Partition, has_key_space: bool) -> int:
        number = self._numbers.get((partition, has_key_space))
        if number is None:
            number = self._numbers[partition, has_key_space] = len(self._numbers)
            self._journal.add_partition(partition, has_key_space)
        return number

    def _end_chunk(self) -> None:
        if self._touched:
            self._batch.put(chunk_key(self.sequence, self._chunks), pack_keys(self._touched))
            self._chunks += 1
            self._touched = []

    def _write_part(self) -> None:
        self._end_chunk()  # in the same write as the records, so that they can be found again
        self._journal.database.write(self._batch, is_logged=False)
        self._batch = Batch()
        self._parts += 1
