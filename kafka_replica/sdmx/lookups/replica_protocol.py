"""A replica, as far as live look-ups need one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from kafka_replica.sdmx.lookups.decoding import Snapshot


class Change(Protocol):
    """What is told of a new version."""

    @property
    def snapshot(self) -> Snapshot:
        """The version."""
        ...

    @property
    def changed(self) -> Collection[bytes]:
        """Keys with a new record."""
        ...

    @property
    def deleted(self) -> Collection[bytes]:
        """Keys that are gone."""
        ...

    @property
    def initial(self) -> bool:
        """Whether this is the whole state."""
        ...


class Changes(Protocol):
    """Changes, one by one."""

    @property
    def ready(self) -> bool:
        """Whether one waits."""
        ...

    def __next__(self) -> Change:
        """The next one."""
        ...

    def close(self) -> None:
        """No more are wanted."""
        ...


class Followed(Protocol):
    """A replica, as far as it is needed here."""

    def snapshot(self) -> Snapshot:
        """The present version."""
        ...

    def changes(self, *, timeout_s: float | None = None) -> Changes:
        """The present state, then each version."""
        ...


class OfTopics(Protocol):
    """A version of several topics."""

    def of(self, topic: str) -> Snapshot:
        """The keys of one of them."""
        ...
