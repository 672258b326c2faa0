"""Waiting for an event: threads wait on a condition, event loops register a callback."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from threading import TIMEOUT_MAX, Condition
from typing import TypeAlias, TypeVar

_log = logging.getLogger("kafka_replica.listeners")

T = TypeVar("T")

Call: TypeAlias = Callable[[], object]


class Waiters(Condition):
    """A condition that can report whether the current thread holds its lock, and waits for any time."""

    def wait_for(self, predicate: Callable[[], T], timeout: float | None = None) -> T:
        """Wait until a predicate holds; a timeout that the system cannot measure, such as infinity, is none."""
        return super().wait_for(predicate, None if timeout is None or timeout > TIMEOUT_MAX else timeout)

    def held_here(self) -> bool:
        """Return whether the current thread holds the lock."""
        return bool(self._is_owned())  # type: ignore[attr-defined] # a method of Condition for subclasses


class Callbacks:
    """Functions to call once each, when their conditions hold. The owner calls ``add`` and ``due`` under its lock."""

    def __init__(self) -> None:
        self._waiting: dict[object, tuple[Callable[[], bool], Call]] = {}

    def add(self, holds: Callable[[], bool], call: Call) -> Callable[[], None]:
        """Register a call for when ``holds`` is true, perhaps now; return a function that cancels it in any thread."""
        watch = object()
        self._waiting[watch] = holds, call  # before the check: a signal handler may make it true in between
        if holds() and self._waiting.pop(watch, None) is not None:
            run_callbacks([call])
        return lambda: self._forget(watch)

    def due(self) -> list[Call]:
        """Return the calls that are due now; ``run_callbacks`` makes them after the lock has been released."""
        calls = [(watch, call) for watch, (holds, call) in list(self._waiting.items()) if holds()]
        return [call for watch, call in calls if self._waiting.pop(watch, None) is not None]

    def _forget(self, watch: object) -> None:
        self._waiting.pop(watch, None)


def run_callbacks(calls: Iterable[Call]) -> None:
    """Call functions; their exceptions are logged, so that they do not stop the replica."""
    for call in calls:
        try:
            call()
        except Exception:  # noqa: BLE001 - a callback must not stop the caller
            _log.exception("callback failed: %r", call)
