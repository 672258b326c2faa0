"""A live, exact copy of a compacted Kafka topic inside a process.

Everything public of the core is named here; ``kafka_replica.sdmx``, ``kafka_replica.metrics``,
``kafka_replica.embedded`` and ``kafka_replica.testing`` are rooms of their own.
"""

from typing import TYPE_CHECKING, Any

from kafka_replica.errors import (
    ArtefactNotFoundError,
    AuthenticationError,
    AuthorizationError,
    BadRecordError,
    BrokerError,
    BrokerUnavailableError,
    CommitUnknownError,
    ConfigurationError,
    DataError,
    EmbeddedKafkaError,
    KafkaReplicaError,
    MessageError,
    MissingExtraError,
    NotReadyError,
    PublishError,
    ReplicaClosedError,
    SdmxError,
    StoreError,
    TopicNotFoundError,
    UnreadableContentError,
    UrnError,
    UsageError,
    WaitTimeoutError,
)
from kafka_replica.listeners import Change, Changes, Subscription
from kafka_replica.records import Cut, Headers, Key, Partition, Record
from kafka_replica.states import Counts, State, Status
from kafka_replica.stores import MemoryStore, Snapshot, Store

if TYPE_CHECKING:
    from kafka_replica.replica import Replica

__all__ = [
    "ArtefactNotFoundError",
    "AuthenticationError",
    "AuthorizationError",
    "BadRecordError",
    "BrokerError",
    "BrokerUnavailableError",
    "Change",
    "Changes",
    "CommitUnknownError",
    "ConfigurationError",
    "Counts",
    "Cut",
    "DataError",
    "EmbeddedKafkaError",
    "Headers",
    "KafkaReplicaError",
    "Key",
    "MemoryStore",
    "MessageError",
    "MissingExtraError",
    "NotReadyError",
    "Partition",
    "PublishError",
    "Record",
    "Replica",
    "ReplicaClosedError",
    "SdmxError",
    "Snapshot",
    "State",
    "Status",
    "Store",
    "StoreError",
    "Subscription",
    "TopicNotFoundError",
    "UnreadableContentError",
    "UrnError",
    "UsageError",
    "WaitTimeoutError",
]


def __getattr__(name: str) -> Any:
    """Loads Kafka's client with the first use of Replica: SDMX alone, and pytest's plug-in, do without it."""
    if name != "Replica":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kafka_replica.replica import Replica  # noqa: PLC0415

    globals()["Replica"] = Replica
    return Replica
