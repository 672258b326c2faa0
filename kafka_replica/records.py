"""The values everything else speaks of: a record, a partition, a cut.

No I/O, no threads, nothing of Kafka's clients and nothing of SDMX.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]
"""Record headers as Kafka keeps them: ordered, names may repeat, a value may be null."""

Key: TypeAlias = bytes | str
"""How a caller may name a key: bytes as they are, text as its UTF-8."""


def key_bytes(key: Key) -> bytes:
    """The bytes of a key, text encoded as UTF-8."""
    return key.encode() if isinstance(key, str) else key


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


class Cut(Mapping[Partition, int]):
    """A point of the log: for each partition the offset read up to (the next one to be read).

    Immutable and hashable. A cut *dominates* another when it is at least as far in every partition.
    """

    __slots__ = ("_offsets",)

    def __init__(self, offsets: Mapping[Partition, int] | None = None) -> None:
        self._offsets: dict[Partition, int] = dict(sorted((offsets or {}).items()))

    def __getitem__(self, partition: Partition) -> int:
        return self._offsets[partition]

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._offsets)

    def __len__(self) -> int:
        return len(self._offsets)

    def __hash__(self) -> int:
        return hash(tuple(self._offsets.items()))

    def __eq__(self, other: object) -> bool:
        return self._offsets == other._offsets if isinstance(other, Cut) else NotImplemented

    def __repr__(self) -> str:
        return f"Cut({self})"

    def __str__(self) -> str:
        return ", ".join(f"{partition}@{offset}" for partition, offset in self._offsets.items()) or "empty"

    def dominates(self, other: Mapping[Partition, int]) -> bool:
        """Whether this cut is at least as far as the other one in each of the other's partitions."""
        return all(self._offsets.get(partition, -1) >= offset for partition, offset in other.items())

    def advanced(self, offsets: Mapping[Partition, int]) -> Cut:
        """This cut with some partitions moved."""
        return Cut({**self._offsets, **offsets})

    def as_json(self) -> dict[str, int]:
        """``{"topic-partition": offset}``."""
        return {str(partition): offset for partition, offset in self._offsets.items()}
