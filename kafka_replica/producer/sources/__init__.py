"""Sources that list everything they hold: differences from the recorded content become transactions.

``FolderSource`` reads structure files, ``ServiceSource`` an SDMX REST service; a ``Watcher`` reads a source repeatedly
while its producer publishes. A producer with a source holds exactly the content of the source, so record nothing else
in it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from kafka_replica.producer.changes import Put, Unreadable
from kafka_replica.producer.notices import SourceRead

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
    "read_and_record",
    "record_source",
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
    """A source that can be read as a whole, repeatedly: a folder or a service."""

    def read(self) -> Iterable[Put | Unreadable] | None:
        """Return everything that the source holds now; None if it is known not to have changed since the last read.

        Content missing from the result is deleted, so the result must be complete. Content that cannot be read is in it
        as ``Unreadable``, and its key is not deleted.

        Raises:
            KafkaReplicaError: the source cannot be read completely; nothing is recorded then.
        """

    def forget(self) -> None:
        """Make the next ``read`` return everything, changed or not, because the last result may not be recorded."""


def record_source(source: Source, producer: StructureProducer) -> list[int]:
    """Read a source once, and record its differences: additions and changes in one transaction, deletions in another.

    Returns:
        The numbers of the transactions; empty if nothing has changed.

    Raises:
        KafkaReplicaError: the source cannot be read, or the database refused; nothing is recorded.
    """
    taken = read_and_record(source, producer)
    return [] if taken is None else list(taken.tx_ids)


def read_and_record(source: Source, producer: StructureProducer) -> SourceRead | None:
    """Record a source as ``record_source`` does, and return also what cannot be read; None if it has not changed.

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
        _log.warning("rejected; the previous content is kept: %s", one.reason)
    producer.wake()
    return SourceRead(tuple(tx_ids), tuple(one.reason for one in unreadable))


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(f"{__name__}.{home}"), name)
