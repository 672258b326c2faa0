"""The part of a replica's interface that live look-ups use."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from kafka_replica.sdmx.lookups.decoding import Snapshot


class FollowedChange(Protocol):
    """The notification about a new version."""

    @property
    def snapshot(self) -> Snapshot:
        """The new version."""
        ...

    @property
    def changed(self) -> Collection[bytes]:
        """The keys with a new record."""
        ...

    @property
    def deleted(self) -> Collection[bytes]:
        """The keys that were deleted."""
        ...

    @property
    def initial(self) -> bool:
        """True if the change covers the whole state."""
        ...


class FollowedChanges(Protocol):
    """An iterator over changes."""

    @property
    def ready(self) -> bool:
        """True if a change is pending."""
        ...

    def __next__(self) -> FollowedChange:
        """Return the next change."""
        ...

    def close(self) -> None:
        """Stop receiving changes."""
        ...


class FollowedReplica(Protocol):
    """The interface of a replica for live look-ups."""

    def snapshot(self) -> Snapshot:
        """Return the current version."""
        ...

    def changes(self, *, timeout_s: float | None = None) -> FollowedChanges:
        """Iterate over the current state, then over each new version."""
        ...


class OfTopics(Protocol):
    """A version of several topics."""

    def of(self, topic: str) -> Snapshot:
        """Return the keys of one topic."""
        ...
