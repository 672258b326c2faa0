"""A version whose large values are whole: chunks are hidden, and manifests show the value that they describe.

This is a view of the records of one version; neither the store nor the replication loop depends on it. The version
itself makes it exact: it has whole transactions, so a manifest and its chunks belong together. Stores, restarts,
differences for slow listeners and rebuilds work with the records as they are in the topic.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar, overload

from kafka_replica.errors import BadRecordError
from kafka_replica.large_values.assembly import assemble
from kafka_replica.large_values.keys import is_chunk_key
from kafka_replica.records import Key, Position, Record, key_bytes
from kafka_replica.stores import Snapshot

T = TypeVar("T")


class LargeValueSnapshot(Snapshot):
    """A version without chunks, with large values assembled whenever they are looked up.

    Nothing is kept between look-ups. Counting the keys costs as much as iterating over them.
    """

    __slots__ = ("records",)

    def __init__(self, records: Snapshot) -> None:
        self.records = records
        """This version with its records as they are in the topic, manifests and chunks included."""

    @property
    def version(self) -> int:  # noqa: D102 - documented by Snapshot
        return self.records.version

    @property
    def position(self) -> Position:  # noqa: D102
        return self.records.position

    @property
    def known_length(self) -> int | None:
        """Always None: the number of keys is unknown without counting."""
        return None

    def of(self, topic: str) -> LargeValueSnapshot:
        """Return the keys of one topic; see ``Snapshot.of``."""
        return LargeValueSnapshot(self.records.of(topic))

    def __iter__(self) -> Iterator[bytes]:
        return (key for key in self.records if not is_chunk_key(key))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @overload
    def get(self, key: Key, /) -> Record | None: ...
    @overload
    def get(self, key: Key, /, default: Record | T) -> Record | T: ...
    def get(self, key: Key, /, default: Record | T | None = None) -> Record | T | None:
        """Return the record of a key with its whole value, or ``default``.

        Raises:
            BadRecordError: its large value is incomplete or damaged, which no transactional writer causes.
        """
        key = key_bytes(key)
        record = None if is_chunk_key(key) else self.records.get(key)
        return default if record is None else assemble(key, record, self.records.get)

    def scan(self) -> Iterator[tuple[bytes, Record | BadRecordError]]:
        """Yield each key with its record, or with the error of an incomplete value; see ``Snapshot.scan``."""
        for key, found in self.records.scan():
            if is_chunk_key(key):
                continue
            yield key, found if isinstance(found, BadRecordError) else self._assembled(key, found)

    def _assembled(self, key: bytes, record: Record) -> Record | BadRecordError:
        try:
            return assemble(key, record, self.records.get)
        except BadRecordError as error:
            return error

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, bytes | str):
            return False
        return not is_chunk_key(key_bytes(key)) and key in self.records

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LargeValueSnapshot) and self.records == other.records

    def __hash__(self) -> int:
        return hash(self.records)
