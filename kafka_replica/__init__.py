"""A live, exact copy of a compacted Kafka topic inside a process.

This module exports all public names of the core; ``kafka_replica.sdmx``, ``kafka_replica.metrics``,
``kafka_replica.embedded`` and ``kafka_replica.testing`` are packages to import separately.

Names are imported when they are first used. So ``import kafka_replica`` is fast, SDMX alone and the pytest plug-in do
not import Kafka's client, and the command line can handle Ctrl-C from its first moment on.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in ``typing``, which is slow to import; type checkers find the name
if TYPE_CHECKING:
    from typing import Any

    from kafka_replica.aio import AsyncReplica
    from kafka_replica.errors import (
        BadRecordError,
        BrokerError,
        ConfigurationError,
        KafkaReplicaError,
        NotReadyError,
        ReplicaClosedError,
        UsageError,
        WaitTimeoutError,
    )
    from kafka_replica.filters import KeyFilter
    from kafka_replica.listeners import Change, Changes, Listener, Subscription
    from kafka_replica.publication.difference import Difference
    from kafka_replica.publication.status import Counts, State, Status
    from kafka_replica.records import Headers, Key, Partition, Position, Record
    from kafka_replica.replica import Replica
    from kafka_replica.replication.dead_letters import DeadLetterFile, DeadLetters
    from kafka_replica.stores import MemoryStore, Snapshot, Store
    from kafka_replica.stores.rocks import RocksStore

    __version__: str

__all__ = [
    "AsyncReplica",
    "BadRecordError",
    "BrokerError",
    "Change",
    "Changes",
    "ConfigurationError",
    "Counts",
    "DeadLetterFile",
    "DeadLetters",
    "Difference",
    "Headers",
    "KafkaReplicaError",
    "Key",
    "KeyFilter",
    "Listener",
    "MemoryStore",
    "NotReadyError",
    "Partition",
    "Position",
    "Record",
    "Replica",
    "ReplicaClosedError",
    "RocksStore",
    "Snapshot",
    "State",
    "Status",
    "Store",
    "Subscription",
    "UsageError",
    "WaitTimeoutError",
]

_HOMES = {
    "AsyncReplica": "aio",
    "Change": "listeners",
    "Changes": "listeners",
    "Listener": "listeners",
    "Subscription": "listeners",
    "Counts": "publication.status",
    "State": "publication.status",
    "Status": "publication.status",
    "DeadLetterFile": "replication.dead_letters",
    "DeadLetters": "replication.dead_letters",
    "Difference": "publication.difference",
    "Headers": "records",
    "Key": "records",
    "Partition": "records",
    "Position": "records",
    "Record": "records",
    "KeyFilter": "filters",
    "MemoryStore": "stores",
    "Snapshot": "stores",
    "Store": "stores",
    "RocksStore": "stores.rocks",
    "Replica": "replica",
    "BadRecordError": "errors",
    "BrokerError": "errors",
    "ConfigurationError": "errors",
    "KafkaReplicaError": "errors",
    "NotReadyError": "errors",
    "ReplicaClosedError": "errors",
    "UsageError": "errors",
    "WaitTimeoutError": "errors",
}
"""The module of each public name."""

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
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def _version() -> str:
    """Return the installed version, as in ``pyproject.toml``."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        return version("kafka-replica")
    except PackageNotFoundError:
        return "unknown"  # the files were copied, not installed
