"""The rows of a producer, and its configuration as stored in the database, with masked secrets.

No function locks the counter, so that an open recording transaction does not block starting instances.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from kafka_replica.producer.outbox.modes import Mode
from kafka_replica.producer.outbox.shown_settings import displayable_settings
from kafka_replica.producer.outbox.tables import config, connection_settings, counter, lease, properties, state


class StoredConfiguration(NamedTuple):
    """The stored form of a producer's configuration."""

    topic: str
    media_type: str
    lines: list[str]
    """The producer's own settings as ``name=value``."""
    shared: dict[str, str]
    """The connection settings, which all producers of the database share."""


def as_stored(topic: str, media_type: str, settings: Mapping[str, object]) -> StoredConfiguration:
    """Return a configuration in its stored form: secrets are masked, callables are left out."""
    own, shared = displayable_settings(settings)
    return StoredConfiguration(topic, media_type, [f"{name}={value}" for name, value in own.items()], shared)


def is_stored(connection: Connection, producer_id: str, configuration: StoredConfiguration) -> bool:
    """Return whether the producer exists and has this configuration."""
    rows = connection.execute(
        select(lease.c.producer_id)
        .join(state, state.c.producer_id == lease.c.producer_id)
        .join(counter, counter.c.producer_id == lease.c.producer_id)
        .where(lease.c.producer_id == producer_id)
    )
    stored = connection.execute(select(config.c.topic, config.c.format).where(config.c.id == producer_id)).first()
    lines = connection.execute(
        select(properties.c.property).where(properties.c.id == producer_id).order_by(properties.c.line_number)
    )
    return (
        rows.first() is not None
        and stored is not None
        and tuple(stored) == (configuration.topic, configuration.media_type)
        and list(lines.scalars()) == configuration.lines
        and not _different_settings(connection, configuration.shared)
    )


def store(connection: Connection, producer_id: str, configuration: StoredConfiguration) -> None:
    """Create the producer if it is missing, and store its configuration; concurrent instances wait for each other."""
    _create_rows(connection, producer_id)
    connection.execute(update(state).where(state.c.producer_id == producer_id).values(mode=state.c.mode))
    connection.execute(delete(properties).where(properties.c.id == producer_id))
    connection.execute(delete(config).where(config.c.id == producer_id))
    connection.execute(
        insert(config).values(id=producer_id, topic=configuration.topic, format=configuration.media_type)
    )
    for number, line in enumerate(configuration.lines, 1):
        connection.execute(insert(properties).values(id=producer_id, line_number=number, property=line))
    # The settings are sorted, so that two producers cannot deadlock.
    for name, value in _different_settings(connection, configuration.shared):
        if not _insert(connection, connection_settings, {"conn_key": name, "conn_value": value}):
            this = connection_settings.c.conn_key == name
            connection.execute(update(connection_settings).where(this).values(conn_value=value))


def _create_rows(connection: Connection, producer_id: str) -> None:
    first: list[tuple[Table, dict[str, Any]]] = [
        (counter, {"last_tx_id": 0}),
        (
            state,
            {
                "incarnation": uuid.uuid4().hex,
                "mode": str(Mode.IDLE),
                "sent_tx_id": 0,
                "not_carried": 0,
                "request_count": 0,
            },
        ),
        (lease, {"term": 0, "beat": 0}),
    ]
    for table, values in first:
        if connection.execute(select(table.c.producer_id).where(table.c.producer_id == producer_id)).first() is None:
            _insert(connection, table, {"producer_id": producer_id, **values})


def _different_settings(connection: Connection, shared: Mapping[str, str]) -> list[tuple[str, str]]:
    rows = connection.execute(select(connection_settings.c.conn_key, connection_settings.c.conn_value))
    stored = {row[0]: row[1] for row in rows}
    return sorted((name, value) for name, value in shared.items() if stored.get(name) != value)


def _insert(connection: Connection, table: Table, row: Mapping[str, object]) -> bool:
    """Insert a row; return False if it exists already, for example because another instance was faster."""
    try:
        with connection.begin_nested():
            connection.execute(insert(table).values(**row))
    except IntegrityError:
        return False
    return True
