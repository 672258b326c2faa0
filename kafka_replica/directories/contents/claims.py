"""The claims of records to keys of a directory: which records put a key, and which of them takes effect.

``Claims`` is immutable, and determined by the records of one version. The claims of the next version share the
unchanged parts. Deriving them therefore costs only as much as the change: the cost does not depend on the number of
keys, and hardly on the number of records that claim the same key. Only adding or removing a ``DeleteAll`` record
requires a scan of all keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import inf
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from kafka_replica.common.persistent_map import PersistentMap
from kafka_replica.common.sorted_map import SortedMap
from kafka_replica.directories.contents.cutoffs import Cutoff, Cutoffs
from kafka_replica.directories.contents.schema import Schema, without_tracebacks
from kafka_replica.directories.indexes.entry import Entry
from kafka_replica.directories.records.interpretation import DeleteAll, Put
from kafka_replica.errors import BadRecordError
from kafka_replica.records import Partition, Record, key_bytes

T = TypeVar("T")


class Claim(NamedTuple, Generic[T]):
    """An object that a record puts under a key."""

    entry: Entry[T] | None
    """The entry of the object, or None if ``where`` leaves the object out."""
    source: Partition
    offset: int
    time_ms: int
    scope: str
    initial_key: bytes
    """The key of an initial record, because all of these have the same source and offset; otherwise empty."""


InterpretedRecord: TypeAlias = Cutoff | tuple[tuple[bytes, Claim[T]], ...]
"""The result of interpreting a record: its claims, each with its key, or its cutoff."""

Claimed: TypeAlias = Claim[T] | SortedMap[tuple[Partition, int, bytes], Claim[T]]
"""The claims to a key: a single claim, or several in the order of partitions, the newest of each partition first."""


class ClaimsChange(NamedTuple, Generic[T]):
    """The claims of a version, and how they differ from those of the previous version."""

    claims: Claims[T]
    keys: set[bytes]
    """The keys of the directory whose object may differ."""
    bad: dict[bytes, BadRecordError]
    """The bad records among the changed records, by the key of the record."""


class Claims(Generic[T]):
    """The claims of all records of a version.

    Args:
        by_record: the claims or the cutoff of each record, by the key of the record.
        by_key: the claims to each key of the directory.
        cutoffs: the cutoffs of all ``DeleteAll`` records.
    """

    __slots__ = ("_by_key", "_by_record", "_cutoffs")

    def __init__(
        self,
        by_record: PersistentMap[bytes, InterpretedRecord[T]],
        by_key: PersistentMap[bytes, Claimed[T]],
        cutoffs: Cutoffs,
    ) -> None:
        self._by_record, self._by_key, self._cutoffs = by_record, by_key, cutoffs

    @staticmethod
    def of(
        schema: Schema[T], records: Iterable[tuple[bytes, Record | BadRecordError]]
    ) -> tuple[Claims[T], dict[bytes, BadRecordError]]:
        """Return the claims of all records of a version, and the bad records by key."""
        by_record: dict[bytes, InterpretedRecord[T]] = {}
        single: dict[bytes, Claim[T]] = {}
        several: dict[bytes, list[Claim[T]]] = {}
        bad: dict[bytes, BadRecordError] = {}
        for record_key, record in records:
            try:
                if isinstance(record, BadRecordError):
                    raise record
                found = by_record[record_key] = interpret_record(schema, record)
            except BadRecordError as error:
                bad[record_key] = without_tracebacks(error)
                continue
            if isinstance(found, Cutoff):
                continue
            for key, claim in found:
                first = single.setdefault(key, claim)
                if first is not claim:
                    several.setdefault(key, [first]).append(claim)
        by_key: dict[bytes, Claimed[T]] = dict(single)
        by_key.update((key, SortedMap((_place(claim), claim) for claim in claims)) for key, claims in several.items())
        cutoffs = Cutoffs({key: found for key, found in by_record.items() if isinstance(found, Cutoff)})
        return Claims(PersistentMap(by_record, build_later=True), PersistentMap(by_key, build_later=True), cutoffs), bad

    def prepare_for_changes(self) -> None:
        """Build the structures for changes, in time proportional to the size; otherwise the first change does this."""
        self._by_record.build()
        self._by_key.build()

    def advanced(
        self, schema: Schema[T], touched: Iterable[bytes], record_of: Callable[[bytes], Record | None]
    ) -> ClaimsChange[T]:
        """Return the claims of a version that differs from this one at most in the touched records."""
        by_record, by_key = self._by_record, self._by_key
        keys: set[bytes] = set()
        bad: dict[bytes, BadRecordError] = {}
        cutoffs: dict[bytes, Cutoff | None] = {}
        for record_key in touched:
            old, new = by_record.get(record_key), None
            try:
                record = record_of(record_key)
                new = None if record is None else interpret_record(schema, record)
            except BadRecordError as error:
                bad[record_key] = without_tracebacks(error)
            by_record = by_record.delete(record_key) if new is None else by_record.set(record_key, new)
            if isinstance(old, Cutoff) or isinstance(new, Cutoff):
                cutoffs[record_key] = new if isinstance(new, Cutoff) else None
            was, now = _claims(old), _claims(new)
            for key in was.keys() | now.keys():
                claimed = _replaced(by_key.get(key), was.get(key), now.get(key))
                by_key = by_key.delete(key) if claimed is None else by_key.set(key, claimed)
                keys.add(key)
        made = Claims(by_record, by_key, self._cutoffs.changed(cutoffs))
        if cutoffs:
            keys.update(by_key)
        return ClaimsChange(made, keys, bad)

    def entries(self) -> dict[bytes, Entry[T]]:
        """Return the entries of all keys of the directory."""
        found = (
            (key, claimed.entry if isinstance(claimed, Claim) and not self._cutoffs else self.entry(key))
            for key, claimed in self._by_key.items()
        )
        return {key: entry for key, entry in found if entry is not None}

    def entry(self, key: bytes) -> Entry[T] | None:
        """Return the entry of a key of the directory: that of the newest claim that no ``DeleteAll`` hides."""
        claimed = self._by_key.get(key)
        if claimed is None:
            return None
        if isinstance(claimed, Claim):
            return None if self._is_hidden(claimed) else claimed.entry
        newest = max(self._newest(claimed), key=lambda claim: (claim.time_ms, claim.source), default=None)
        return None if newest is None else newest.entry

    def _newest(self, claimed: SortedMap[tuple[Partition, int, bytes], Claim[T]]) -> Iterator[Claim[T]]:
        """Yield the newest claim of each partition that no ``DeleteAll`` hides."""
        start: Any = None
        while (found := next(claimed.items(start), None)) is not None:
            (source, _, _), _ = found
            for (partition, _, _), claim in claimed.items((source, -inf)):  # type: ignore[arg-type]
                if partition != source:
                    break
                if not self._is_hidden(claim):
                    yield claim
                    break
            start = source, inf  # after all claims of the partition

    def _is_hidden(self, claim: Claim[T]) -> bool:
        return bool(self._cutoffs) and self._cutoffs.hide(claim.scope, claim.source, claim.offset, claim.time_ms)


def interpret_record(schema: Schema[T], record: Record) -> InterpretedRecord[T]:
    """Return the claims or the cutoff of a record.

    Raises:
        BadRecordError: the interpreter refuses the record, or any of its values is bad; all of its values are then
            left out.
    """
    step = "interpreting it"
    assert schema.interpreter is not None  # noqa: S101 - the directory has one
    try:
        found = schema.interpreter(record)
        if isinstance(found, Put):
            return (_claim(schema, record, found),)
        if isinstance(found, DeleteAll):
            time_ms = record.timestamp_ms if found.time_ms is None else found.time_ms
            return Cutoff(found.scope, record.source, record.offset, time_ms)
        claims = tuple(_claim(schema, record, put) for put in found or ())
        if len(claims) > 1 and len(dict(claims)) < len(claims):
            raise ValueError("it puts a key twice")
    except BadRecordError:
        raise
    except Exception as error:
        raise schema.bad_record(record, step, error) from error
    return claims


def _claim(schema: Schema[T], record: Record, put: Put) -> tuple[bytes, Claim[T]]:
    if put.__class__ is not Put or put.value.__class__ is not bytes:
        raise TypeError(f"the interpreter has returned {put!r}; it must return Put(key, value), DeleteAll() or None")
    key = key_bytes(put.key)
    entry = schema.entry(key, put.value, partial(schema.bad_record, record))
    time_ms = record.timestamp_ms if put.time_ms is None else put.time_ms
    initial_key = record.key if record.offset < 0 else b""
    fields = entry, record.source, record.offset, time_ms, put.scope, initial_key
    made: Claim[T] = tuple.__new__(Claim, fields)  # faster
    return key, made


def _claims(found: InterpretedRecord[T] | None) -> Mapping[bytes, Claim[T]]:
    return {} if found is None or isinstance(found, Cutoff) else dict(found)


def _place(claim: Claim[Any]) -> tuple[Partition, int, bytes]:
    return claim.source, -claim.offset, claim.initial_key


def _replaced(claimed: Claimed[T] | None, old: Claim[T] | None, new: Claim[T] | None) -> Claimed[T] | None:
    """Return the claims to a key with one record's claim replaced; None if no claim is left."""
    if claimed is None or claimed is old:
        return new
    if isinstance(claimed, Claim):
        return claimed if new is None else SortedMap([(_place(claimed), claimed), (_place(new), new)])
    if old is not None:
        claimed = claimed.delete(_place(old))
    if new is not None:
        claimed = claimed.set(_place(new), new)
    return next(claimed.items())[1] if len(claimed) == 1 else claimed
