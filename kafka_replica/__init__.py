"""A live, exact copy of a compacted Kafka topic inside a process.

This module exports all public names of the core; ``kafka_replica.sdmx``, ``kafka_replica.metrics.replica``,
``kafka_replica.embedded`` and ``kafka_replica.testing`` are packages to import separately.

Names are imported when they are first used. So ``import kafka_replica`` is fast, SDMX alone and the pytest plug-in do
not import Kafka's client, and the command line can handle Ctrl-C from its first moment on.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in ``typing``, which is slow to import; type checkers know the name
if TYPE_CHECKING:
    from typing import Any

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
    from kafka_replica.publication.history import Difference
    from kafka_replica.publication.status import Counts, State, Status
    from kafka_replica.records import Headers, Key, Partition, Position, Record
    from kafka_replica.replica import Replica
    from kafka_replica.replication.dead_letters import DeadLetterFile, DeadLetters
    from kafka_replica.stores import MemoryStore, RocksStore, Snapshot, Store

    __version__: str

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
    "Position",
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

_HOMES = {
    "DeadLetterFile": "replication.dead_letters",
    "DeadLetters": "replication.dead_letters",
    "KeyFilter": "filters",
    "Change": "listeners",
    "Changes": "listeners",
    "Subscription": "listeners",
    "Difference": "publication.history",
    "Position": "records",
    "Headers": "records",
    "Key": "records",
    "Partition": "records",
    "Record": "records",
    "Replica": "replica",
    "Counts": "publication.status",
    "State": "publication.status",
    "Status": "publication.status",
    "MemoryStore": "stores",
    "Snapshot": "stores",
    "Store": "stores",
    "RocksStore": "stores.rocks",
}
"""The module of each public name; the names not listed are in ``errors``."""

if not TYPE_CHECKING:  # otherwise type checkers would accept any name

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used."""
        found = _version() if name == "__version__" else _imported(name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})


def _imported(name: str) -> Any:
    from importlib import import_module  # noqa: PLC0415

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)


def _version() -> str:
    """Return the installed version, as in ``pyproject.toml``."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        return version("kafka-replica")
    except PackageNotFoundError:
        return "unknown"  # the files were copied, not installed
