"""The evidence of what has arrived: one record a producer in a small compacted topic, docs/producer.md says why."""

from __future__ import annotations

import json
from typing import NamedTuple

from kafka_replica.errors import BadRecordError
from kafka_replica.producer.fingerprint import Fingerprint
from kafka_replica.records import Partition


class Progress(NamedTuple):
    """The last transaction of a producer that has arrived."""

    tx_id: int
    offset: int
    fingerprint: Fingerprint


def progress_key(producer_id: str, incarnation: str) -> bytes:
    """Of one producer's configuration: one that was deleted and made again counts anew."""
    return f"{producer_id}/{incarnation}".encode()


def progress_value(tx_id: int, fingerprint: Fingerprint, database_id: str = "") -> bytes:
    """Return the value that is sent within transaction ``tx_id``: JSON, for people who look; it names the database."""
    return json.dumps({"tx_id": tx_id, **fingerprint._asdict(), "database": database_id or None}).encode()


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
        said = json.loads(value)
        fingerprint = Fingerprint(said.get("recorded_ms"), said.get("digest"))  # of an older version: without a digest
        return Progress(int(said["tx_id"]), offset, fingerprint)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        advice = "find out who writes there; no other program may"
        raise BadRecordError(place.topic, place.partition, offset, "is no progress record", advice, key) from error
