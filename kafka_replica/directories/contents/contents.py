"""The contents of a directory in one version: its objects, its indexes, and the records that could not be decoded.

``Contents`` is immutable. The contents of the next version share the unchanged parts, so that deriving them costs only
as much as the change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from kafka_replica.common.garbage_collector import collector_paused
from kafka_replica.common.persistent_map import PersistentMap
from kafka_replica.directories.contents.claims import Claims
from kafka_replica.directories.contents.schema import Schema, without_tracebacks
from kafka_replica.directories.indexes import Index, UniqueIndex
from kafka_replica.directories.indexes.by_equality import KeyIndex
from kafka_replica.directories.indexes.entry import Entry
from kafka_replica.errors import BadRecordError
from kafka_replica.records import Record
from kafka_replica.stores import Snapshot

T = TypeVar("T")

_ID_AND_OBJECT: Final = attrgetter("id", "found")


_ESCAPED: Final = "surrogateescape"


def _encoded(key: Hashable) -> bytes | None:
    """Return the bytes of a record's key, as ``keys`` yields it; None if no record can have the key."""
    if not isinstance(key, str):
        return None
    try:
        encoded = key.encode(errors=_ESCAPED)
    except UnicodeEncodeError:
        return None
    return encoded if encoded.decode(errors=_ESCAPED) == key else None


class Contents(Generic[T]):
    """The contents of a directory in one version."""

    __slots__ = ("bad_records", "claims", "entries", "ids", "indexes", "schema", "touched")

    def __init__(
        self,
        schema: Schema[T],
        entries: PersistentMap[bytes, Entry[T]],
        ids: UniqueIndex[T] | None,
        indexes: Mapping[str, Index[T]],
        bad_records: PersistentMap[bytes, BadRecordError],
        claims: Claims[T] | None = None,
        touched: Collection[bytes] = (),
    ) -> None:
        self.schema = schema
        self.entries = entries
        """The entries by the keys of their records, or by the keys under which an interpreter puts them."""
        self.ids = ids
        """The objects by the directory's key; None if that is the key of the record."""
        self.indexes = indexes
        self.bad_records = bad_records
        """The records that could not be interpreted or decoded, by key."""
        self.claims = claims
        """The claims of records to keys; None without an interpreter."""
        self.touched = touched
        """The keys of the entries that may differ from those of the previous contents."""

    def __len__(self) -> int:
        return len(self.entries) if self.ids is None else len(self.ids)

    def keys(self) -> Iterator[Hashable]:
        """Yield the directory's keys, in unspecified order."""
        return iter(self.ids) if self.ids is not None else (entry.id for entry in self.entries.values())

    def look_up(self, key: Hashable) -> T:
        """Return the object of a directory's key.

        Raises:
            KeyError: no object has the key.
            DuplicateValueError: several records have the key.
        """
        if self.ids is not None:
            return self.ids[key]
        encoded = _encoded(key)
        entry = None if encoded is None else self.entries.get(encoded)
        if entry is None:
            raise KeyError(key)
        return entry.found

    def ids_of(self, keys: Iterable[bytes]) -> set[Hashable]:
        """Return the directory's keys of the entries under these keys."""
        return {entry.id for key in keys if (entry := self.entries.get(key)) is not None}

    def single(self, ids: Iterable[Hashable]) -> dict[Any, T]:
        """Return the objects of those of the directory's keys that exactly one record has."""
        found = {}
        for id_ in ids:
            with suppress(LookupError):
                found[id_] = self.look_up(id_)
        return found

    def objects(self) -> Iterator[tuple[Hashable, T]]:
        """Yield each of the directory's keys that exactly one record has, with its object."""
        twice = set() if self.ids is None else set(self.ids.duplicates)
        entries = self.entries.values()
        return map(_ID_AND_OBJECT, (entry for entry in entries if entry.id not in twice) if twice else entries)

    @staticmethod
    def of(schema: Schema[T], snapshot: Snapshot) -> Contents[T]:
        """Return the contents of a whole version.

        They can be read immediately. Call :meth:`prepare_for_changes` afterwards, so that the first change is not slow.
        """
        with collector_paused():
            entries, bad_records, claims = (_decoded if schema.interpreter is None else _interpreted)(schema, snapshot)
            values, ids = entries.values(), None
            if schema.id_of is not None:
                ids = KeyIndex[T](schema.id_of, schema.directory).with_entries(values, len(schema.indexes))
            indexes = {name: index.with_entries(values, at) for at, (name, index) in enumerate(schema.indexes.items())}
            by_key, bad = PersistentMap(entries, build_later=True), PersistentMap(bad_records)
            return Contents(schema, by_key, ids, indexes, bad, claims)

    def prepare_for_changes(self) -> None:
        """Build the structures for changes, in time proportional to the size; otherwise the first change does this."""
        self.entries.build()
        for part in (self.ids, self.claims, *self.indexes.values()):
            if part is not None:
                part.prepare_for_changes()

    def advanced(self, touched: Collection[bytes], record_of: Callable[[bytes], Record | None]) -> Contents[T]:
        """Return the contents of a version that differs from this one at most in the touched records."""
        change = _NextContents(self)
        if self.claims is None:
            for key in touched:
                change.replace_record(key, record_of)
            return change.result(None, touched)
        claims, keys, bad_records = self.claims.advanced(self.schema, touched, record_of)
        for key in touched:
            change.replace_bad_record(key, bad_records.get(key))
        for key in keys:
            change.replace(key, claims.entry(key))
        return change.result(claims, keys)


