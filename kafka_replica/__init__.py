"""A live, exact copy of a compacted Kafka topic inside a process.

Everything public of the core is named here; ``kafka_replica.sdmx``, ``kafka_replica.metrics``,
``kafka_replica.embedded`` and ``kafka_replica.testing`` are rooms of their own.
"""

from kafka_replica.errors import (
    ArtefactNotFoundError,
    AuthenticationError,
    AuthorizationError,
    BadRecordError,
    BrokerError,
    BrokerUnavailableError,
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
from kafka_replica.replica import Replica
from kafka_replica.states import Counts, State, Status
from kafka_replica.stores import MemoryStore, Snapshot, Store

__all__ = [
    "ArtefactNotFoundError",
    "AuthenticationError",
    "AuthorizationError",
    "BadRecordError",
    "BrokerError",
    "BrokerUnavailableError",
    "Change",
    "Changes",
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
