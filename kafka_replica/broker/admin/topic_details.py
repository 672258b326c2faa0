"""The state of a topic that the connection test examines: its partitions, and our permissions."""

from __future__ import annotations

from typing import NamedTuple, Self

from confluent_kafka.admin import TopicDescription

from kafka_replica.records import Partition


class PartitionDetails(NamedTuple):
    """The brokers of a partition, by node id."""

    leader: int
    """-1 if there is currently none."""
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]


class TopicDetails(NamedTuple):
    """The current state of a topic."""

    partitions: dict[Partition, PartitionDetails]
    permissions: frozenset[str] | None
    """The operations on the topic that we are authorized for, such as ``READ``; None if the broker does not tell."""

    @classmethod
    def of(cls, found: TopicDescription) -> Self:
        """Return the state that an answer of Kafka describes."""
        partitions = {
            Partition(found.name, info.id): PartitionDetails(
                # The leader may be None, contrary to the library's stubs.
                getattr(info.leader, "id", -1),
                tuple(node.id for node in info.replicas),
                tuple(node.id for node in info.isr),
            )
            for info in found.partitions
        }
        permissions = found.authorized_operations  # None or never empty, because we may see the topic
        return cls(partitions, frozenset(each.name for each in permissions) if permissions else None)

    @property
    def replication_factor(self) -> int:
        """The lowest replication factor of the partitions."""
        return min(len(each.replicas) for each in self.partitions.values())
