"""The objects of a directory before and after each change that a listener receives."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from kafka_replica.directories.contents.schema import Schema
from kafka_replica.directories.versions.received_contents import NextContents
from kafka_replica.directories.versions.topic_selection import TopicSelection
from kafka_replica.errors import BadRecordError
from kafka_replica.listeners import Change
from kafka_replica.stores import Snapshot

T = TypeVar("T")


class Difference(NamedTuple, Generic[T]):
    """The objects of the keys that may have changed, before and after a change."""

    snapshot: Snapshot
    """The version after the change."""
    before: dict[Any, T]
    after: dict[Any, T]
    initial: bool
    conflated: int


class Differences(Protocol[T]):
    """Finds the difference that each change of the replica makes."""

    def of(self, change: Change) -> Difference[T] | None:
        """Return the difference that a change makes; None if the listener is not to be called."""
        ...


class ContentDifferences(Generic[T]):
    """Finds differences between contents that the directory has decoded.

    A listener therefore has the same objects as its directory, and only bad records that the directory reports.

    Args:
        receive: waits until the directory has a version; returns the contents of this or a later version, or None if
            they have a bad record or the directory was closed. With True, the listener has received nothing before.
    """

    def __init__(self, receive: Callable[[Snapshot, bool], NextContents[T] | None]) -> None:
        self._receive = receive
        self._received_version = self._counted_version = -1
        self._initial, self._conflated = False, 0
        self._is_over = False

    def of(self, change: Change) -> Difference[T] | None:
        """Return the difference that a change makes; None if a bad record holds it up or an earlier one included it."""
        if self._is_over or (change.version <= self._received_version and not change.initial):
            return None
        if change.initial:
            self._initial, self._counted_version = True, change.version - change.conflated
        self._count(change.version, change.conflated)
        try:
            found = self._receive(change.snapshot, change.initial)
            return None if found is None else self._difference(found)
        except BaseException:  # the listener ends like a failed directory: later differences would be incomplete
            self._is_over = True
            raise

    def _count(self, version: int, versions: int) -> None:
        self._conflated += max(0, min(versions, version - self._counted_version))
        self._counted_version = max(version, self._counted_version)

    def _difference(self, found: NextContents[T]) -> Difference[T]:
        version = self._received_version = found.snapshot.version
        self._count(version, version - self._counted_version)
        was, now, keys = found.previous, found.contents, found.keys
        ids = None if keys is None or was is None else was.ids_of(keys) | now.ids_of(keys)
        before, after = (
            {} if side is None else dict(side.objects()) if ids is None else side.single(ids) for side in (was, now)
        )
        made = Difference(found.snapshot, before, after, self._initial, self._conflated)
        self._initial, self._conflated = False, 0
        return made


class RecordDifferences(Generic[T]):
    """Finds the differences of a directory that decodes on demand, by decoding both records of each changed key.

    A record that cannot be decoded counts as absent.
    """

    def __init__(self, schema: Schema[T], topic: TopicSelection) -> None:
        self._schema, self._topic = schema, topic

    def of(self, change: Change) -> Difference[T]:
        """Return the difference that a change makes."""
        keys = self._topic.keys((*change.changed, *change.deleted))
        now = self._topic.of(change.snapshot)
        before = {} if change.previous is None else self._objects(self._topic.of(change.previous), keys)
        return Difference(now, before, self._objects(now, keys), change.initial, change.conflated)

    def _objects(self, snapshot: Snapshot, keys: Collection[bytes]) -> dict[Any, T]:
        found: dict[Any, T] = {}
        for key in keys:
            try:
                record = snapshot.get(key)
                if record is None:
                    continue
                entry = self._schema.entry(key, record.value, partial(self._schema.bad_record, record))
            except BadRecordError:
                continue
            if entry is not None:
                found[entry.id] = entry.found
        return found
