"""A time limit for clients that a pause of the whole process does not use up.

After a pause (a suspended machine, a frozen container), timers are due that the client could not meet: what it has sent
is still unread, or it was paused, too.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import Final

LAST_PART: Final = 0.1
"""The part of a time limit that is waited for separately, so that a pause can end only one of both parts."""


class TimeLimit:
    """Calls a function after a time, of which a tenth is left after a pause.

    Args:
        loop: the event loop.
        limit_s: the time.
        expired: is called at its end.
    """

    __slots__ = ("_expired", "_last_s", "_loop", "_timer")

    def __init__(self, loop: AbstractEventLoop, limit_s: float, expired: Callable[[], object]) -> None:
        self._loop = loop
        self._last_s = limit_s * LAST_PART
        self._expired = expired
        self._timer = loop.call_later(limit_s - self._last_s, self._wait_for_the_rest)

    def _wait_for_the_rest(self) -> None:
        self._timer = self._loop.call_later(self._last_s, self._expired)

    def cancel(self) -> None:
        """Do not call the function."""
        self._timer.cancel()
