"""The usual first implementation: a ``read_committed`` consumer whose state is published after every poll.

It has no barrier and no boundary detector, so that it shows halves of transactions. A run against it
shows that the checker detects them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from threading import Event, Thread
from typing import Any, TypeVar, overload

from confluent_kafka import OFFSET_BEGINNING, Consumer, Message, TopicPartition

from kafka_replica import (
    Change,
    Key,
    NotReadyError,
    Partition,
    Position,
    Record,
    Snapshot,
    State,
    Status,
    WaitTimeoutError,
)

T = TypeVar("T")


class NaiveSnapshot(Snapshot):
    """Return a copy of the dict."""

    def __init__(self, records: dict[bytes, Record], version: int, position: Position) -> None:
        self._records, self._version, self._position = records, version, position

    @property
    def version(self) -> int:  # noqa: D102 - as the contract says
        return self._version

    @property
    def position(self) -> Position:  # noqa: D102
        return self._position

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def get(self, key: Key, /) -> Record | None: ...
    @overload
    def get(self, key: Key, /, default: Record | T) -> Record | T: ...
    def get(self, key: Key, /, default: Record | T | None = None) -> Record | T | None:  # noqa: D102
        return self._records.get(key.encode() if isinstance(key, str) else key, default)


class NaiveReplica:
    """A replica that publishes after every poll, with as much of the interface of ``Replica`` as is checked."""

    def __init__(self, config: Mapping[str, Any], topic: str) -> None:
        self._topic = topic
        self._consumer = Consumer({
            **config, "group.id": "naive", "isolation.level": "read_committed", "enable.auto.commit": False,
        })  # fmt: skip
        self._listeners: list[Callable[[Change], object]] = []
        self._shown: NaiveSnapshot | None = None
        self._closing = Event()
        self._thread = Thread(target=self._follow, name="naive replica", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def close(self) -> None:
        """End reading."""
        self._closing.set()
        self._thread.join()
        self._consumer.close()

    def subscribe(self, listener: Callable[[Change], object], *, max_pending: int = 100) -> None:
        """Call a listener with each version; the replica waits for it, however slow it is."""
        del max_pending
        self._listeners.append(listener)

    def status(self) -> Status:
        """The state, which is always live."""
        return Status(State.LIVE, ready=True, version=0, keys=0)

    def snapshot(self) -> Snapshot:
        """Return the newest version."""
        if self._shown is None:
            raise NotReadyError("nothing was read yet; wait")
        return self._shown

    def wait_for(self, positions: Mapping[Partition, int], timeout_s: float | None = None) -> Snapshot:
        """Wait for these positions."""
        give_up_s = time.monotonic() + (timeout_s or 0)
        while self._shown is None or not self._shown.position.dominates(positions):
            if time.monotonic() > give_up_s:
                raise WaitTimeoutError(f"the naive replica has not come to {Position(positions)}")
            time.sleep(0.02)
        return self._shown

    def _follow(self) -> None:
        partitions = self._consumer.list_topics(self._topic, 30).topics[self._topic].partitions
        places = [TopicPartition(self._topic, number, OFFSET_BEGINNING) for number in sorted(partitions)]
        self._consumer.assign(places)
        records: dict[bytes, Record] = {}
        while not self._closing.is_set():
            messages = self._consumer.consume(20, 0.02)
            touched = {}
            for message in messages:
                if message.error() is None:
                    record = _record(message)
                    touched[record.key] = record
            for key, record in touched.items():
                records.pop(key, None)
                if record.value is not None:
                    records[key] = record
            found = self._consumer.position(places)
            position = Position({Partition(self._topic, place.partition): max(0, place.offset) for place in found})
            if self._shown is None or touched or position != self._shown.position:
                self._publish(
                    NaiveSnapshot(dict(records), (0 if self._shown is None else self._shown.version) + 1, position)
                )

    def _publish(self, snapshot: NaiveSnapshot) -> None:
        previous, self._shown = self._shown, snapshot
        old: dict[bytes, Record] = dict(previous.items()) if previous is not None else {}
        changed = [key for key, record in snapshot.items() if old.get(key) is not record]
        deleted = [key for key in old if key not in snapshot]
        for listener in self._listeners:
            listener(Change(snapshot, previous, changed, deleted))


def _record(message: Message) -> Record:
    source = Partition(message.topic() or "", message.partition() or 0)
    return Record(message.key() or b"", message.value(), message.offset() or 0, message.timestamp()[1], (), source)
