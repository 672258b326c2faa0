"""The contract of stores and snapshots.

One thread writes (``apply``); any number of threads read. A reader holds a ``Snapshot``: one version, which
never changes while the reader holds it, however many newer versions are published. The cost of taking a
snapshot, or of applying a delta of a given size, does not depend on the number of keys.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import NoReturn, Protocol, TypeVar, overload

from kafka_replica.common.html_tables import ROWS, html_table
from kafka_replica.common.wording import counted
from kafka_replica.errors import BadRecordError, DataError, StoreDamagedError, StoreError, UsageError
from kafka_replica.records import Key, Partition, Position, Record, Stored, key_bytes, key_text, topic_key
from kafka_replica.stores.delta import AppliedChanges, Delta
from kafka_replica.transactions.resume_point import ResumePoint

T = TypeVar("T")


class Snapshot(Mapping[bytes, Record], ABC):
    """A version: an immutable mapping of keys to the live records.

    Keys are bytes; every method that takes a key also accepts a ``str``, which is encoded as UTF-8. Iteration is over
    keys, in unspecified order.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def version(self) -> int:
        """The number of the version: 1 for the first published version, incremented for each later one."""

    @property
    @abstractmethod
    def position(self) -> Position:
        """The position in the log that the version represents."""

    @property
    def known_length(self) -> int | None:
        """The number of keys, or None if they would have to be counted."""
        return len(self)

    def of(self, topic: str) -> Snapshot:
        """Return the keys of one topic, in a replica of several topics that do not share a key space.

        The keys of this mapping are then those of ``topic_key``; the keys of the returned mapping are the topic's own
        keys. Counting its keys and iterating over them cost as much as iterating over all keys. In a replica of a
        single topic, this is the version itself. Topics that share a key space have no keys of their own: select
        records by ``source.topic`` there, because the result is empty.

        Raises:
            UsageError: the version has no such topic.
        """
        topics = {partition.topic for partition in self.position}
        if topics and topic not in topics:
            raise UsageError(f"version {self.version} has no topic {topic!r}; it has {', '.join(sorted(topics))}")
        return self if len(topics) == 1 else TopicSnapshot(self, topic)

    @abstractmethod
    def __iter__(self) -> Iterator[bytes]: ...

    @abstractmethod
    def __len__(self) -> int: ...

    @overload
    def get(self, key: Key, /) -> Record | None: ...
    @overload
    def get(self, key: Key, /, default: Record | T) -> Record | T: ...
    @abstractmethod
    def get(self, key: Key, /, default: Record | T | None = None) -> Record | T | None:
        """Return the record of a key, or ``default`` if this version has no such key."""

    def scan(self) -> Iterator[tuple[bytes, Record | BadRecordError]]:
        """Yield each key with its record, or with the error that looking it up would raise; reads the store in order.

        Raises:
            StoreError: the store cannot be read.
        """
        return iter(self.items())

    def scan_values(self) -> Iterator[tuple[bytes, bytes | BadRecordError]]:
        """Yield each key with its value, or with the error that looking it up would raise; see ``scan``."""
        return ((key, found.value if isinstance(found, Record) else found) for key, found in self.scan())  # type: ignore[misc] # no tombstones

    def __getitem__(self, key: Key) -> Record:
        record = self.get(key)
        if record is None:
            raise KeyError(key)
        return record

    def __contains__(self, key: object) -> bool:
        return isinstance(key, bytes | str) and self.get(key) is not None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.summary()}, {self.position.summary()}>"

    def summary(self) -> str:
        """Return the version, and the number of keys if it is known without counting."""
        length = self.known_length
        return f"version {self.version}" if length is None else f"version {self.version}, {counted(length, 'key')}"

    def _repr_html_(self) -> str:
        try:
            rows = [_html_row(key, self.get(key)) for key in islice(self, ROWS + 1)]
        except (StoreError, DataError):  # unreadable records should not prevent the representation
            rows = []
        return html_table(repr(self)[1:-1], ("key", "at", "time", "bytes"), rows, self.known_length, "key")

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __eq__(self, other: object) -> bool:
        """Compare by identity; ``dict(a) == dict(b)`` compares contents, at the cost of reading all records."""
        return self is other

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            "a snapshot cannot be pickled, because it shares the records of its store; send what you need, such as "
            "[snapshot[key] for key in keys] or dict(snapshot), or make a replica in the other process"
        )


