"""Changes of a directory: the objects that a version adds, changes or deletes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from kafka_replica.directories.contents.contents import Contents
from kafka_replica.directories.contents.schema import Schema, bad_record
from kafka_replica.directories.indexes.entry import Entry
from kafka_replica.directories.versions.topic_selection import TopicSelection
from kafka_replica.errors import BadRecordError
from kafka_replica.listeners import Change
from kafka_replica.stores import Snapshot

__all__ = ["DirectoryChange", "DirectoryListener", "ObjectChange"]

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ObjectChange(Generic[T]):
    """An object before and after a change."""

    before: T
    after: T


@dataclass(frozen=True, slots=True, eq=False)
class DirectoryChange(Generic[K, T]):
    """A version of a directory, as the difference from the version that the listener received previously.

    An object that ``where`` leaves out, or whose record cannot be decoded, counts as absent.
    """

    snapshot: Snapshot
    """The replica's version."""
    added: Mapping[K, T]
    """New objects by key; in the first change, all objects."""
    changed: Mapping[K, ObjectChange[T]]
    """Objects that differ from the previous version, by key. Writing an equal object again is not a change."""
    deleted: Mapping[K, T]
    """Objects that no longer exist, by key, in their previous state."""
    initial: bool
    """True if this is the first change, which has the whole directory."""
    conflated: int
    """The number of versions merged into this change."""

    @property
    def version(self) -> int:
        """The number of the replica's version."""
        return self.snapshot.version

    def __repr__(self) -> str:
        counts = f"{len(self.added):,} added, {len(self.changed):,} changed, {len(self.deleted):,} deleted"
        return f"<DirectoryChange to version {self.version}: {counts}>"


DirectoryListener: TypeAlias = Callable[[DirectoryChange[K, T]], object]
"""A function that is called with each change of a directory."""


def typed_listener(
    schema: Schema[T], topic: TopicSelection, listener: Callable[[DirectoryChange[Any, T]], object]
) -> Callable[[Change], object]:
    """Return a listener for the replica that calls a directory's listener."""
    is_by_record = schema.interpreter is None and schema.id_of is None
    sides = _RecordSides(schema, topic) if is_by_record else _ContentSides(schema, topic)

    def follow(change: Change) -> None:
        listener(_typed(topic.of(change.snapshot), change, *sides.of(change)))

    follow.__qualname__ = getattr(listener, "__qualname__", repr(listener))
    return follow


class _RecordSides(Generic[T]):
    """Finds the objects before and after a change, if each record has an object under the record's own key."""

    def __init__(self, schema: Schema[T], topic: TopicSelection) -> None:
        self._schema, self._topic = schema, topic

    def of(self, change: Change) -> tuple[dict[Any, T], dict[Any, T]]:
        """Return the changed objects before and after a change; this decodes both records of each changed key."""
        now = self._topic.of(change.snapshot)
        was = None if change.previous is None else self._topic.of(change.previous)
        before: dict[Any, T] = {}
        after: dict[Any, T] = {}
        for key in self._topic.keys((*change.changed, *change.deleted)):
            for side, objects in ((was, before), (now, after)):
                entry = None if side is None else self._entry(side, key)
                if entry is not None:
                    objects[entry.id] = entry.found
        return before, after

    def _entry(self, snapshot: Snapshot, key: bytes) -> Entry[T] | None:
        try:
            record = snapshot.get(key)
            return None if record is None else self._schema.entry(key, record.value, partial(bad_record, record))
        except BadRecordError:
            return None


class _ContentSides(Generic[T]):
    """Finds the objects before and after a change, if several records may have the same key.

    It keeps its own contents, because the objects of a key depend on records that the change does not contain.
    """

    def __init__(self, schema: Schema[T], topic: TopicSelection) -> None:
        self._schema, self._topic = schema._replace(indexes={}), topic
        self._contents: Contents[T] | None = None

    def of(self, change: Change) -> tuple[dict[Any, T], dict[Any, T]]:
        """Return the changed objects before and after a change; after a rebuild, all objects."""
        now, was = self._topic.of(change.snapshot), None if change.initial else self._contents
        if was is None or change.rebuilt:
            self._contents = Contents.of(self._schema, now)
            return {} if was is None else dict(was.objects()), dict(self._contents.objects())
        touched = self._topic.keys((*change.changed, *change.deleted))
        self._contents = contents = was.advanced(touched, now.get)
        ids = was.ids_of(contents.touched) | contents.ids_of(contents.touched)
        return was.single(ids), contents.single(ids)


def _typed(now: Snapshot, change: Change, before: dict[Any, T], after: dict[Any, T]) -> DirectoryChange[Any, T]:
    return DirectoryChange(
        snapshot=now,
        added={key: found for key, found in after.items() if key not in before},
        changed={
            key: ObjectChange(before[key], found)
            for key, found in after.items()
            if key in before and before[key] != found
        },
        deleted={key: found for key, found in before.items() if key not in after},
        initial=change.initial,
        conflated=change.conflated,
    )
