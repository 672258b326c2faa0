"""A live, exact copy of a compacted Kafka topic inside a process.

Everything public of the core is named here; ``kafka_replica.sdmx``, ``kafka_replica.metrics``,
``kafka_replica.embedded`` and ``kafka_replica.testing`` are rooms of their own.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kafka_replica.dead_letters import DeadLetterFile, DeadLetters
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
    DatasetError,
    EmbeddedKafkaError,
    EncodingError,
    ExtensionError,
    IncompleteStructureError,
    KafkaReplicaError,
    LogReplacedError,
    MapError,
    MessageError,
    MissingExtraError,
    NotExpressibleError,
    NotInvertibleError,
    NotReadyError,
    OutboxError,
    OutboxUnavailableError,
    PublishError,
    RecordNotSentError,
    ReplicaClosedError,
    SdmxError,
    SourceError,
    StoreDamagedError,
    StoreError,
    StoreInUseError,
    TopicNotFoundError,
    UnreadableContentError,
    UnwritableError,
    UrnError,
    UsageError,
    VersionGoneError,
    WaitTimeoutError,
)
from kafka_replica.filters import KeyFilter
from kafka_replica.listeners import Change, Changes, Subscription
from kafka_replica.past import Difference
from kafka_replica.records import Cut, Headers, Key, Partition, Record
from kafka_replica.states import Counts, State, Status
from kafka_replica.stores import MemoryStore, Snapshot, Store

if TYPE_CHECKING:
    from kafka_replica.replica import Replica
    from kafka_replica.stores import RocksStore

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
    "DatasetError",
    "DeadLetterFile",
    "DeadLetters",
    "Difference",
    "EmbeddedKafkaError",
    "EncodingError",
    "ExtensionError",
    "Headers",
    "IncompleteStructureError",
    "KafkaReplicaError",
    "Key",
    "KeyFilter",
    "LogReplacedError",
    "MapError",
    "MemoryStore",
    "MessageError",
    "MissingExtraError",
    "NotExpressibleError",
    "NotInvertibleError",
    "NotReadyError",
    "OutboxError",
    "OutboxUnavailableError",
    "Partition",
    "PublishError",
    "Record",
    "RecordNotSentError",
    "Replica",
    "ReplicaClosedError",
    "RocksStore",
    "SdmxError",
    "Snapshot",
    "SourceError",
    "State",
    "Status",
    "Store",
    "StoreDamagedError",
    "StoreError",
    "StoreInUseError",
    "Subscription",
    "TopicNotFoundError",
    "UnreadableContentError",
    "UnwritableError",
    "UrnError",
    "UsageError",
    "VersionGoneError",
    "WaitTimeoutError",
]


_LATER = {"Replica": "kafka_replica.replica", "RocksStore": "kafka_replica.stores.rocks"}


def __getattr__(name: str) -> Any:
    """Loads with their first use: Kafka's client (SDMX alone, and pytest's plug-in, do without it), and RocksDB."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_LATER[name]), name)
    globals()[name] = found
    return found
