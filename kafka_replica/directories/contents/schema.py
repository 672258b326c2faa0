"""Convert a record to an object with its key and its values in each index, or to a bad record."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from kafka_replica.common.error_causes import causes
from kafka_replica.directories.indexes import Index
from kafka_replica.directories.indexes.entry import Entry
from kafka_replica.directories.records.decoding import Decode
from kafka_replica.directories.records.interpretation import Interpreter
from kafka_replica.errors import BadRecordError
from kafka_replica.records import Record

T = TypeVar("T")

BadRecordPolicy: TypeAlias = Literal["stop", "skip", "dead-letter", "on demand"]
"""The effect of a bad record on the directory; "on demand" means an error when the record is looked up."""

_SET_ASIDE: Final = "nothing needs to be done here: its key is absent until it is published again"
_REPAIR: Final[Mapping[BadRecordPolicy, str]] = {
    "stop": (
        "publish its key again or delete it: the directory then continues by itself; after a temporary failure, call "
        "retry_bad_records(); on_bad_record='skip' leaves such records out"
    ),
    "skip": _SET_ASIDE,
    "dead-letter": _SET_ASIDE,
    "on demand": "publish its key again or delete it",
}
_DECODING: Final = "decoding its value"
_PARTS: Final = {  # the argument that determines a step; the step of an index names the index itself
    _DECODING: "the type or decode=",
    "taking its key": "key=",
    "interpreting it": "interpreter=",
}

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
    policy: BadRecordPolicy = "stop"
    directory: str = "the directory"
    """The directory with its topics, for errors."""

    def entry(self, key: bytes, value: bytes | None, refuse: Refuse) -> Entry[T] | None:
        """Return the entry for a value under a key; None if ``where`` leaves it out.

        Raises:
            BadRecordError: the value cannot be decoded, or its key or a value in an index is invalid; ``refuse``
                returns the error.
        """
        step, index_name = _DECODING, None
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

    def bad_record(self, record: Record, step: str, error: Exception) -> BadRecordError:
        """Return the error for a record for which a step raised an exception.

        An exception does not reveal whether the record or the program is wrong, so the advice names both.
        """
        name, text = type(error).__name__, str(error)
        reason = f"{step}: {name}: {text}" if text else f"{step}: {name}"
        advice = f"correct {_PARTS.get(step, step)} if the program is wrong; otherwise {_REPAIR[self.policy]}"
        bad = BadRecordError(*record.source, record.offset, reason, advice, record.key)
        bad.record = record
        return bad


def without_tracebacks(bad: BadRecordError) -> BadRecordError:
    """Remove the tracebacks of an error and its causes, whose frames would keep the version in memory; return it."""
    for each in causes(bad, with_context=True):
        each.__traceback__ = None
    return bad
