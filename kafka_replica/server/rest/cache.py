"""A cache of answers: the same request to the same version has the same answer."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final, NamedTuple

from kafka_replica.server.rest.messages import RestAnswer
from kafka_replica.server.rest.negotiation import Offer

_OVERHEAD_BYTES: Final = 1_000
"""The approximate size of a cached answer besides its texts."""


class CacheKey(NamedTuple):
    """Everything that determines an answer, apart from the settings of the service."""

    origin: str
    version: int
    path: str
    query: str
    offers: tuple[Offer, ...]


class AnswerCache:
    """Answers of up to ``max_bytes`` altogether; the least recently used is dropped first. Thread-safe."""

    def __init__(self, max_bytes: int = 64 * 1024 * 1024) -> None:
        self._max_bytes: Final = max_bytes
        self._answers: OrderedDict[CacheKey, RestAnswer] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: CacheKey) -> RestAnswer | None:
        """Return the answer with this key, if it is still cached."""
        with self._lock:
            found = self._answers.get(key)
            if found is not None:
                self._answers.move_to_end(key)
            return found

    def put(self, key: CacheKey, answer: RestAnswer) -> None:
        """Keep an answer, unless it is larger than a quarter of the cache."""
        size = _size(key, answer)
        if 4 * size > self._max_bytes:
            return
        with self._lock:
            known = self._answers.pop(key, None)
            self._bytes += size - (0 if known is None else _size(key, known))
            self._answers[key] = answer
            while self._bytes > self._max_bytes:
                self._bytes -= _size(*self._answers.popitem(last=False))


def _size(key: CacheKey, answer: RestAnswer) -> int:
    return len(answer.body) + len(key.path) + len(key.query) + _OVERHEAD_BYTES
