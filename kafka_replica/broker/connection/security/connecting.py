"""Open a connection, and check that the broker has accepted it."""

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
    """Connect to a broker and authenticate; when the function returns, the broker has accepted our credentials.

    Do not use aiokafka's ``create_conn`` instead: it treats a refused OAuth token as accepted, and reads the refusal
    as the answer to the next request.

    Raises:
        AuthenticationError: the broker refused our credentials, or we refused its certificate; waiting does not help.
        BrokerUnavailableError: the broker cannot be reached now.
        BrokerError: the peer does not behave like a broker.
        ConfigurationError: the settings do not match this listener.
    """
    connection: Any = Connection(host, port, **settings.kwargs)
    try:
        async with asyncio.timeout(settings.setup_timeout_s):
            await connection.connect()
    except (BrokerError, ConfigurationError):
        await _gone(connection)
        raise
    except Exception as error:  # errors of aiokafka, asyncio, ssl and the operating system
        await _gone(connection)
        without_frames(error)
        raise connection_failed(error, f"while connecting{settings.login_text} to {host}:{port}") from error
    return connection


async def _gone(connection: Any) -> None:
    """Wait until aiokafka has closed the connection, because an event loop that ends before would leak the socket."""
    if connection._protocol is not None:
        await asyncio.wait([connection.close()], timeout=_CLOSING_S)