def _decoded(schema: Schema[T], snapshot: Snapshot) -> tuple[dict[bytes, Entry[T]], dict[bytes, BadRecordError], None]:
    """Return the entries and the bad records of a version, for a directory without an interpreter."""
    entries: dict[bytes, Entry[T]] = {}
    bad_records: dict[bytes, BadRecordError] = {}
    key = b""

    def refuse(step: str, error: Exception) -> BadRecordError:
        return schema.bad_record(snapshot[key], step, error)

    entry_of = schema.entry
    for key, value in snapshot.scan_values():
        try:
            if not isinstance(value, bytes):
                raise value
            entry = entry_of(key, value, refuse)
        except BadRecordError as bad:
            bad_records[key] = without_tracebacks(bad)
        else:
            if entry is not None:
                entries[key] = entry
    return entries, bad_records, None


def _interpreted(
    schema: Schema[T], snapshot: Snapshot
) -> tuple[dict[bytes, Entry[T]], dict[bytes, BadRecordError], Claims[T]]:
    """Return the entries, the bad records and the claims of a version, for a directory with an interpreter."""
    claims, bad_records = Claims.of(schema, snapshot.scan())
    return claims.entries(), bad_records, claims


class UndecodedContents(Generic[T]):
    """The contents of a directory that decodes on demand, in one version: all keys of the version, and no indexes.

    It has the methods for look-ups of ``Contents``. A record that cannot be decoded raises its error when it is looked
    up.
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
        """Yield the directory's keys, in unspecified order.

        A key that is not UTF-8 has surrogate escapes (PEP 383) for its bytes; its record is bad.
        """
        return (key.decode(errors=_ESCAPED) for key in self._snapshot)

    def look_up(self, key: Hashable) -> T:
        """Return the object of a key, which each call decodes again. Raises KeyError, BadRecordError."""
        encoded = _encoded(key)
        record = None if encoded is None else self._snapshot.get(encoded)
        if record is None:
            raise KeyError(key)
        entry = self.schema.entry(record.key, record.value, partial(self.schema.bad_record, record))
        if entry is None:
            raise KeyError(key)
        return entry.found


class _NextContents(Generic[T]):
    """The contents of the next version under construction."""

    def __init__(self, before: Contents[T]) -> None:
        self._schema = before.schema
        self._entries, self._bad_records = before.entries, before.bad_records
        self._ids = before.ids
        self._indexes = dict(before.indexes)

    def replace_record(self, key: bytes, record_of: Callable[[bytes], Record | None]) -> None:
        """Replace the previous content of a key by the content of its new record."""
        refused = new = None
        try:
            record = record_of(key)
            if record is not None:
                new = self._schema.entry(key, record.value, partial(self._schema.bad_record, record))
        except BadRecordError as bad:
            refused = without_tracebacks(bad)
        self.replace_bad_record(key, refused)
        self.replace(key, new)

    def replace_bad_record(self, key: bytes, bad: BadRecordError | None) -> None:
        """Replace the bad record of a key."""
        self._bad_records = self._bad_records.delete(key)
        if bad is not None:
            self._bad_records = self._bad_records.set(key, bad)

    def replace(self, key: bytes, new: Entry[T] | None) -> None:
        """Replace the entry of a key."""
        old = self._entries.get(key)
        if old is new:
            return
        if old is not None:
            self._drop(key, old, new)
        if new is not None:
            self._put(key, new)

    def _drop(self, key: bytes, old: Entry[T], new: Entry[T] | None) -> None:
        if new is None:
            self._entries = self._entries.delete(key)
        if self._ids is not None and (new is None or new.id != old.id):
            self._ids = self._ids.without_object((old.id,), key)
        for at, (name, index) in enumerate(self._indexes.items()):
            if new is None or new.indexed[at] != old.indexed[at]:
                self._indexes[name] = index.without_object(old.indexed[at], key)

    def _put(self, key: bytes, new: Entry[T]) -> None:
        self._entries = self._entries.set(key, new)
        if self._ids is not None:
            self._ids = self._ids.with_object((new.id,), key, new.found)
        for at, (name, index) in enumerate(self._indexes.items()):
            self._indexes[name] = index.with_object(new.indexed[at], key, new.found)

    def result(self, claims: Claims[T] | None, touched: Collection[bytes]) -> Contents[T]:
        """Return the finished contents.

        Args:
            claims: the claims of the version's records; None without an interpreter.
            touched: the keys of the entries that may differ from the previous contents.
        """
        return Contents(self._schema, self._entries, self._ids, self._indexes, self._bad_records, claims, touched)
