"""Record which servers have ever answered a replica, and with which problems, in all its attempts to follow the log."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_replica.errors import KafkaReplicaError


@dataclass
class Answered:
    """The servers that have answered, so that a later refusal may be temporary. Only the reading thread may use it."""

    broker: bool = False
    service: bool = False
    """The service for keys or schemas."""
    broker_problems: set[type[KafkaReplicaError]] = field(default_factory=set)
    """The classes of the broker's errors that were logged, and are not over."""
    service_problems: set[type[KafkaReplicaError]] = field(default_factory=set)
    """The classes of the service's errors that were logged, and are not over."""
