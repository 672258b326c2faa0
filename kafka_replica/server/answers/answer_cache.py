"""A bounded cache of finished answers: an answer to the same request from the same version is always the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Final, NamedTuple

_OVERHEAD_BYTES: Final = 2_000  # of an entry: its key, headers and objects
_SHARE: Final = 4  # an answer may take a quarter of the cache, so that one answer does not evict all others


class FinishedAnswer(NamedTuple):
    """An answer as it is sent, except for headers that change within a version."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    """Pairs of name and value, in the form of ASGI."""
    body: bytes
    problem: str | None = None
    """The text of an error message, for people; None if the answer is none."""


class AnswerCache:
    """The answers that were used last, up to a number of bytes. Thread-safe.

    Args:
        max_bytes: the size of all answers; 0 keeps none.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._answers: OrderedDict[Hashable, FinishedAnswer] = OrderedDict()
        self._lock = Lock()
        self.size_bytes = 0
        """The approximate size of all answers."""

    def get(self, key: Hashable) -> FinishedAnswer | None:
        """Return the answer with a key, or None."""
        with self._lock:
            found = self._answers.get(key)
            if found is not None:
                self._answers.move_to_end(key)
            return found

    def put(self, key: Hashable, answer: FinishedAnswer) -> None:
        """Keep an answer, and drop those that were not used for the longest time if there are too many."""
        size = _size(answer)
        if size > self._max_bytes // _SHARE:
            return
        with self._lock:
            replaced = self._answers.pop(key, None)
            self._answers[key] = answer
            self.size_bytes += size - (0 if replaced is None else _size(replaced))
            while self.size_bytes > self._max_bytes:
                self.size_bytes -= _size(self._answers.popitem(last=False)[1])


def _size(answer: FinishedAnswer) -> int:
    return len(answer.body) + _OVERHEAD_BYTES
