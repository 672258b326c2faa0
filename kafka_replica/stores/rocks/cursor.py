"""Sequential look-ups in a database, in key order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


class Cursor:
    """Sequential look-ups, in key order, in the state of a database at one moment. For one thread.

    Args:
        entries: an iterator of rocksdict over the database.
        ended_early: raises the error for an iterator that ended before the last key.
    """

    __slots__ = ("_ended_early", "_entries")

    def __init__(self, entries: Any, ended_early: Callable[[bytes], NoReturn]) -> None:
        self._entries = entries
        self._ended_early = ended_early

    def first(self, key: bytes) -> tuple[bytes, bytes]:
        """Return the first entry at or after a key. An entry must exist, for the same reason as in ``Database.items``.

        Raises:
            StoreError: the entry cannot be read.
        """
        entries = self._entries
        entries.seek(key)
        if not entries.valid():
            self._ended_early(key)
        found: tuple[bytes, bytes] = entries.key(), entries.value()
        return found
