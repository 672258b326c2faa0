"""A bounded cache of decoded messages: each content is decoded once, for all versions and threads.

A content is identified by its digest, so two records with the same bytes share one message, even records of two
versions, of a recreated topic, or of two replicas.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from typing import Final, NamedTuple, TypeAlias
from weakref import WeakSet

from kafka_replica.common.process import after_fork
from kafka_replica.common.wording import counted
from kafka_replica.errors import ConfigurationError
from kafka_replica.sdmx.messages.message import Message

DEFAULT_MAX_BYTES: Final = 128 * 1024 * 1024
"""The default bound of the decode cache, in bytes of messages."""

Content: TypeAlias = tuple[bytes, str | None]
"""The identity of a content: the digest of its bytes, and the media type that its record names."""


def content_of(value: bytes, content_type: str | None) -> Content:
    """Return the identity of a value's content."""
    return blake2b(value, digest_size=16).digest(), content_type


class CacheStats(NamedTuple):
    """The counts of a cache since its creation, and its current contents."""

    hits: int
    misses: int
    """Contents that had to be decoded, including those that could not be decoded."""
    evictions: int
    decode_seconds: float
    contents: int
    size_bytes: int
    """The size of the cached messages, unpacked, as written; decoded they take several times as much."""
    max_bytes: int


class _UnderWay:
    """A decoding that one thread performs while others wait for the result."""

    __slots__ = ("done", "message", "thread")

    def __init__(self) -> None:
        self.done = threading.Event()
        self.thread = threading.get_ident()
        self.message: Message | None = None


class DecodeCache:
    """The most recently used decoded messages. Thread-safe.

    Args:
        max_bytes: the bound on the sum of the sizes of the messages, as written (unpacked). The least recently used
            message is evicted first; a message that is larger than the bound is decoded each time. 0 disables the
            cache.

    Raises:
        ConfigurationError: the bound is invalid.
    """

    def __init__(self, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self._max_bytes = _checked(max_bytes)
        self._begin()
        _caches.add(self)

    def __repr__(self) -> str:
        held = counted(len(self._kept), "message")
        return f"<DecodeCache, {held}, {self._bytes / 1e6:.1f} of {self._max_bytes / 1e6:.1f} MB>"

    def _begin(self) -> None:
        self._lock = threading.RLock()  # a signal handler may request what the same thread is decoding
        self._kept: OrderedDict[Content, tuple[Message, int]] = OrderedDict()
        self._under_way: dict[Content, _UnderWay] = {}
        self._bytes = self._hits = self._misses = self._evictions = 0
        self._seconds = 0.0

    @property
    def max_bytes(self) -> int:
        """The bound; can be set at any time."""
        return self._max_bytes

    @max_bytes.setter
    def max_bytes(self, max_bytes: int) -> None:
        with self._lock:
            self._max_bytes = _checked(max_bytes)
            self._shrink()

    @property
    def stats(self) -> CacheStats:
        """The counts since the creation of the cache, and its current contents."""
        with self._lock:
            return CacheStats(
                self._hits,
                self._misses,
                self._evictions,
                self._seconds,
                len(self._kept),
                self._bytes,
                self._max_bytes,
            )

    def clear(self) -> None:
        """Remove all messages; the counts stay."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    def known(self, content: Content) -> Message | None:
        """Return the message of a content, if it is cached."""
        with self._lock:
            found = self._kept.get(content)
            if found is None:
                return None
            self._kept.move_to_end(content)
            self._hits += 1
            return found[0]

    def message(self, content: Content, decode: Callable[[], tuple[Message, int]], *, keep: bool = True) -> Message:
        """Return the message of a content; if it is not cached, one thread decodes it while others wait.

        Args:
            content: the identity of the content.
            decode: returns the message and its size in bytes. Its errors are raised, and the next call decodes
                again.
            keep: False for a single pass over all messages: a new message is cached only if nothing else has to be
                evicted.
        """
        with self._lock:
            found = self._kept.get(content)
            if found is not None:
                self._kept.move_to_end(content)
                self._hits += 1
                return found[0]
            under_way = self._under_way.get(content)
            is_mine = under_way is None
            if under_way is None:
                under_way = self._under_way[content] = _UnderWay()
            else:
                self._hits += 1
        if is_mine:
            return self._decode(content, decode, under_way, keep=keep)
        if under_way.thread != threading.get_ident():  # otherwise a signal handler has interrupted it
            under_way.done.wait()
        if under_way.message is not None:
            return under_way.message
        return decode()[0]  # decoding failed: each caller gets an error of its own

    def _decode(
        self, content: Content, decode: Callable[[], tuple[Message, int]], mine: _UnderWay, *, keep: bool
    ) -> Message:
        began_s = time.perf_counter()
        size = 0
        try:
            mine.message, size = decode()
            return mine.message
        finally:
            with self._lock:
                self._misses += 1
                self._seconds += time.perf_counter() - began_s
                self._under_way.pop(content, None)
                room = self._max_bytes if keep else self._max_bytes - self._bytes
                if mine.message is not None and size <= room:
                    self._kept[content] = mine.message, size
                    self._bytes += size
                    self._shrink()
            mine.done.set()

    def _shrink(self) -> None:
        while self._bytes > self._max_bytes:
            _, (_, size) = self._kept.popitem(last=False)
            self._bytes -= size
            self._evictions += 1


def _checked(max_bytes: int) -> int:
    if type(max_bytes) is not int or max_bytes < 0:
        raise ConfigurationError(f"max_bytes={max_bytes!r} is not possible; it is a number of bytes, 0 or more")
    return max_bytes


_caches: WeakSet[DecodeCache] = WeakSet()


def _forget_locks() -> None:
    for cache in list(_caches):
        cache._begin()  # noqa: SLF001 - a lock may have been held by a thread that the fork does not have


after_fork(_forget_locks)

decode_cache: Final = DecodeCache()
"""The cache of this process, shared by all look-ups without a cache of their own."""
