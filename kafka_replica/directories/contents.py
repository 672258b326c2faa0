"""The contents of a directory in one version: its objects, its indexes, and the records that could not be decoded.

``Contents`` is immutable. The contents of the next version share all that did not change, and cost what did.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from kafka_replica.common.persistent_map import PersistentMap
from kafka_replica.directories.indexes import Index, UniqueIndex
from kafka_replica.directories.schema import Entry, Schema
from kafka_replica.errors import BadRecordError
from kafka_replica.records import Record
from kafka_replica.stores import Snapshot

T = TypeVar("T")


class Contents(Generic[T]):
    """The contents of a directory in one version."""

    __slots__ = ("bad_records", "entries", "ids", "indexes", "schema")

    def __init__(
        self,
        schema: Schema[T],
        entries: PersistentMap[bytes, Entry[T]],
        ids: UniqueIndex[T] | None,
        indexes: Mapping[str, Index[T]],
        bad_records: PersistentMap[bytes, BadRecordError],
    ) -> None:
        self.schema = schema
        self.entries = entries
        """The entries by the keys of their records."""
        self.ids = ids
        """The objects by the directory's key; None if that is the key of the record."""
        self.indexes = indexes
        self.bad_records = bad_records
        """The records that are not in the directory though ``where`` did not leave them out, by key."""

    def __len__(self) -> int:
        return len(self.entries) if self.ids is None else len(self.ids)

    def keys(self) -> Iterator[Hashable]:
        """Yield the directory's keys, in unspecified order."""
        return iter(self.ids) if self.ids is not None else (entry.id for entry in self.entries.values())

    def look_up(self, key: Hashable) -> T:
        """Return the object of a directory's key.

        Raises:
            KeyError: there is none.
            DuplicateValueError: several records have this key.
        """
        if self.ids is not None:
            return self.ids[key]
        entry = self.entries.get(key.encode()) if isinstance(key, str) else None
        if entry is None:
            raise KeyError(key)
        return entry.found

    def objects(self) -> Iterator[tuple[Hashable, T]]:
        """Yield each key that a single record has, and its object."""
        twice = set() if self.ids is None else set(self.ids.duplicates)
        return ((entry.id, entry.found) for entry in self.entries.values() if entry.id not in twice)

    @staticmethod
    def of(schema: Schema[T], records: Mapping[bytes, Record]) -> Contents[T]:
        """Return the contents of a whole version; a record may also be bad because looking it up fails."""
        entries: dict[bytes, Entry[T]] = {}
        bad_records: dict[bytes, BadRecordError] = {}
        for key in records:
            try:
                entry = schema.entry(key, records[key])
            except BadRecordError as bad:
                bad_records[key] = bad
            else:
                if entry is not None:
                    entries[key] = entry
        ids = None
        if schema.id_of is not None:
            ids = UniqueIndex[T](schema.id_of).filled(((e.id,), key, e.found) for key, e in entries.items())
        indexes = {
            name: index.filled((e.indexed[at], key, e.found) for key, e in entries.items())
            for at, (name, index) in enumerate(schema.indexes.items())
        }
        return Contents(schema, PersistentMap(entries), ids, indexes, PersistentMap(bad_records))

    def advanced(self, touched: Iterable[bytes], record_of: Callable[[bytes], Record | None]) -> Contents[T]:
        """Return the contents of a version that differs in these records at most."""
        change = _Changing(self)
        for key in touched:
            change.replace(key, record_of)
        return change.result()


class UndecodedContents(Generic[T]):
    """The contents of a directory that decodes on demand, in one version: without indexes, and with all its keys.

    It has the interface of ``Contents``; a record that cannot be decoded raises its error when it is looked up.
    """

    __slots__ = ("_snapshot", "schema")

    bad_records: PersistentMap[bytes, BadRecordError] = PersistentMap()
    indexes: Mapping[str, Index[Any]] = MappingProxyType({})

    def __init__(self, schema: Schema[T], snapshot: Snapshot) -> None:
        self.schema = schema
        self._snapshot = snapshot

    def __len__(self) -> int:
        return len(self._snapshot)

    def keys(self) -> Iterator[Hashable]:
        """Yield the directory's keys, in unspecified order."""
        return map(bytes.decode, self._snapshot)

    def look_up(self, key: Hashable) -> T:
        """Return the object of a key; it is decoded by each call. Raises KeyError, BadRecordError."""
        record = self._snapshot.get(key) if isinstance(key, str) else None
        if record is None:
            raise KeyError(key)
        entry = self.schema.entry(record.key, record)
        if entry is None:
            raise KeyError(key)
        return entry.found


class _Changing(Generic[T]):
    """The contents of the next version, while they are made."""

    def __init__(self, before: Contents[T]) -> None:
        self._schema = before.schema
        self._entries, self._bad_records = before.entries, before.bad_records
        self._ids = before.ids
        self._indexes = dict(before.indexes)

    def replace(self, key: bytes, record_of: Callable[[bytes], Record | None]) -> None:
        """Replace what a key had by what its record has now."""
        self._bad_records = self._bad_records.dropping(key)
        old = self._entries.get(key)
        new: Entry[T] | None = None
        try:
            record = record_of(key)
            new = None if record is None else self._schema.entry(key, record)
        except BadRecordError as bad:
            self._bad_records = self._bad_records.putting(key, bad)
        if old is not None:
            self._drop(key, old, new)
        if new is not None:
            self._put(key, new)

    def _drop(self, key: bytes, old: Entry[T], new: Entry[T] | None) -> None:
        if new is None:
            self._entries = self._entries.dropping(key)
        if self._ids is not None and (new is None or new.id != old.id):
            self._ids = self._ids.dropping((old.id,), key)
        for at, (name, index) in enumerate(self._indexes.items()):
            if new is None or new.indexed[at] != old.indexed[at]:
                self._indexes[name] = index.dropping(old.indexed[at], key)

    def _put(self, key: bytes, new: Entry[T]) -> None:
        self._entries = self._entries.putting(key, new)
        if self._ids is not None:
            self._ids = self._ids.putting((new.id,), key, new.found)
        for at, (name, index) in enumerate(self._indexes.items()):
            self._indexes[name] = index.putting(new.indexed[at], key, new.found)

    def result(self) -> Contents[T]:
        """Return the contents."""
        return Contents(self._schema, self._entries, self._ids, self._indexes, self._bad_records)
