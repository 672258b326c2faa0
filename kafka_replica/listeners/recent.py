"""The most recent changes, for who was away for a moment and wants to go on where it was."""

from __future__ import annotations

from collections import deque

from kafka_replica.errors import ConfigurationError
from kafka_replica.listeners.version_diff import VersionDiff

DEFAULT_RECENT_CHANGES = 1_000
_MAX_KEYS = 100_000
_MAX_BYTES = 16 * 1024 * 1024


class RecentChanges:
    """A bounded run of steps that ends at the present version; nothing is missing between two of them.

    What it costs is the records that its steps replaced, which would be let go of otherwise: of at most
    ``max_changes`` changes, ``max_keys`` keys and about ``max_bytes`` bytes of keys and values.
    One thread adds and settles; adding and asking happen under the lock of whoever owns it.

    Raises:
        ConfigurationError: ``max_changes`` is no such number.
    """

    def __init__(
        self, max_changes: int = DEFAULT_RECENT_CHANGES, max_keys: int = _MAX_KEYS, max_bytes: int = _MAX_BYTES
    ) -> None:
        if type(max_changes) is not int or max_changes < 0:
            raise ConfigurationError(f"recent_changes={max_changes!r} is not possible; it is a number, 0 or more")
        self._max_changes = max_changes
        self._max_keys = max_keys
        self._max_bytes = max_bytes
        self._steps: deque[VersionDiff] = deque()
        self._keys = 0
        self._bytes = 0

    def add(self, step: VersionDiff) -> None:
        """Takes in the step to the version that is present from now on."""
        self._steps.append(step)
        self._keys += step.key_count
        while self._steps and not self._fits():
            self._drop_oldest()

    def clear(self) -> None:
        """Nothing is known of what came before."""
        self._steps.clear()
        self._keys = self._bytes = 0

    def settle(self) -> None:
        """Reads what the step just added replaced, so that no version is held for it. Once for each step."""
        if self._steps:
            self._steps[-1].settle()
            self._bytes += self._steps[-1].size

    def after(self, version: int, present: int) -> list[VersionDiff] | None:
        """The steps from a version to the present one; None if not all of them are here."""
        if version == present:
            return []
        steps = [step for step in self._steps if step.was.version >= version]
        return steps if steps and steps[0].was.version == version else None

    def _fits(self) -> bool:
        return len(self._steps) <= self._max_changes and self._keys <= self._max_keys and self._bytes <= self._max_bytes

    def _drop_oldest(self) -> None:
        step = self._steps.popleft()
        self._keys -= step.key_count
        self._bytes -= step.size
