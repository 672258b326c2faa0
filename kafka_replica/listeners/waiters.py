"""Waiting for something: threads wait on a condition, event loops ask to be called."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from threading import Condition
from typing import TypeAlias

_log = logging.getLogger("kafka_replica.listeners")

Call: TypeAlias = Callable[[], object]


class Waiters(Condition):
    """A condition that knows whether its lock is held by who asks."""

    def held_here(self) -> bool:
        """Whether the present thread holds the lock."""
        return bool(self._is_owned())  # type: ignore[attr-defined] # Condition's own, for its subclasses


class Callbacks:
    """Calls to be made, once each, when something holds. Whoever owns it calls ``add`` and ``due`` under its lock."""

    def __init__(self) -> None:
        self._waiting: dict[object, tuple[Callable[[], bool], Call]] = {}

    def add(self, holds: Callable[[], bool], call: Call) -> Callable[[], None]:
        """Calls once it holds, which may be now; what is returned takes it back, from any thread."""
        watch = object()
        self._waiting[watch] = holds, call  # before the question: a signal handler may make it hold in between
        if holds() and self._waiting.pop(watch, None) is not None:
            ring([call])
        return lambda: self._forget(watch)

    def due(self) -> list[Call]:
        """What is to be called now; to be rung when the lock is let go of."""
        calls = [(watch, call) for watch, (holds, call) in list(self._waiting.items()) if holds()]
        return [call for watch, call in calls if self._waiting.pop(watch, None) is not None]

    def _forget(self, watch: object) -> None:
        self._waiting.pop(watch, None)


def ring(calls: Iterable[Call]) -> None:
    """Makes the calls. One that raises is logged: who rings is the replica, and it goes on."""
    for call in calls:
        try:
            call()
        except Exception:  # noqa: BLE001 - one that is told must not end who tells
            _log.exception("what was to be called at news failed: %r", call)
