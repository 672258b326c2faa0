"""Errors of the producer's database and sources."""

from __future__ import annotations

from kafka_replica.errors import BrokerError, DataError, KafkaReplicaError

__all__ = [
    "EncodingError",
    "OutboxError",
    "OutboxNotMigratedError",
    "OutboxUnavailableError",
    "ProducerConflictError",
    "SourceError",
    "SourceUnavailableError",
]


class ProducerConflictError(BrokerError):
    """Another database publishes under the producer's id on this cluster, or the producer's database is a copy."""


class EncodingError(DataError):
    """Content cannot be written in the requested format."""


class OutboxError(KafkaReplicaError):
    """The producer's database refused a request."""


class OutboxUnavailableError(OutboxError):
    """The producer's database cannot be reached, or is busy; it may come back."""


class OutboxNotMigratedError(OutboxError):
    """The database lacks the producer's tables, or has those of another version; migrate it."""


class SourceError(KafkaReplicaError):
    """A source of the producer cannot be read completely, so none of its content is accepted."""


class SourceUnavailableError(SourceError):
    """The database of a source cannot be reached, or does not answer in time; it may come back."""
