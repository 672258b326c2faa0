"""The settings that topics need, both to create topics and to check them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

REPLICAS: Final = 3
"""The replication factor of a partition, if there are enough brokers."""
MIN_INSYNC: Final = 2
"""The number of replicas that must have a record before Kafka acknowledges it."""

COMPACTED_TOPIC: Final[Mapping[str, str]] = {
    "cleanup.policy": "compact",
    "delete.retention.ms": str(86_400_000),  # longer than a replica is down or an initial read takes
    "min.compaction.lag.ms": str(600_000),  # longer than an initial read takes
}
"""The settings of every topic that is read by replicas."""

STRUCTURE_TOPIC: Final[Mapping[str, str]] = {
    **COMPACTED_TOPIC,
    "max.message.bytes": str(16 << 20),  # long codelists
}
"""The settings of a topic of structures."""

PROGRESS_TOPIC: Final[Mapping[str, str]] = {
    "cleanup.policy": "compact",
    # A start reads all records that are not compacted yet: keep their number small.
    "segment.ms": str(3_600_000),
    "segment.bytes": str(16 << 20),
}
"""The settings of a topic of progress records, which has one partition."""


def recommended_replication_factor(brokers: int) -> int:
    """Return the recommended replication factor on a cluster with that many brokers."""
    return min(REPLICAS, brokers)


def with_min_insync(settings: Mapping[str, str], replicas: int) -> dict[str, str]:
    """Return the settings; ``min.insync.replicas`` is added if it is missing and there are enough replicas."""
    return {"min.insync.replicas": str(MIN_INSYNC), **settings} if replicas >= REPLICAS else dict(settings)
