"""The most recent changes, for listeners that were disconnected briefly and continue where they stopped."""

from __future__ import annotations

from collections import deque

from kafka_replica.listeners.version_diff import VersionDiff

DEFAULT_RECENT_CHANGES = 1_000
"""The number of recent changes that an iterator can begin at."""
_MAX_KEYS = 100_000
_MAX_BYTES = 16 * 1024 * 1024


class RecentChanges:
    """A bounded sequence of differences without gaps that ends at the current version.

    Its cost is the memory of the records that the differences replaced, which would be freed otherwise: at most
    ``max_changes`` changes, ``max_keys`` keys and about ``max_bytes`` bytes of keys and values.
    One thread calls all methods except ``after``. All except ``release_previous`` are called under the owner's lock.
    """

    def __init__(
        self, max_changes: int = DEFAULT_RECENT_CHANGES, max_keys: int = _MAX_KEYS, max_bytes: int = _MAX_BYTES
    ) -> None:
        self._max_changes = max_changes
        self._max_keys = max_keys
        self._max_bytes = max_bytes
        self._diffs: deque[VersionDiff] = deque()
        self._keys = 0
        self._bytes = 0

    def add(self, diff: VersionDiff) -> None:
        """Add the difference to the new current version, and drop the oldest differences that exceed a limit."""
        self._diffs.append(diff)
        self._keys += diff.key_count
        self.shrink()

    def clear(self) -> None:
        """Drop all differences, because the next version does not continue them."""
        self._diffs.clear()
        self._keys = self._bytes = 0

    def release_previous(self) -> None:
        """Read the records that the last difference replaced, so that it holds no version; ``shrink`` must follow.

        Call once after ``add``. The reading ends at the limit, because such a difference is not kept.
        """
        if self._diffs:
            self._diffs[-1].release_previous(self._max_bytes)
            self._bytes += self._diffs[-1].size

    def shrink(self) -> None:
        """Drop the oldest differences that exceed a limit."""
        while self._diffs and not self._fits():
            self._drop_oldest()

    def after(self, version: int, present: int) -> list[VersionDiff] | None:
        """Return the differences from a version to the current one; None if not all of them are kept."""
        if version == present:
            return []
        diffs = [diff for diff in self._diffs if diff.was.version >= version]
        return diffs if diffs and diffs[0].was.version == version else None

    def _fits(self) -> bool:
        return len(self._diffs) <= self._max_changes and self._keys <= self._max_keys and self._bytes <= self._max_bytes

    def _drop_oldest(self) -> None:
        diff = self._diffs.popleft()
        self._keys -= diff.key_count
        self._bytes -= diff.size
