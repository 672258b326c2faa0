"""A time limit for clients that a pause of the whole process does not use up.

After a pause (a suspended machine, a frozen container), timers are due that the client could not meet: what it has sent
is still unread, or it was paused, too.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import Final

_LATE: Final = 0.02
"""The part of a limit by which its timer is late only after a pause."""
_GIVEN_BACK: Final = 0.1
"""The part of a limit that is given back after a pause, once: a server that is always late ends connections, too."""


def given_back_s(loop: AbstractEventLoop, due_s: float, limit_s: float) -> float:
    """Return how long to wait after a timer that was due: none of the time, or a part of it after a pause.

    Also a timer of no time runs after all data was read that has arrived.
    """
    return limit_s * _GIVEN_BACK if loop.time() >= due_s + limit_s * _LATE else 0.0


class TimeLimit:
    """Calls a function after a time, and a tenth of that time later if the process was paused at its end.

    Args:
        loop: the event loop.
        limit_s: the time.
        expired: is called at its end.
    """

    __slots__ = ("_expired", "_limit_s", "_loop", "_timer")

    def __init__(self, loop: AbstractEventLoop, limit_s: float, expired: Callable[[], object]) -> None:
        self._loop = loop
        self._limit_s = limit_s
        self._expired = expired
        self._timer = loop.call_later(limit_s, self._end)

    def _end(self) -> None:
        rest_s = given_back_s(self._loop, self._timer.when(), self._limit_s)
        self._timer = self._loop.call_later(rest_s, self._expired)

    def cancel(self) -> None:
        """Do not call the function."""
        self._timer.cancel()
