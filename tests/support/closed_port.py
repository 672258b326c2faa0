"""Addresses at which nothing listens."""

from __future__ import annotations

import socket


def closed_port() -> int:
    """Return a port of the loopback address without a listener."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port: int = closed.getsockname()[1]
        return port