def _html_row(key: bytes, record: Record | None) -> tuple[object, ...]:
    if record is None:
        return (key_text(key), None, None, None)
    time: object = None
    if record.timestamp_ms >= 0:
        try:
            time = datetime.fromtimestamp(record.timestamp_ms / 1000, UTC).isoformat(" ", "milliseconds")
        except (ValueError, OverflowError, OSError):  # a producer may write any number
            time = f"{record.timestamp_ms} ms"
    return key_text(key), f"{record.source}@{record.offset}", time, len(record.value or b"")


class TopicSnapshot(Snapshot):
    """The keys of one topic in a version of several topics."""

    __slots__ = ("_all", "_prefix")

    def __init__(self, snapshot: Snapshot, topic: str) -> None:
        self._all = snapshot
        self._prefix = topic_key(topic, b"")

    @property
    def all_topics(self) -> Snapshot:
        """The underlying version, with the keys of all topics."""
        return self._all

    @property
    def version(self) -> int:
        """The number of the underlying version."""
        return self._all.version

    @property
    def position(self) -> Position:
        """The position in the log that the underlying version represents."""
        return self._all.position

    @property
    def known_length(self) -> int | None:
        """Always None: the number of keys is unknown without counting."""
        return None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.topic}: {self.summary()}>"

    @property
    def topic(self) -> str:
        """The name of the topic."""
        return key_text(self._prefix[:-1])

    def of(self, topic: str) -> Snapshot:
        """Return the keys of a topic in the underlying version, whichever topic this object has."""
        return self._all.of(topic)

    def __iter__(self) -> Iterator[bytes]:
        return (key[len(self._prefix) :] for key in self._all if key.startswith(self._prefix))

    def scan(self) -> Iterator[tuple[bytes, Record | BadRecordError]]:
        """Yield each key of the topic with its record, or with the error that looking it up would raise."""
        start = len(self._prefix)
        return ((key[start:], found) for key, found in self._all.scan() if key.startswith(self._prefix))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @overload
    def get(self, key: Key, /) -> Record | None: ...
    @overload
    def get(self, key: Key, /, default: Record | T) -> Record | T: ...
    def get(self, key: Key, /, default: Record | T | None = None) -> Record | T | None:
        """Return the record of a key of the topic, or ``default``."""
        record = self._all.get(self._prefix + key_bytes(key))
        return default if record is None else record


class Store(Protocol):
    """A store of the current version and of versions that readers still hold. One thread writes, any thread reads."""

    part_bytes: int | None
    """The approximate size of the parts in which ``stage`` receives the next version; None if it is never split."""

    @property
    def resume_point(self) -> ResumePoint | None:
        """The resume point written with the current version; None if there is no version."""

    @property
    def is_damaged(self) -> bool:
        """True if damaged data was found in the store, which then has to be rebuilt."""

    @property
    def damage(self) -> StoreDamagedError | None:
        """The damage that was found when the store was opened, so that it began without a version; None without any."""

    def snapshot(self) -> Snapshot:
        """Return the current version; thread-safe. Before the first ``apply`` this is version 0, which is empty.

        Raises:
            StoreError: the store is closed; a store in memory does not raise this.
        """

    def newest(self, key: bytes) -> Stored | None:
        """Return the newest record written for a key, even if readers cannot see it yet; for the thread that writes."""

    def offsets(self) -> Iterator[tuple[bytes, Partition, int]]:
        """Yield key, partition and offset of every record that ``newest`` finds; for the thread that writes.

        Raises:
            StoreError: the records cannot be read.
        """

    def stage(self, delta: Delta) -> None:
        """Write a part of the next version; no reader sees it before ``apply``, and it does not survive a crash.

        Raises:
            StoreError: the write failed; the current version is unchanged.
        """

    def apply(self, delta: Delta, position: Position, resume_point: ResumePoint | None = None) -> AppliedChanges | None:
        """Publish the next version atomically: everything staged, and the delta, with the given ``position``.

        The resume point is stored with it, in the same write.

        Returns:
            The changes; None if they are unknown, because the previous version cannot be read any more.

        Raises:
            StoreError: the write failed; the current version is unchanged.
        """

    def save_resume_point(self, resume_point: ResumePoint) -> None:
        """Store a newer resume point of the current version, whose records stay valid further on in the log."""

    def rebuild(self, *, forget: bool = False) -> None:
        """Start a new, empty state, which later calls of ``stage`` and ``apply`` fill.

        Readers keep the current version until the next ``apply``, which replaces it with the new state and returns
        the differences: a record that only has a different place in the log is not a change for listeners. Everything
        staged before is discarded.

        Args:
            forget: whether readers must not see the current version from now on; version numbers then restart at 1.
        """

    def close(self) -> None:
        """Release everything except what snapshots still need. Idempotent."""
