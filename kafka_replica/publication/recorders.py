"""Recorders: functions that receive every version before readers see it, in the thread that makes versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from kafka_replica.listeners import Change
from kafka_replica.listeners.waiters import Waiters

VersionRecorder: TypeAlias = Callable[[Change, str], object]
"""A function that receives a version, as a change, and the incarnation of its number; it must not raise."""


class Recorders(Waiters):
    """The recorders of a replica. A lock is held while a version is recorded and shown, so that none is missed."""

    def __init__(self) -> None:
        super().__init__()
        self._recorders: tuple[VersionRecorder, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there are recorders."""
        return bool(self._recorders)

    def add(self, recorder: VersionRecorder) -> None:
        """Add a recorder; the caller holds the lock."""
        self._recorders = (*self._recorders, recorder)

    def remove(self, recorder: VersionRecorder) -> None:
        """Remove a recorder, once a running call has returned. Idempotent."""
        with self:
            self._recorders = tuple(each for each in self._recorders if each is not recorder)

    def record(self, change: Change, incarnation: str) -> None:
        """Call the recorders; the caller holds the lock."""
        for recorder in self._recorders:
            recorder(change, incarnation)
