"""A model of a log that several writers of large values write at once, and of the states that readers find in it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka_replica.large_values import WireRecord, assemble, is_chunk_key, manifest_of, split
from kafka_replica.records import Key, Partition, Position, Record, key_bytes
from kafka_replica.stores import Snapshot

CHUNK_BYTES = 4

NewId = Callable[[int, bytes], str]
"""A function from the number of a write and its value to the id of the write."""


def unique_id(number: int, _value: bytes) -> str:
    """Return an id that no other write has, as the library does."""
    return f"{number:032x}"


def id_of_content(_number: int, value: bytes) -> str:
    """Return an id that equal values share."""
    return hashlib.sha256(value).hexdigest()[:32]


@dataclass
class Write:
    """A transaction that writes one main key."""

    key: bytes
    value: bytes | None
    pending: list[WireRecord]
    records: list[Record] = field(default_factory=list)
    is_committed: bool = False

    @property
    def main_offset(self) -> int:
        """The offset of the record of the main key."""
        return next(record.offset for record in self.records if record.key == self.key)


class Log:
    """A log of one partition. Offsets are in the order of arrival; a record counts by its offset, once committed."""

    def __init__(self, new_id: NewId = unique_id) -> None:
        self.end = 0
        self.writes: list[Write] = []
        self._new_id = new_id

    def begin(self, key: bytes, value: bytes | None, order: Sequence[int] = ()) -> Write:
        """Begin a transaction whose writer has seen all that is committed.

        Args:
            key: the main key.
            value: the value; None deletes.
            order: ranks by which the records arrive; those of different partitions may overtake each other.
        """
        record = self.state().get(key)
        previous = None if record is None else manifest_of(record)
        write_id = self._new_id(len(self.writes), value or b"")
        records = list(split(key, value, previous, chunk_bytes=CHUNK_BYTES, write_id=write_id).records)
        ranks = [*order[: len(records)], *[len(order)] * (len(records) - len(order))]
        made = Write(key, value, [record for _, record in sorted(zip(ranks, records, strict=True), key=lambda r: r[0])])
        self.writes.append(made)
        return made

    def append(self, write: Write, count: int = 1) -> None:
        """Let the next records of a transaction arrive."""
        for record in write.pending[:count]:
            place = Partition("t", 0)
            write.records.append(Record(record.key, record.value, self.end, 0, record.headers, place))
            self.end += 1
        del write.pending[:count]

    def commit(self, write: Write) -> None:
        """Let the remaining records of a transaction arrive, and commit it."""
        self.append(write, len(write.pending))
        write.is_committed = True

    def committed(self) -> list[Record]:
        """Return all committed records by offset."""
        found = [record for write in self.writes if write.is_committed for record in write.records]
        return sorted(found, key=lambda record: record.offset)

    def state(self, records: Sequence[Record] | None = None) -> dict[bytes, Record]:
        """Return the last record of each key that is not a tombstone."""
        last = {record.key: record for record in (self.committed() if records is None else records)}
        return {key: record for key, record in last.items() if not record.is_tombstone}

    def expected(self) -> dict[bytes, bytes]:
        """Return the values that readers should see: of each key, that of the write with the highest offset."""
        last: dict[bytes, Write] = {}
        for write in self.writes:
            if write.is_committed and (write.key not in last or last[write.key].main_offset < write.main_offset):
                last[write.key] = write
        return {key: write.value for key, write in last.items() if write.value is not None}


def shown(state: dict[bytes, Record]) -> dict[bytes, bytes | None]:
    """Return the values that a reader of a state sees; raises BadRecordError if one is not whole."""
    return {key: assemble(key, record, state.get).value for key, record in state.items() if not is_chunk_key(key)}


def compacted(records: Sequence[Record], removed: Callable[[], bool]) -> list[Record]:
    """Return what compaction leaves of committed records.

    It may remove any record that a later one replaces, and then a tombstone before which no record of its key is left.
    """
    last = {record.key: record.offset for record in records}
    kept = [record for record in records if record.offset == last[record.key] or not removed()]
    first = {record.key: record.offset for record in reversed(kept)}
    return [record for record in kept if not (record.is_tombstone and record.offset == first[record.key] and removed())]


class StateSnapshot(Snapshot):
    """A version with the records of a state."""

    version, position = 1, Position()

    def __init__(self, state: dict[bytes, Record]) -> None:
        self._state = state

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._state)

    def __len__(self) -> int:
        return len(self._state)

    def get(self, key: Key, /, default: Any = None) -> Any:
        """Return the record of a key, or a default."""
        return self._state.get(key_bytes(key), default)
