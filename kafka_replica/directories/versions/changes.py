"""Changes of a directory: the objects that a version adds, changes or deletes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from kafka_replica.directories.contents.contents import Contents
from kafka_replica.directories.contents.schema import Schema
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

    An object that ``where`` leaves out, or whose record cannot be decoded, counts as absent. A directory with
    ``on_bad_record="stop"`` calls no listener for a version with a bad record; the next version without bad records is
    then the difference from the version that the listener received before.
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
    """The number of versions merged into this change, because the listener was slow or bad records held it up."""

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
    typed = _TypedListener(schema, topic, listener)

    def follow(change: Change) -> None:
        typed.follow(change)

    follow.__qualname__ = getattr(listener, "__qualname__", repr(listener))
    return follow


class _TypedListener(Generic[T]):
    """Calls a directory's listener with each change, or with several at once after versions that were held up."""

    def __init__(
        self, schema: Schema[T], topic: TopicSelection, listener: Callable[[DirectoryChange[Any, T]], object]
    ) -> None:
        is_by_record = schema.interpreter is None and schema.id_of is None
        self._sides = _RecordSides(schema, topic) if is_by_record else _ContentSides(schema, topic)
        self._topic, self._listener = topic, listener
        self._stops = schema.policy == "stop"
        self._initial, self._conflated = False, 0
        self._is_over = False

    def follow(self, change: Change) -> None:
        """Add a change, and call the listener unless a bad record holds the version up."""
        if self._is_over:
            return
        try:
            self._sides.add(change)
        except BaseException:  # as for the directory itself: without this change, a later one would lack a part
            self._is_over = True
            raise
        self._initial |= change.initial
        self._conflated += change.conflated
        if self._stops and self._sides.has_bad_record:
            return
        made = self._change(self._topic.of(change.snapshot), *self._sides.take())
        self._initial, self._conflated = False, 0
        self._listener(made)

    def _change(self, now: Snapshot, before: dict[Any, T], after: dict[Any, T]) -> DirectoryChange[Any, T]:
        return DirectoryChange(
            snapshot=now,
            added={key: found for key, found in after.items() if key not in before},
            changed={
                key: ObjectChange(before[key], found)
                for key, found in after.items()
                if key in before and before[key] != found
            },
            deleted={key: found for key, found in before.items() if key not in after},
            initial=self._initial,
            conflated=self._conflated,
        )


class _RecordSides(Generic[T]):
    """Finds the objects before and after changes, if each record has an object under the record's own key."""

    def __init__(self, schema: Schema[T], topic: TopicSelection) -> None:
        self._schema, self._topic = schema, topic
        self._sides: dict[bytes, tuple[Entry[T] | None, Entry[T] | None]] = {}
        self._bad: set[bytes] = set()

    @property
    def has_bad_record(self) -> bool:
        """Return whether the newest version has a bad record."""
        return bool(self._bad)

    def add(self, change: Change) -> None:
        """Add a change; this decodes both records of each changed key."""
        now = self._topic.of(change.snapshot)
        was = None if change.previous is None else self._topic.of(change.previous)
        if was is None:
            self._sides.clear()
            self._bad.clear()
        for key in self._topic.keys((*change.changed, *change.deleted)):
            sides = self._sides.get(key)
            before = sides[0] if sides is not None else None if was is None else self._entry(was, key)
            self._bad.discard(key)  # after the previous record, which may be a bad one
            self._sides[key] = before, self._entry(now, key)

    def take(self) -> tuple[dict[Any, T], dict[Any, T]]:
        """Return the changed objects before and after all changes since the last call."""
        sides, self._sides = self._sides, {}
        before = {entry.id: entry.found for entry, _ in sides.values() if entry is not None}
        return before, {entry.id: entry.found for _, entry in sides.values() if entry is not None}

    def _entry(self, snapshot: Snapshot, key: bytes) -> Entry[T] | None:
        try:
            record = snapshot.get(key)
            if record is not None:
                return self._schema.entry(key, record.value, partial(self._schema.bad_record, record))
        except BadRecordError:
            self._bad.add(key)
        return None


class _ContentSides(Generic[T]):
    """Finds the objects before and after changes, if several records may have the same key.

    It keeps its own contents, because the objects of a key depend on records that a change does not contain.
    """

    def __init__(self, schema: Schema[T], topic: TopicSelection) -> None:
        self._schema, self._topic = schema.without_indexes(), topic
        self._taken: Contents[T] | None = None
        self._newest: Contents[T] | None = None
        self._ids: set[Hashable] | None = None  # that may differ between the two; None means all

    @property
    def has_bad_record(self) -> bool:
        """Return whether the newest version has a bad record."""
        return self._newest is not None and len(self._newest.bad_records) > 0

    def add(self, change: Change) -> None:
        """Add a change."""
        now = self._topic.of(change.snapshot)
        if change.initial:
            self._taken = self._newest = None
        was = self._newest
        if was is None or change.rebuilt:
            self._newest, self._ids = Contents.of(self._schema, now), None
            return
        self._newest = was.advanced(self._topic.keys((*change.changed, *change.deleted)), now.get)
        if self._ids is not None:
            self._ids |= was.ids_of(self._newest.touched) | self._newest.ids_of(self._newest.touched)

    def take(self) -> tuple[dict[Any, T], dict[Any, T]]:
        """Return the changed objects before and after all changes since the last call; after a rebuild, all objects."""
        was, now, ids = self._taken, self._newest, self._ids
        assert now is not None  # noqa: S101 - add() was called before
        self._taken, self._ids = now, set()
        before, after = (
            {} if side is None else dict(side.objects()) if ids is None else side.single(ids) for side in (was, now)
        )
        return before, after
