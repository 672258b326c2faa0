"""The basic values of the library: records, partitions and positions.

The module uses no I/O, threads, Kafka client or SDMX.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, TypeVar, overload

from kafka_replica.common.record_fields import PlainRecordFields, with_compiled_fields
from kafka_replica.common.wording import counted, shortened

T = TypeVar("T")

_PARTITIONS_SHOWN = 4

Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]
"""Record headers as Kafka stores them: ordered, names may repeat, a value may be null.

In a name, bytes that are not UTF-8 are lone surrogates, as Python's error handler ``surrogateescape`` decodes them."""

Key: TypeAlias = bytes | str
"""A key as a caller may give it: bytes, or text that is encoded as UTF-8."""


def key_bytes(key: Key) -> bytes:
    """Return the bytes of a key; text is encoded as UTF-8."""
    return key.encode() if isinstance(key, str) else key


def topic_key(topic: str, key: Key) -> bytes:
    """Return the name of a topic's key in a replica of several topics with separate key spaces."""
    return topic.encode() + b"\0" + key_bytes(key)  # topic names contain no NUL


def keys_of_topic(topic: str, keys: Iterable[bytes]) -> list[bytes]:
    """Return one topic's own keys from the keys of a replica of several topics with separate key spaces."""
    prefix = topic_key(topic, b"")
    return [key[len(prefix) :] for key in keys if key.startswith(prefix)]


def own_key(partition: Partition, key: bytes) -> bytes:
    """Return a record's own key, given its partition and its name in a replica with separate key spaces."""
    return key[len(partition.topic) + 1 :]  # topic names are ASCII


def key_text(key: bytes) -> str:
    """Return a key, or any bytes, as readable text: UTF-8 is decoded, other bytes are escaped."""
    return key.decode(errors="backslashreplace")


class Partition(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


NOWHERE = Partition("", -1)
"""The partition of records that were read from none."""


@with_compiled_fields
class Record(PlainRecordFields[Partition]):
    """A record of the log as it was written; ``value`` is None for a tombstone.

    ``timestamp_ms`` is in milliseconds since 1970-01-01 UTC: the create time or the append time, according to the
    topic's ``message.timestamp.type``, or -1 if the log has no timestamp.

    A record is immutable and hashable. Its fields are also its items, in the order of the arguments, so that it can be
    unpacked; ``tuple(record)`` is a tuple of them.

    Args:
        key: the key; None if the log has none, which readers of a replica never see.
        value: the value, or None.
        offset: the offset in the partition.
        timestamp_ms: the time.
        headers: the headers.
        source: the partition.
    """

    __slots__ = ()
    __match_args__ = "key", "value", "offset", "timestamp_ms", "headers", "source"

    def __repr__(self) -> str:
        content = "tombstone" if self.value is None else counted(len(self.value), "byte")
        return f"<Record {shortened(key_text(self.key or b''), 120)} at {self.source}@{self.offset}, {content}>"

    @property
    def topic(self) -> str:
        """The topic that the record was read from."""
        return self.source.topic

    @property
    def partition(self) -> int:
        """The number of the partition that the record was read from."""
        return self.source.partition

    @property
    def is_tombstone(self) -> bool:
        """Return whether the record deletes its key."""
        return self.value is None

    def header(self, name: str) -> bytes | None:
        """Return the value of the last header with that name, or None."""
        return next((value for header, value in reversed(self.headers) if header == name), None)

    def replace(self, **fields: Any) -> Record:
        """Return a record with other values of some fields.

        Raises:
            TypeError: a record has no such field.
        """
        return Record(**dict(zip(self.__match_args__, self, strict=True)) | fields)

    __replace__ = replace

    def __reduce__(self) -> tuple[type[Record], tuple[Any, ...]]:
        return Record, tuple(self)


class OpenTransaction:
    """A transaction in one partition that began below a version's position, but was not committed there yet."""

    __slots__ = ("_count", "_spans", "first_offset", "partition", "producer_epoch", "producer_id")

    def __init__(
        self,
        partition: Partition,
        producer_id: int,
        producer_epoch: int,
        first_offset: int,
        spans: Sequence[tuple[int, int]],
        count: int,
    ) -> None:
        self.partition = partition
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.first_offset = first_offset
        # The reader continues to append to the same list: only the first ``count`` spans belong to this object.
        self._spans, self._count = spans, count

    @property
    def end(self) -> int:
        """The offset after the last record that the transaction has written to the partition so far."""
        return self._spans[self._count - 1][1] if self._count else self.first_offset

    def holds(self, offset: int) -> bool:
        """Return whether the record at an offset belongs to the transaction."""
        at = bisect_right(self._spans, (offset, 1 << 63), hi=self._count)
        return at > 0 and offset < self._spans[at - 1][1]

    def __eq__(self, other: object) -> bool:
        return self._identity == other._identity if isinstance(other, OpenTransaction) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity)

    def __repr__(self) -> str:
        return f"<transaction of producer {self.producer_id} open at {self.partition}@{self.first_offset}>"

    @property
    def _identity(self) -> tuple[Partition, int, int]:
        return self.partition, self.producer_id, self.first_offset

    def as_json(self) -> dict[str, Any]:
        """Return the transaction as plain JSON values."""
        return {
            "partition": str(self.partition),
            "first_offset": self.first_offset,
            "producer_id": self.producer_id,
            "producer_epoch": self.producer_epoch,
        }


