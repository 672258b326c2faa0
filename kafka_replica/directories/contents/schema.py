"""Convert a record to an object with its key and its values in each index, or to a bad record."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

from kafka_replica.directories.indexes import Index
from kafka_replica.directories.indexes.entry import Entry
from kafka_replica.directories.records.decoding import Decode
from kafka_replica.directories.records.interpretation import Interpreter
from kafka_replica.errors import BadRecordError
from kafka_replica.records import Record

T = TypeVar("T")

_ADVICE: Final = "publish it again, or set on_bad_record='skip' to set such records aside"

Refuse: TypeAlias = Callable[[str, Exception], BadRecordError]
"""A function that returns the error for an exception in a step."""


class Schema(NamedTuple, Generic[T]):
    """The functions that convert a record to an entry."""

    decode: Decode[T]
    id_of: Callable[[T], Hashable] | None
    """Extracts the directory's key from an object; None means the key of the record as text."""
    where: Callable[[T], bool] | None
    indexes: Mapping[str, Index[T]]
    """The indexes, which are empty here."""
    interpreter: Interpreter | None = None
    """Returns what a record puts; None means its value under its key."""

    def entry(self, key: bytes, value: bytes | None, refuse: Refuse) -> Entry[T] | None:
        """Return the entry for a value under a key; None if ``where`` leaves it out.

        Raises:
            BadRecordError: the value cannot be decoded, or its key or a value in an index is invalid; ``refuse``
                returns the error.
        """
        step, index_name = "decoding its value", None
        try:
            found = self.decode(value or b"")
            if self.where is not None:
                step = "where="
                if not self.where(found):
                    return None
            step = "taking its key"
            if self.id_of is None:
                name: Hashable = key.decode()
            else:
                name = self.id_of(found)
                hash(name)
                if name is None:
                    raise ValueError("the object has None as its key")
            indexed = []
            for index_name, index in self.indexes.items():  # noqa: B007 - for the error
                indexed.append(tuple(index.values_of(found)))
            if self.id_of is not None:
                indexed.append((name,))
        except Exception as error:
            raise refuse(step if index_name is None else f"the index {index_name}", error) from error
        made: Entry[T] = tuple.__new__(Entry, (key, found, name, tuple(indexed)))  # three times as fast as Entry()
        return made


def bad_record(record: Record, step: str, error: Exception) -> BadRecordError:
    """Return the error for a record for which a step raised an exception."""
    reason = f"{step}: {str(error) or type(error).__name__}"
    bad = BadRecordError(*record.source, record.offset, reason, _ADVICE, record.key)
    bad.record = record
    return bad
