"""Notifications to systemd over a datagram socket. Source: sd_notify(3), sd_watchdog_enabled(3)."""

from __future__ import annotations

import os
import socket
from contextlib import suppress


def notify(state: str) -> bool:
    """Send a state such as ``READY=1``; return whether there is a socket to send it to.

    A failure to send is ignored, as in systemd's own library: the service works without a supervisor.
    """
    path = os.environ.get("NOTIFY_SOCKET", "")
    if not path.startswith(("/", "@")):
        return False
    address = "\0" + path[1:] if path.startswith("@") else path  # an abstract name
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        sender.sendto(state.encode(), address)
    return True


def watchdog_interval_s() -> float | None:
    """Return the interval at which systemd has to be notified: half of its limit; None if it does not watch."""
    limit, process = os.environ.get("WATCHDOG_USEC", ""), os.environ.get("WATCHDOG_PID", "")
    if not limit.isdigit() or int(limit) == 0 or process not in {"", str(os.getpid())}:
        return None
    return int(limit) / 2_000_000
