"""Detection of other databases that publish under a producer's id, by the databases that progress records name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from kafka_replica.broker.reading.last_record import committed_records
from kafka_replica.producer.errors import ProducerConflictError
from kafka_replica.records import Partition, key_text


class ProgressRecord(NamedTuple):
    """The last progress record of a key that begins with a producer's id."""

    key: bytes
    value: bytes
    offset: int

    @property
    def database_id(self) -> str | None:
        """The database that the record names; None for a record of an earlier version, or another kind of record."""
        try:
            name = json.loads(self.value).get("database")
        except (ValueError, AttributeError):
            return None
        return name if isinstance(name, str) else None


def foreign_records(
    config: Mapping[str, Any],
    place: Partition,
    producer_id: str,
    database_id: str,
    timeout_s: float,
    *,
    begin: int = 0,
    decided_only: bool = False,
) -> list[ProgressRecord]:
    """Return the progress records under a producer's id that name a database other than the producer's own.

    Args:
        config: librdkafka's properties.
        place: the partition of the progress records.
        producer_id: the id of the producer.
        database_id: the identity of the producer's database.
        timeout_s: the time without a record after which reading fails, in seconds.
        begin: the offset from which to read.
        decided_only: whether to read only up to the last stable offset, instead of waiting for open transactions.

    Raises:
        BrokerError: Kafka did not answer or refused.
    """
    last: dict[bytes, ProgressRecord] = {}
    for record in committed_records(config, [place], timeout_s, {place: begin}, decided_only=decided_only):
        if record.key is None or not record.key.startswith(f"{producer_id}/".encode()):
            continue
        if record.value is None:
            last.pop(record.key, None)
        else:
            last[record.key] = ProgressRecord(record.key, record.value, record.offset)
    return [record for record in last.values() if record.database_id not in {None, database_id}]


def check_conflicts(records: list[ProgressRecord], place: Partition, transactional_id: str, how_to_claim: str) -> None:
    """Raise ProducerConflictError, with advice, if there are progress records of other databases."""
    if not records:
        return
    names = ", ".join(
        f"{key_text(record.key)} of database {record.database_id} (offset {record.offset})" for record in records
    )
    raise ProducerConflictError(
        f"another database publishes as {transactional_id} on this cluster: {place} holds the progress of {names}. Two "
        f"producers of one transactional id fence each other, so this one does not start; {how_to_claim}"
    )
