"""The evidence of what has arrived: one record a producer in a small compacted topic, docs/producer.md says why."""

from __future__ import annotations

import json
from typing import NamedTuple

from kafka_replica.errors import BadRecordError
from kafka_replica.records import Partition


class Progress(NamedTuple):
    """The last transaction of a producer that has arrived."""

    tx_id: int
    offset: int


def progress_key(producer_id: str, incarnation: str) -> bytes:
    """Of one producer's configuration: one that was deleted and made again counts anew."""
    return f"{producer_id}/{incarnation}".encode()


def progress_value(tx_id: int, recorded_ms: int, database_id: str) -> bytes:
    """As it is sent within transaction ``tx_id``: JSON, for people who look; names the database it was recorded in."""
    return json.dumps({"tx_id": tx_id, "recorded_ms": recorded_ms, "database": database_id}).encode()


def progress_of(value: bytes, database_id: str) -> bytes:
    """Return the value of a progress record as that of another database."""
    return json.dumps({**json.loads(value), "database": database_id}).encode()


def read_progress(value: bytes | None, offset: int, place: Partition, key: bytes) -> Progress | None:
    """What a progress record says; None for a tombstone.

    Raises:
        BadRecordError: somebody else wrote it.
    """
    if value is None:
        return None
    try:
        return Progress(int(json.loads(value)["tx_id"]), offset)
    except (ValueError, TypeError, KeyError) as error:
        advice = "find out who writes there; no other program may"
        raise BadRecordError(place.topic, place.partition, offset, "is no progress record", advice, key) from error
