"""Sources that tell all that they hold: what differs from what was recorded becomes transactions.

``FolderSource`` reads structure files, ``ServiceSource`` an SDMX REST service; a ``Watcher`` looks at one again and
again while its producer publishes. A producer with a source holds what the source holds: record nothing else in it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from kafka_replica.producer.changes import Put, Unreadable
from kafka_replica.producer.notices import TakenIn

if TYPE_CHECKING:
    from kafka_replica.producer.service import StructureProducer
    from kafka_replica.producer.sources.folder import FolderSettings, FolderSource
    from kafka_replica.producer.sources.rest import ServiceSettings, ServiceSource
    from kafka_replica.producer.sources.watcher import Watched, Watcher

_log = logging.getLogger("kafka_replica.producer")

__all__ = [
    "FolderSettings",
    "FolderSource",
    "ServiceSettings",
    "ServiceSource",
    "Source",
    "Unreadable",
    "Watched",
    "Watcher",
    "record_source",
    "take_in",
]

_HOMES = {
    "FolderSettings": "folder",
    "FolderSource": "folder",
    "ServiceSettings": "rest",
    "ServiceSource": "rest",
    "Watched": "watcher",
    "Watcher": "watcher",
}


class Source(Protocol):
    """Something that can be read as a whole, again and again: a folder, a service."""

    def read(self) -> Iterable[Put | Unreadable] | None:
        """Return all that it holds now; None if it is known not to have changed since the last time.

        What is not in it is deleted: an answer is complete, or there is none. Content that cannot be read is in it as
        ``Unreadable``, and its key is not deleted.

        Raises:
            KafkaReplicaError: it cannot be read, or not all of it: then nothing is taken in.
        """

    def forget(self) -> None:
        """The next ``read`` gives everything, changed or not: what was read last may not be recorded."""


def take_in(source: Source, producer: StructureProducer) -> list[int]:
    """Reads a source once, and records how it differs: additions and changes in one transaction, deletions in one.

    Returns:
        The numbers of the transactions: none where nothing has changed.

    Raises:
        KafkaReplicaError: the source cannot be read, or the database refused; nothing is recorded.
    """
    taken = record_source(source, producer)
    return [] if taken is None else list(taken.tx_ids)


def record_source(source: Source, producer: StructureProducer) -> TakenIn | None:
    """Do what ``take_in`` does, and return what cannot be read as well; None if the source has not changed.

    Raises:
        KafkaReplicaError: the source cannot be read, or the database refused; nothing is recorded.
    """
    read = source.read()
    if read is None:
        return None
    try:
        with producer.engine.begin() as connection:
            tx_ids, unreadable = producer.outbox.record_differences(connection, read)
    except BaseException:
        source.forget()
        raise
    for one in unreadable:
        _log.warning("not taken in, what was recorded before stays: %s", one.reason)
    producer.wake()
    return TakenIn(tuple(tx_ids), tuple(one.reason for one in unreadable))


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(f"{__name__}.{home}"), name)
