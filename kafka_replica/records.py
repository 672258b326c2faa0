"""The values everything else speaks of: a record, a partition, a cut.

No I/O, no threads, nothing of Kafka's clients and nothing of SDMX.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from kafka_replica.common.wording import counted, shortened

_PARTITIONS_SHOWN = 4

Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]
"""Record headers as Kafka keeps them: ordered, names may repeat, a value may be null."""

Key: TypeAlias = bytes | str
"""How a caller may name a key: bytes as they are, text as its UTF-8."""


def key_bytes(key: Key) -> bytes:
    """The bytes of a key, text encoded as UTF-8."""
    return key.encode() if isinstance(key, str) else key


def topic_key(topic: str, key: Key) -> bytes:
    """How a replica of several topics, each with keys of its own, names a key of one of them."""
    return topic.encode() + b"\0" + key_bytes(key)  # no name of a topic holds a zero


def key_text(key: bytes) -> str:
    """A key, or any bytes, for people: UTF-8 as text, other bytes escaped."""
    return key.decode(errors="backslashreplace")


class Partition(NamedTuple):
    """One partition of one topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class Record(NamedTuple):
    """One record of the log as it was written; ``value`` is None for a tombstone.

    ``timestamp_ms`` is in milliseconds since 1970-01-01 UTC, as the topic's ``message.timestamp.type``
    says (create time or append time), or -1 where the log has none.
    """

    key: bytes
    value: bytes | None
    offset: int
    timestamp_ms: int
    headers: Headers
    source: Partition

    def __repr__(self) -> str:
        content = "tombstone" if self.value is None else counted(len(self.value), "byte")
        return f"<Record {shortened(key_text(self.key or b''), 120)} at {self.source}@{self.offset}, {content}>"

    @property
    def topic(self) -> str:
        """The topic it was read from."""
        return self.source.topic

    @property
    def partition(self) -> int:
        """The partition it was read from."""
        return self.source.partition

    @property
    def is_tombstone(self) -> bool:
        """Whether it deletes its key."""
        return self.value is None

    def header(self, name: str) -> bytes | None:
        """The value of the last header of that name, or None."""
        return next((value for header, value in reversed(self.headers) if header == name), None)


class OpenTransaction:
    """A transaction that is not in a version though it began below its cut: what it wrote to one partition so far."""

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
        # Whoever reads on appends to the same list: only so many of it are meant.
        self._spans, self._count = spans, count

    @property
    def end(self) -> int:
        """The offset after the last record that it has written there so far."""
        return self._spans[self._count - 1][1] if self._count else self.first_offset

    def holds(self, offset: int) -> bool:
        """Whether the record at that offset is one of its own."""
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
        """Plain values."""
        return {
            "partition": str(self.partition),
            "first_offset": self.first_offset,
            "producer_id": self.producer_id,
            "producer_epoch": self.producer_epoch,
        }


RawRecord: TypeAlias = tuple[bytes, bytes | None, int, int, Headers]
"""A record as a reader makes it: what a ``Record`` begins with, but for where it was read.

A plain tuple of plain values costs Python's garbage collector nothing; half a million objects of a class
make a bootstrap twice as long.
"""

Stored: TypeAlias = RawRecord | Record
"""What is kept of a record until somebody asks for it; of both, 1 is the value and 2 the offset."""


def lacks_key(stored: Stored) -> bool:
    """Whether the log has no key for it, which readers leave to whoever puts records together."""
    key: bytes | None = stored[0]
    return key is None


def as_record(stored: Stored, source: Partition) -> Record:
    """The record as users see it."""
    if stored.__class__ is Record:
        return stored
    made: Record = tuple.__new__(Record, (*stored, source))
    return made


class Position(Mapping[Partition, int]):
    """A point of the log: for each partition the offset read up to (the next one to be read).

    What lies below it and was committed is in the version that stands for it, but for transactions that
    were still ``open`` there. Immutable and hashable. A cut *dominates* another when it is at least as far in
    every partition.
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

    def __hash__(self) -> int:
        return hash((tuple(self._offsets.items()), frozenset(self.open)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self._offsets == other._offsets and set(self.open) == set(other.open)

    def __repr__(self) -> str:
        return f"Position({self.summary()})"

    def summary(self) -> str:
        """Return the same as ``str``, with some of the partitions only where there are many."""
        if len(self) <= _PARTITIONS_SHOWN:
            return str(self)
        shown = ", ".join(f"{partition}@{offset}" for partition, offset in islice(self.items(), _PARTITIONS_SHOWN))
        return f"{shown} and {counted(len(self) - _PARTITIONS_SHOWN, 'more partition')}"

    def __str__(self) -> str:
        text = ", ".join(f"{partition}@{offset}" for partition, offset in self._offsets.items()) or "empty"
        return f"{text} ({len(self.open)} open)" if self.open else text

    def dominates(self, other: Mapping[Partition, int]) -> bool:
        """Whether this cut is at least as far as the other one in each of the other's partitions."""
        return all(self._offsets.get(partition, -1) >= offset for partition, offset in other.items())

    def includes(self, positions: Mapping[Partition, int]) -> bool:
        """Whether the records just below these offsets are decided, and in a version of this cut if they count."""
        return self.dominates(positions) and not any(
            open_.holds(positions[open_.partition] - 1) for open_ in self.open if open_.partition in positions
        )

    def advanced(self, offsets: Mapping[Partition, int]) -> Position:
        """These offsets with some partitions moved; nothing is said of open transactions."""
        return Position({**self._offsets, **offsets})

    def resume(self) -> Position:
        """From where on to read to go on after this cut: what was open is needed from its beginning."""
        firsts: dict[Partition, int] = {}
        for open_ in self.open:
            firsts[open_.partition] = min(open_.first_offset, firsts.get(open_.partition, open_.first_offset))
        return self.advanced(firsts)

    def as_json(self) -> dict[str, int]:
        """``{"topic-partition": offset}``."""
        return {str(partition): offset for partition, offset in self._offsets.items()}
