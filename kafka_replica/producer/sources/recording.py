"""The contract of sources, and the functions that record their content."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from kafka_replica.producer.changes.changes import Put, UnreadableKey
from kafka_replica.producer.notices.notices import SourceRead
from kafka_replica.producer.outbox.database import writing

if TYPE_CHECKING:
    from kafka_replica.producer.service.structure_producer import StructureProducer

_log = logging.getLogger("kafka_replica.producer")


class Source(Protocol):
    """A source that can be read as a whole, repeatedly: a folder or a service."""

    def read(self) -> Iterable[Put | UnreadableKey] | None:
        """Return the complete content of the source; None if it has certainly not changed since the last read.

        Content that is missing from the result is deleted, so the result must be complete. Content that cannot be read
        is returned as ``UnreadableKey``, and its key is not deleted.

        Raises:
            KafkaReplicaError: the source cannot be read completely; in this case, nothing is recorded.
        """

    def forget(self) -> None:
        """Make the next ``read`` return everything, because the last result may not have been recorded."""


def record_source(source: Source, producer: StructureProducer) -> list[int]:
    """Read a source once; record its additions and changes in one transaction, and its deletions in another.

    Returns:
        The numbers of the transactions; empty if nothing has changed.

    Raises:
        KafkaReplicaError: the source cannot be read, or the database refused; nothing is recorded.
    """
    result = read_and_record(source, producer)
    return [] if result is None else list(result.tx_ids)


def read_and_record(source: Source, producer: StructureProducer) -> SourceRead | None:
    """Record a source like ``record_source``; also return the unreadable content; None if nothing has changed.

    Raises:
        KafkaReplicaError: the source cannot be read, or the database refused; nothing is recorded.
    """
    contents = source.read()
    if contents is None:
        return None
    try:
        with writing(producer.engine, f"recording a source for producer {producer.id}") as connection:
            tx_ids, unreadable = producer.outbox.record_differences(connection, contents)
    except BaseException:
        source.forget()
        raise
    for each in unreadable:
        _log.warning("rejected; the previous content is kept: %s", each.reason)
    producer.wake()
    return SourceRead(tuple(tx_ids), tuple(each.reason for each in unreadable))
