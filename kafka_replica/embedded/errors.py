"""Errors of the embedded broker."""

from __future__ import annotations

from kafka_replica.errors import KafkaReplicaError

__all__ = [
    "EmbeddedKafkaError",
]


class EmbeddedKafkaError(KafkaReplicaError):
    """The embedded broker could not be fetched, started or stopped."""
