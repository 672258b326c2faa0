"""Publishing reference data: transactions of any keys and values, or an outbox and a relay on top of them.

``outbox`` records changes in the user's database, ``relay`` sends them, ``sources`` watches folders and services;
``postgres`` copies a table without an outbox. ``StructureProducer`` and its control, settings and status need the extra
``producer``, and are imported on first use. This package does not depend on the replica. Read ``transactions`` first,
then ``service.structure_producer`` and ``relay.runner``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka_replica.broker.errors import PublishUnavailableError
from kafka_replica.broker.writing.dead_letters import DeadLetterTopic
from kafka_replica.producer.changes.changes import Change, Delete, Put, UnreadableKey
from kafka_replica.producer.errors import (
    EncodingError,
    OutboxError,
    OutboxNotMigratedError,
    OutboxUnavailableError,
    ProducerConflictError,
    SourceError,
    SourceUnavailableError,
)
from kafka_replica.producer.transactions.large_values import LargeValueProducer, LargeValueTransaction
from kafka_replica.producer.transactions.transactional_producer import (
    CommittedTransaction,
    Transaction,
    TransactionalProducer,
)

if TYPE_CHECKING:
    from kafka_replica.producer.service.structure_producer import (
        ProducerControl,
        ProducerSettings,
        ProducerStatus,
        StructureProducer,
    )

__all__ = [
    "Change",
    "CommittedTransaction",
    "DeadLetterTopic",
    "Delete",
    "EncodingError",
    "LargeValueProducer",
    "LargeValueTransaction",
    "OutboxError",
    "OutboxNotMigratedError",
    "OutboxUnavailableError",
    "ProducerConflictError",
    "ProducerControl",
    "ProducerSettings",
    "ProducerStatus",
    "PublishUnavailableError",
    "Put",
    "SourceError",
    "SourceUnavailableError",
    "StructureProducer",
    "Transaction",
    "TransactionalProducer",
    "UnreadableKey",
]


def __getattr__(name: str) -> Any:
    if name in {"ProducerControl", "ProducerSettings", "ProducerStatus", "StructureProducer"}:
        import kafka_replica.producer.outbox  # noqa: F401, PLC0415 - raises MissingExtraError without the extra
        from kafka_replica.producer.service import structure_producer  # noqa: PLC0415

        return getattr(structure_producer, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
