"""Making a connection, and making sure that it was accepted."""

from __future__ import annotations

import asyncio
from typing import Any

from aiokafka.conn import AIOKafkaConnection

from kafka_replica.broker.connection.security.connection import Connection
from kafka_replica.broker.connection.security.errors import connection_failed
from kafka_replica.broker.connection.security.settings import ConnectionSettings
from kafka_replica.common.secret_values import without_frames
from kafka_replica.errors import BrokerError, ConfigurationError

_CLOSING_S = 1.0


async def open_connection(settings: ConnectionSettings, host: str, port: int) -> AIOKafkaConnection:
    """Connect to a broker, which has then accepted who we are.

    Use it rather than aiokafka's ``create_conn``, which takes a refused OAuth token for an accepted one and
    reads the refusal as the answer to the next request.

    Raises:
        AuthenticationError: who we are, or who the broker is, was refused; waiting does not mend it.
        BrokerUnavailableError: it cannot be reached now.
        BrokerError: it does not speak as a broker does.
        ConfigurationError: the settings are not those of this listener.
    """
    connection: Any = Connection(host, port, **settings.kwargs)
    try:
        async with asyncio.timeout(settings.setup_timeout_s):
            await connection.connect()
    except (BrokerError, ConfigurationError):
        await _gone(connection)
        raise
    except Exception as error:  # aiokafka's own, asyncio's, ssl's and the system's
        await _gone(connection)
        without_frames(error)
        raise connection_failed(error, f"while connecting to {host}:{port}") from error
    return connection


async def _gone(connection: Any) -> None:
    """Wait for what aiokafka has closed: an event loop that ends now would leave the socket behind."""
    if connection._protocol is not None:
        await asyncio.wait([connection.close()], timeout=_CLOSING_S)
