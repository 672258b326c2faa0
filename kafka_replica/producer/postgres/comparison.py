"""The comparison of the rows of a table with the records of a topic. No I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafka_replica.producer.errors import SourceError
from kafka_replica.records import key_text

Digests = dict[bytes, bytes]
"""A digest of the value of each key."""


def digest_of(value: bytes) -> bytes:
    """Return a digest of a value, which needs less memory than the value."""
    return hashlib.blake2b(value, digest_size=16).digest()


class Differences(NamedTuple):
    """The records that make the topic equal to the table."""

    changed: Mapping[bytes, bytes]
    """Values of keys that the topic lacks, or has with another value."""
    deleted: tuple[bytes, ...]
    """Keys that only the topic has."""


def differences(rows: Iterable[tuple[bytes, bytes]], topic: Digests) -> Differences:
    """Return the differences between the rows of a table and the topic.

    Args:
        rows: key and value of each row.
        topic: the digests of the topic's values; the keys of rows are removed from it.

    Raises:
        SourceError: two rows have the same key.
    """
    changed: dict[bytes, bytes] = {}
    keys: set[bytes] = set()
    for key, value in rows:
        if key in keys:
            raise SourceError(f"two active rows have the key {key_text(key)}, and a topic has one record for a key")
        keys.add(key)
        if topic.pop(key, None) != digest_of(value):
            changed[key] = value
    return Differences(changed, tuple(sorted(topic)))
