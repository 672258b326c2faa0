"""Queries of the present content: the newest recorded content of each key, whether sent or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import ColumnElement, Connection, select

from kafka_replica.producer.changes.changes import Delete, Put, content_hash, key_hash
from kafka_replica.producer.outbox.tables import change
from kafka_replica.records import Key

_AT_ONCE = 500


def drop_unchanged(
    connection: Connection, producer_id: str, puts: Sequence[Put], deletes: Sequence[Delete]
) -> tuple[list[Put], list[Delete]]:
    """Return the changes that differ from the present content."""
    content_hashes = _newest(
        connection, producer_id, [*(put.key for put in puts), *(deletion.key for deletion in deletes)]
    )
    missing = object()
    return (
        [put for put in puts if content_hashes.get(key_hash(put.key), missing) != content_hash(put)],
        # A key that was never recorded may still be in the topic.
        [deletion for deletion in deletes if content_hashes.get(key_hash(deletion.key), missing) is not None],
    )


def present_keys(connection: Connection, producer_id: str) -> Iterator[bytes]:
    """Return the keys that have content in the present content."""
    rows = connection.execute(
        select(change.c.record_key).where(
            change.c.producer_id == producer_id, change.c.record_value.is_not(None), _is_newest()
        )
    )
    return (bytes(key) for key in rows.scalars())


def _newest(connection: Connection, producer_id: str, keys: Iterable[Key]) -> dict[bytes, bytes | None]:
    """Return the hashes of the recorded keys among ``keys``, with the hash of their content; None for deleted keys."""
    content_hashes: dict[bytes, bytes | None] = {}
    hashes = [key_hash(key) for key in keys]
    for start in range(0, len(hashes), _AT_ONCE):
        rows = connection.execute(
            select(change.c.key_hash, change.c.content_hash).where(
                change.c.producer_id == producer_id,
                change.c.key_hash.in_(hashes[start : start + _AT_ONCE]),
                _is_newest(),
            )
        )
        content_hashes.update((bytes(key), None if content is None else bytes(content)) for key, content in rows)
    return content_hashes


def _is_newest() -> ColumnElement[bool]:
    newer = change.alias("newer")
    return ~(
        select(newer.c.tx_id)
        .where(
            newer.c.producer_id == change.c.producer_id,
            newer.c.key_hash == change.c.key_hash,
            newer.c.tx_id > change.c.tx_id,
        )
        .exists()
    )
