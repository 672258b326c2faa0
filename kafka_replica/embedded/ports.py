"""Choosing ports on the loopback address."""

from __future__ import annotations

import random
import socket

from kafka_replica.errors import EmbeddedKafkaError

LOOPBACK = "127.0.0.1"
# Below the range from which Linux and macOS take ports for outgoing connections: a client that tries to reach a
# broker which is down could otherwise be given the broker's own port, and keep it.
_FROM, _TO = 20_000, 32_000


def is_free(port: int) -> bool:
    """Whether a server could listen on the port now."""
    with socket.socket() as tried:
        # As Java does: connections that have just ended do not count.
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((LOOPBACK, port))
            tried.listen(1)
        except OSError:
            return False
    return True


def choose(*, but: tuple[int, ...] = ()) -> int:
    """A port that is free now; another process may still take it first.

    Raises:
        EmbeddedKafkaError: hundreds were tried and all are taken.
    """
    for _ in range(500):
        port = random.randrange(_FROM, _TO)  # noqa: S311 - not a secret
        if port not in but and is_free(port):
            return port
    raise EmbeddedKafkaError(
        f"while choosing a port for Kafka: none of 500 tried between {_FROM} and {_TO} on {LOOPBACK} is free; "
        "end some servers, or name a free one with port="
    )
