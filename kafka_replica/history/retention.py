"""The rule that decides which versions a history keeps; without I/O or clock."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

from kafka_replica.errors import ConfigurationError
from kafka_replica.history.kept_version import StoredVersion


@dataclass(frozen=True, slots=True)
class Retention:
    """The limits of a history; None means no limit. The newest version is always kept."""

    keep_s: float | None = None
    """The time in seconds for which a version is kept after the next one was published."""
    keep_versions: int | None = None
    """The largest number of versions."""
    keep_bytes: int | None = None
    """The largest size of the keys and records that older versions have in addition to the newest one, in bytes."""

    def __post_init__(self) -> None:
        if self.keep_s is not None and not self.keep_s >= 0:
            raise ConfigurationError(f"keep_s={self.keep_s!r} is not possible; use a number of seconds, or None")
        if self.keep_versions is not None and self.keep_versions < 1:
            raise ConfigurationError(f"keep_versions={self.keep_versions!r} is not possible; it is 1 or more, or None")
        if self.keep_bytes is not None and self.keep_bytes < 0:
            raise ConfigurationError(f"keep_bytes={self.keep_bytes!r} is not possible; it is 0 or more, or None")

    def oldest(self, oldest: int, newest: int, now_ms: int, stored: Callable[[int], StoredVersion]) -> int:
        """Return the sequence of the oldest version to be kept.

        Args:
            oldest: the sequence of the oldest version.
            newest: the sequence of the newest version.
            now_ms: the present time, in milliseconds since 1970-01-01 UTC.
            stored: returns the version with a sequence.
        """

        def is_kept(sequence: int) -> bool:
            if sequence == newest:
                return True
            if self.keep_versions is not None and newest - sequence >= self.keep_versions:
                return False
            if self.keep_s is not None and stored(sequence + 1).version.published_ms <= now_ms - self.keep_s * 1000:
                return False
            replaced = stored(newest).replaced_bytes - stored(sequence).replaced_bytes
            return self.keep_bytes is None or replaced <= self.keep_bytes

        if is_kept(oldest):
            return oldest
        return bisect_left(range(newest + 1), True, lo=oldest, key=is_kept)
