"""Sources that tell all that they hold: what differs from what was recorded becomes transactions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from kafka_replica.producer.changes import Put
from kafka_replica.producer.service import StructureProducer


class Source(Protocol):
    """Something that can be read as a whole, again and again: a folder, a service."""

    def read(self) -> Iterable[Put] | None:
        """All that it holds now; None if it is known not to have changed since the last time.

        Raises:
            KafkaReplicaError: it cannot be read, or not all of it: then nothing is taken in.
        """


def take_in(source: Source, producer: StructureProducer) -> list[int]:
    """Reads a source once, and records how it differs: additions and changes in one transaction, deletions in one.

    Returns:
        The numbers of the transactions: none where nothing has changed.

    Raises:
        KafkaReplicaError: the source cannot be read, or the database refused; nothing is recorded.
    """
    contents = source.read()
    if contents is None:
        return []
    with producer.engine.begin() as connection:
        recorded = producer.outbox.record_differences(connection, contents)
    producer.wake()
    return recorded
