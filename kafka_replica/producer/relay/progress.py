"""The progress record: one record per producer in a small compacted topic; docs/producer.md explains the reason."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from kafka_replica.errors import BadRecordError
from kafka_replica.producer.changes.fingerprint import Fingerprint
from kafka_replica.records import Partition


class Progress(NamedTuple):
    """The last transaction of a producer that has arrived, from its progress record."""

    tx_id: int
    offset: int
    fingerprint: Fingerprint
    position: Mapping[str, Any] | None = None
    """The position of the source in its database, if the source stores it in Kafka."""


def progress_key(producer_id: str, incarnation: str) -> bytes:
    """Return the key of one incarnation's progress record; a recreated configuration has another incarnation."""
    return f"{producer_id}/{incarnation}".encode()


def progress_value(
    tx_id: int, fingerprint: Fingerprint, database_id: str = "", position: Mapping[str, Any] | None = None
) -> bytes:
    """Return the value that is sent within the transaction ``tx_id``, as JSON that also names the database."""
    fields = {"tx_id": tx_id, **fingerprint._asdict(), "database": database_id or None}
    return json.dumps(fields if position is None else {**fields, "position": position}).encode()


def progress_of(value: bytes, database_id: str) -> bytes:
    """Return the value of a progress record with its database replaced."""
    return json.dumps({**json.loads(value), "database": database_id}).encode()


def read_progress(value: bytes | None, offset: int, place: Partition, key: bytes) -> Progress | None:
    """Parse a progress record; return None for a tombstone.

    Raises:
        BadRecordError: another program wrote the record.
    """
    if value is None:
        return None
    try:
        fields = json.loads(value)
        fingerprint = Fingerprint(fields.get("recorded_ms"), fields.get("digest"))  # earlier versions wrote no digest
        return Progress(int(fields["tx_id"]), offset, fingerprint, fields.get("position"))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        advice = "find the program that writes there; no other program may"
        raise BadRecordError(place.topic, place.partition, offset, "is not a progress record", advice, key) from error
