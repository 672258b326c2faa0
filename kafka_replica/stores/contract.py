"""What every store promises.

One thread writes (``apply``); any number of threads read. A reader holds a ``Snapshot``: one version,
which never changes, however many newer ones are made, for as long as the reader keeps it. Taking one
costs the same however many keys there are, and so does applying a delta of a given size.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import NoReturn, Protocol, TypeVar, overload

from kafka_replica.common.html_tables import ROWS, html_table
from kafka_replica.common.wording import counted
from kafka_replica.errors import StoreError, UsageError
from kafka_replica.records import Key, Partition, Position, Record, Stored, key_bytes, key_text, topic_key
from kafka_replica.stores.delta import Applied, Delta
from kafka_replica.transactions.resume_point import ResumePoint

T = TypeVar("T")


class Snapshot(Mapping[bytes, Record], ABC):
    """One version: an immutable mapping of keys to the records that are alive in it.

    Keys are bytes; wherever one is asked for, a ``str`` is taken as its UTF-8. Iteration is over keys,
    in no promised order.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def version(self) -> int:
        """Its number: 1 for the first one published, one more for each after it."""

    @property
    @abstractmethod
    def position(self) -> Position:
        """The point of the log it stands for."""

    @property
    def known_length(self) -> int | None:
        """Its length, where nobody has to count for it."""
        return len(self)

    def of(self, topic: str) -> Snapshot:
        """The keys of one topic, in a replica of several topics that are not read as one key space.

        There, the keys of this mapping are made by ``topic_key``; those of the one returned are the topic's own.
        Its length, and going through it, cost what going through all keys costs.
        """
        return TopicSnapshot(self, topic)

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
        """The record of a key, or ``default`` where this version has none."""

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
        """Return its version, and how many keys it has if nobody has to count for that."""
        length = self.known_length
        return f"version {self.version}" if length is None else f"version {self.version}, {counted(length, 'key')}"

    def _repr_html_(self) -> str:
        try:
            rows = [_html_row(key, self.get(key)) for key in islice(self, ROWS + 1)]
        except StoreError:  # what cannot be read is no reason to show nothing
            rows = []
        return html_table(repr(self)[1:-1], ("key", "at", "time", "bytes"), rows, self.known_length, "key")

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        """Identity: comparing contents is ``dict(a) == dict(b)``, and costs what it costs."""
        return self is other

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            "a snapshot cannot be pickled, it shares the records of its store; send what you need of it, such as "
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
    """The keys of one topic of a version that has several."""

    __slots__ = ("_all", "_prefix")

    def __init__(self, snapshot: Snapshot, topic: str) -> None:
        self._all = snapshot
        self._prefix = topic_key(topic, b"")

    @property
    def version(self) -> int:
        """The number of the whole version."""
        return self._all.version

    @property
    def position(self) -> Position:
        """The point of the log that the whole version stands for."""
        return self._all.position

    @property
    def known_length(self) -> int | None:
        """Nobody knows."""
        return None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.topic}: {self.summary()}>"

    @property
    def topic(self) -> str:
        """The topic."""
        return key_text(self._prefix[:-1])

    def __iter__(self) -> Iterator[bytes]:
        return (key[len(self._prefix) :] for key in self._all if key.startswith(self._prefix))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @overload
    def get(self, key: Key, /) -> Record | None: ...
    @overload
    def get(self, key: Key, /, default: Record | T) -> Record | T: ...
    def get(self, key: Key, /, default: Record | T | None = None) -> Record | T | None:
        """The record of a key of the topic, or ``default``."""
        record = self._all.get(self._prefix + key_bytes(key))
        return default if record is None else record


class Store(Protocol):
    """Keeps the present version and those that somebody still holds. One thread writes, any thread reads."""

    part_bytes: int | None
    """The next version is handed over in parts of about this many bytes (``stage``); None: always in one piece."""

    @property
    def resume_point(self) -> ResumePoint | None:
        """What was written with the present version; None where there is no version."""

    @property
    def is_damaged(self) -> bool:
        """Whether something was met in it that is not what was written: it has to be built anew."""

    def snapshot(self) -> Snapshot:
        """The present version; from any thread. Version 0, empty, before the first ``apply``."""

    def newest(self, key: bytes) -> Stored | None:
        """What was written of a key, seen by readers or not; for the thread that writes."""

    def offsets(self) -> Iterator[tuple[bytes, Partition, int]]:
        """Key, partition and offset of every record that ``newest`` knows; for the thread that writes.

        Raises:
            StoreError: they cannot be read.
        """

    def stage(self, delta: Delta) -> None:
        """Takes in a part of the next version; no reader sees it before ``apply``, no crash leaves it behind.

        Raises:
            StoreError: it could not be done; the present version stays as it was.
        """

    def apply(self, delta: Delta, position: Position, resume_point: ResumePoint | None = None) -> Applied | None:
        """Makes the next version: what was staged and all of the delta at once, standing for ``position``.

        The bookmark is kept with it, in the same write.

        Returns:
            What has changed; None where the version before cannot be read any more, so that nobody can say.

        Raises:
            StoreError: it could not be done; the present version stays as it was.
        """

    def note(self, resume_point: ResumePoint) -> None:
        """The present version is known to stand for more, or to be of a later time."""

    def rebuild(self, *, forget: bool = False) -> None:
        """What is staged and applied from now on makes a new state, from nothing.

        Readers keep the present version until the next ``apply``, which puts the new state in its place, and says
        how the two differ: records that only lie elsewhere in the log are no change for listeners. What was staged
        before is dropped.

        Args:
            forget: the present version must not be shown any more, not until then either; numbers begin anew.
        """

    def close(self) -> None:
        """Lets go of everything but what snapshots still need. Idempotent."""
