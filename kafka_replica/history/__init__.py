"""A history of a replica's versions on disk: the state at any kept version or instant, and differences between them.

This package may import ``replica`` and the packages below it; it needs the extra ``rocksdb``. Read ``version_history``
first; ``layout`` explains how versions are stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka_replica.history.errors import FutureVersionError, VersionNotKeptError
from kafka_replica.history.kept_version import KeptRange, KeptVersion
from kafka_replica.publication.difference import Difference

if TYPE_CHECKING:
    from kafka_replica.history.snapshot import HistorySnapshot
    from kafka_replica.history.stats import HistoryStats
    from kafka_replica.history.version_history import VersionHistory

__all__ = [
    "Difference",
    "FutureVersionError",
    "HistorySnapshot",
    "HistoryStats",
    "KeptRange",
    "KeptVersion",
    "VersionHistory",
    "VersionNotKeptError",
]


def __getattr__(name: str) -> Any:
    """Import the history on first use, since it needs an extra."""
    if name not in {"HistorySnapshot", "HistoryStats", "VersionHistory"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kafka_replica.history import version_history  # noqa: PLC0415

    return getattr(version_history, name)
