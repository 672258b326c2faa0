"""The instants of versions: they never decrease, and the version found for an instant never changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from kafka_replica.common.clock import now_ms


class InstantAssigner:
    """Assigns instants to versions; in milliseconds since 1970-01-01 UTC.

    A version is never assigned an instant that was already queried. A query waits while a version that may be its
    result is being written. One thread assigns; any thread may query.

    Args:
        last_ms: the instant of the newest version.
    """

    def __init__(self, last_ms: int) -> None:
        self._last_ms = last_ms
        self._requested_ms = -1
        self._writing = False
        self._changed = Condition()

    def next(self) -> int:
        """Return the instant of a version that readers see from now on."""
        with self._changed:
            self._last_ms = max(now_ms(), self._last_ms, self._requested_ms + 1)
            return self._last_ms

    @contextmanager
    def writing(self, ms: int | None) -> Iterator[int]:
        """Return the instant of a version that is being written; if it already has one, keep that."""
        with self._changed:
            found = self.next() if ms is None else ms
            self._writing = True
        try:
            yield found
        finally:
            with self._changed:
                self._writing = False
                self._changed.notify_all()

    def reserve_until(self, ms: int) -> None:
        """Wait until all versions up to an instant are written, and reserve it: later versions get later instants."""
        with self._changed:
            self._changed.wait_for(lambda: not (self._writing and ms >= self._last_ms))
            self._requested_ms = max(self._requested_ms, ms)