RawRecord: TypeAlias = tuple[bytes, bytes | None, int, int, Headers]
"""A record as a reader creates it: the fields of a ``Record`` without its source.

Plain tuples of plain values cost Python's garbage collector nothing, whereas half a million objects of a class
double the time of a bootstrap.
"""

Stored: TypeAlias = RawRecord | Record
"""A record as it is stored until a user requests it; in both forms, item 1 is the value and item 2 the offset."""


def lacks_key(stored: Stored) -> bool:
    """Return whether a record has no key; log readers do not check this."""
    key: bytes | None = stored[0]
    return key is None


def as_record(stored: Stored, source: Partition) -> Record:
    """Return the record as users see it."""
    return stored if isinstance(stored, Record) else Record(*stored, source)


def source_of(stored: Stored, source: Partition) -> Partition:
    """Return the partition of a record; ``source`` is that of a record without one."""
    return stored.source if isinstance(stored, Record) else source


class Position(Mapping[Partition, int]):
    """A position in the log: for each partition, the next offset to be read.

    The version at a position holds all committed records below it, except those of transactions that were
    still ``open`` there. A position is immutable and hashable. It *dominates* another position if it is at least as
    far in every partition.
    """

    __slots__ = ("_offsets", "open")

    def __init__(
        self,
        offsets: Mapping[Partition, int] | None = None,
        open: Iterable[OpenTransaction] = (),  # noqa: A002
    ) -> None:
        found = dict(offsets or {})
        self._offsets: dict[Partition, int] = found if len(found) < 2 else dict(sorted(found.items()))
        self.open: tuple[OpenTransaction, ...] = tuple(open)

    def __getitem__(self, partition: Partition) -> int:
        return self._offsets[partition]

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._offsets)

    def __len__(self) -> int:
        return len(self._offsets)

    def __contains__(self, partition: object) -> bool:
        return partition in self._offsets

    # The views and look-ups of the dict are faster than those of a Mapping.

    @overload
    def get(self, partition: Partition, /) -> int | None: ...

    @overload
    def get(self, partition: Partition, default: int | T, /) -> int | T: ...

    def get(self, partition: Partition, default: int | T | None = None, /) -> int | T | None:
        """Return the offset of a partition, or the default; faster than the method of ``Mapping``."""
        return self._offsets.get(partition, default)

    def items(self) -> ItemsView[Partition, int]:
        """Return the partitions with their offsets."""
        return self._offsets.items()

    def keys(self) -> KeysView[Partition]:
        """Return the partitions."""
        return self._offsets.keys()

    def values(self) -> ValuesView[int]:
        """Return the offsets."""
        return self._offsets.values()

    def __hash__(self) -> int:
        return hash((tuple(self._offsets.items()), frozenset(self.open)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self._offsets == other._offsets and set(self.open) == set(other.open)

    def __repr__(self) -> str:
        return f"Position({self.summary()})"

    def summary(self) -> str:
        """Return the same text as ``str``, shortened to the first partitions if there are many."""
        if len(self) <= _PARTITIONS_SHOWN:
            return str(self)
        shown = ", ".join(f"{partition}@{offset}" for partition, offset in islice(self.items(), _PARTITIONS_SHOWN))
        return f"{shown} and {counted(len(self) - _PARTITIONS_SHOWN, 'more partition')}"

    def __str__(self) -> str:
        text = ", ".join(f"{partition}@{offset}" for partition, offset in self._offsets.items()) or "empty"
        return f"{text} ({len(self.open)} open)" if self.open else text

    def dominates(self, other: Mapping[Partition, int]) -> bool:
        """Return whether this position is at least as far as the other one in each of the other's partitions."""
        return all(self._offsets.get(partition, -1) >= offset for partition, offset in other.items())

    def includes(self, positions: Mapping[Partition, int]) -> bool:
        """Return whether all records below these offsets are decided, so that this version has them if committed."""
        return self.dominates(positions) and not any(
            open_.holds(positions[open_.partition] - 1) for open_ in self.open if open_.partition in positions
        )

    def advanced(self, offsets: Mapping[Partition, int]) -> Position:
        """Return a position with other offsets for some partitions, and without open transactions."""
        return Position({**self._offsets, **offsets})

    def resume(self) -> Position:
        """Return the position at which to resume: open transactions must be read again from their first record."""
        firsts: dict[Partition, int] = {}
        for open_ in self.open:
            firsts[open_.partition] = min(open_.first_offset, firsts.get(open_.partition, open_.first_offset))
        return self.advanced(firsts)

    def as_json(self) -> dict[str, int]:
        """Return the offsets as ``{"topic-partition": offset}``."""
        return {str(partition): offset for partition, offset in self._offsets.items()}
