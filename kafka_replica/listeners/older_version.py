"""An older version, reconstructed from a newer one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

from kafka_replica.listeners.version_diff import Before, MergedDiff, VersionDiff, VersionInfo
from kafka_replica.records import Key, Position, Record, key_bytes
from kafka_replica.stores import Snapshot

T = TypeVar("T")


class PastSnapshot(Snapshot):
    """A version that no store holds any more: a newer version (``base``) with the differences that led to it reverted.

    The last difference may grow while it waits in a mailbox: it then also has keys that were written after ``base``,
    with their records in ``base``, so that readers of this snapshot see no change.
    """

    __slots__ = ("__weakref__", "_base", "_old", "_version_info")

    def __init__(self, info: VersionInfo, diffs: Sequence[VersionDiff | MergedDiff], base: Snapshot) -> None:
        self._version_info = info
        self._base = base
        self._old: Before | Sequence[VersionDiff | MergedDiff] = diffs  # gathered at the first access

    @property
    def version(self) -> int:  # noqa: D102 - documented by Snapshot
        return self._version_info.version

    @property
    def position(self) -> Position:  # noqa: D102
        return self._version_info.position

    def __len__(self) -> int:
        keys = self._version_info.keys
        return sum(1 for _ in self) if keys is None else keys

    @property
    def known_length(self) -> int | None:
        """The number of keys, if it was known when a newer version replaced this one."""
        return self._version_info.keys

    @overload
    def get(self, key: Key, /) -> Record | None: ...
    @overload
    def get(self, key: Key, /, default: Record | T) -> Record | T: ...
    def get(self, key: Key, /, default: Record | T | None = None) -> Record | T | None:  # noqa: D102
        key = key_bytes(key)
        old = self._gathered()
        record = old[key] if key in old else self._base.get(key)
        return default if record is None else record

    def __iter__(self) -> Iterator[bytes]:
        old = self._gathered()
        yield from (key for key in self._base if key not in old)
        yield from (key for key, record in old.items() if record is not None)

    def _gathered(self) -> Before:
        """Return the earlier records of all keys written since; they are gathered at the first access."""
        diffs = self._old
        if isinstance(diffs, dict):
            return diffs
        old: Before = {}
        for diff in reversed(diffs):
            old.update(diff.before)  # the oldest difference has precedence, so it comes last
        self._old = old
        return old
