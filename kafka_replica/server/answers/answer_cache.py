"""A bounded cache of finished answers; the answer to a request from a given version never changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Final

from kafka_replica.server.answers.finished_answer import FinishedAnswer

_OVERHEAD_BYTES: Final = 2_000  # the size of an entry's headers and objects
_SHARE: Final = 4  # an answer may use a quarter of the cache at most, so that one answer does not evict all others


class AnswerCache:
    """The most recently used answers, up to a total size. Thread-safe.

    Args:
        max_bytes: the total size of the answers; 0 disables the cache.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._answers: OrderedDict[Hashable, tuple[FinishedAnswer, int]] = OrderedDict()
        self._lock = Lock()
        self.size_bytes = 0
        """The approximate size of all answers in bytes."""

    def get(self, key: Hashable) -> FinishedAnswer | None:
        """Return the answer with a key, or None."""
        with self._lock:
            found = self._answers.get(key)
            if found is not None:
                self._answers.move_to_end(key)
            return None if found is None else found[0]

    def put(self, key: Hashable, answer: FinishedAnswer, key_bytes: int = 0) -> None:
        """Keep an answer unless it is too large; evict the least recently used answers if the cache is full.

        Args:
            key: the key.
            answer: the answer.
            key_bytes: the size of what the client has determined of the key.
        """
        size = len(answer.body) + key_bytes + _OVERHEAD_BYTES
        if size > self._max_bytes // _SHARE:
            return
        with self._lock:
            replaced = self._answers.pop(key, None)
            self._answers[key] = answer, size
            self.size_bytes += size - (0 if replaced is None else replaced[1])
            while self.size_bytes > self._max_bytes:
                self.size_bytes -= self._answers.popitem(last=False)[1][1]
