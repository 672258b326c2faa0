"""The versions that a replica keeps in its store in addition to the current version."""

from __future__ import annotations

from collections import deque

from kafka_replica.errors import VersionGoneError
from kafka_replica.stores import Snapshot


class KeptVersions:
    """The newest version and some before it. One thread adds versions, under the lock of the owner.

    Args:
        versions: the number of versions to keep before the newest one, 0 or more.
    """

    def __init__(self, versions: int) -> None:
        self._kept: deque[Snapshot] = deque(maxlen=versions + 1)

    def add(self, snapshot: Snapshot) -> None:
        """Add a version, and drop the oldest one if there are too many."""
        self._kept.append(snapshot)

    def at(self, version: int, present: Snapshot | None) -> Snapshot:
        """Return the version with a number.

        Raises:
            VersionGoneError: the version is no longer kept, or never existed.
        """
        kept = [*self._kept, *([] if present is None else [present])]
        for snapshot in reversed(kept):
            if snapshot.version == version:
                return snapshot
        numbers = f"{kept[0].version} to {kept[-1].version}" if kept else "none"
        raise VersionGoneError(
            f"version {version} is not kept (kept: {numbers}); keep the snapshots that you need, or set kept_versions="
        )
