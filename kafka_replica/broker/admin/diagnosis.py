"""Find out why no broker accepts a connection, by a separate connection that reports more than librdkafka does.

For a wrong ``security.protocol``, librdkafka only reports that all brokers are down. The separate connection
distinguishes a listener that expects TLS from a port at which nothing listens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

from kafka_replica.broker.connection.security import ConnectionSettings, connection_settings
from kafka_replica.broker.wire.cluster import Cluster
from kafka_replica.errors import (
    AuthenticationError,
    BrokerError,
    BrokerUnavailableError,
    ConfigurationError,
    MissingExtraError,
)

_ANSWER_S = 3.0

Trouble: TypeAlias = BrokerError | ConfigurationError


def connection_trouble(config: Mapping[str, Any], doing: str) -> Trouble | None:
    """Return the reason why none of the ``bootstrap.servers`` can be queried.

    Args:
        config: librdkafka's properties.
        doing: the current operation, for the message.

    Returns:
        AuthenticationError or ConfigurationError if waiting does not help, BrokerUnavailableError if waiting may help;
        None if a server answers, or if only librdkafka can connect with these properties.
    """
    try:
        settings = connection_settings(config)
    except (ConfigurationError, MissingExtraError):
        return None
    with ThreadPoolExecutor(1) as thread:  # the caller's thread may be running an event loop
        return thread.submit(asyncio.run, _trouble(settings, doing)).result()


async def _trouble(settings: ConnectionSettings, doing: str) -> Trouble | None:
    cluster = Cluster(settings, _ANSWER_S)
    try:
        await cluster.metadata(())
    except (AuthenticationError, BrokerUnavailableError, ConfigurationError) as error:
        return type(error)(f"{doing}: {error}")
    except BrokerError:  # for example, the broker is too old for this connection
        return None
    finally:
        cluster.close()
        await asyncio.sleep(0)  # the event loop closes sockets in its next iteration
    return None
