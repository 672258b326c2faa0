"""Changes of a directory: the objects that a version adds, changes or deletes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from kafka_replica.directories.versions.differences import Difference, Differences
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
    differences: Differences[T], listener: Callable[[DirectoryChange[Any, T]], object]
) -> Callable[[Change], object]:
    """Return a listener for the replica that calls a directory's listener."""

    def follow(change: Change) -> None:
        difference = differences.of(change)
        if difference is not None:
            listener(_change(difference))

    follow.__qualname__ = getattr(listener, "__qualname__", repr(listener))
    return follow


def _change(difference: Difference[T]) -> DirectoryChange[Any, T]:
    before, after = difference.before, difference.after
    return DirectoryChange(
        snapshot=difference.snapshot,
        added={key: found for key, found in after.items() if key not in before},
        changed={
            key: ObjectChange(before[key], found)
            for key, found in after.items()
            if key in before and _differ(before[key], found)
        },
        deleted={key: found for key, found in before.items() if key not in after},
        initial=difference.initial,
        conflated=difference.conflated,
    )


def _differ(before: object, after: object) -> bool:
    """Return whether two objects differ; those that cannot be compared, such as arrays, are not known to be equal."""
    try:
        return before is not after and bool(before != after)
    except Exception:  # noqa: BLE001 - the comparison is the user's
        return True
