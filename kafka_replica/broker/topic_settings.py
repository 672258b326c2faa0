"""The settings that topics need: what creates topics and what examines them both go by this declaration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

REPLICAS: Final = 3
"""How many copies a partition has, where there are as many brokers."""
MIN_INSYNC: Final = 2
"""How many of these must have a record before it is acknowledged."""

STRUCTURE_TOPIC: Final[Mapping[str, str]] = {
    "cleanup.policy": "compact",
    "delete.retention.ms": str(86_400_000),  # longer than a replica is down, or a first read takes
    "max.message.bytes": str(16 << 20),  # long codelists
    "min.compaction.lag.ms": str(600_000),  # longer than a first read takes
}
"""What a topic of structures is created with."""

PROGRESS_TOPIC: Final[Mapping[str, str]] = {
    "cleanup.policy": "compact",
    # A start reads what is not compacted yet: keep that small.
    "segment.ms": str(3_600_000),
    "segment.bytes": str(16 << 20),
}
"""What a topic of progress records is created with; it has one partition."""


def recommended_replicas(brokers: int) -> int:
    """Return how many copies a partition should have on a cluster of so many brokers."""
    return min(REPLICAS, brokers)


def with_min_insync(settings: Mapping[str, str], replicas: int) -> dict[str, str]:
    """Return the settings of a topic with so many copies: ``min.insync.replicas`` goes with their number."""
    return {**settings, "min.insync.replicas": str(MIN_INSYNC)} if replicas >= REPLICAS else dict(settings)
