"""Choose ports on the loopback address."""

from __future__ import annotations

import random
import socket
from typing import NamedTuple

from kafka_replica.embedded.errors import EmbeddedKafkaError

LOOPBACK = "127.0.0.1"
# Below the range from which Linux and macOS take ports for outgoing connections. Otherwise a client that tries to
# connect to a stopped broker could get the broker's own port as its source port, connect to itself, and keep the port.
_FROM, _TO = 20_000, 32_000


class Ports(NamedTuple):
    """The ports of a broker on the loopback address."""

    clients: int
    controller: int
    users: int | None = None
    """The port for clients that log in; None if the broker has no users."""


def is_free(port: int) -> bool:
    """Return whether a server could listen on the port at the moment."""
    with socket.socket() as tried:
        # Java sets this option, too: connections that have just ended do not block the port.
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((LOOPBACK, port))
            tried.listen(1)
        except OSError:
            return False
    return True


def choose_port(*, but: tuple[int, ...] = ()) -> int:
    """Return a port that is free at the moment; another process may still take it first.

    Args:
        but: ports to exclude.

    Raises:
        EmbeddedKafkaError: 500 ports were tried, and all are in use.
    """
    for _ in range(500):
        port = random.randrange(_FROM, _TO)  # noqa: S311 - not a secret
        if port not in but and is_free(port):
            return port
    raise EmbeddedKafkaError(
        f"while choosing a port for Kafka: none of 500 tried between {_FROM} and {_TO} on {LOOPBACK} is free; "
        "end some servers, or name a free one with port="
    )
