"""Notifications to systemd over a datagram socket. Source: sd_notify(3), sd_watchdog_enabled(3)."""

from __future__ import annotations

import os
import socket
from contextlib import suppress


def notify(state: str) -> bool:
    """Send a state such as ``READY=1`` to systemd; return whether the process has a notification socket.

    A failure to send is ignored, as systemd's own library does: the service works without a supervisor.
    """
    path = os.environ.get("NOTIFY_SOCKET", "")
    if not path.startswith(("/", "@")):
        return False
    address = "\0" + path[1:] if path.startswith("@") else path  # @ marks an abstract socket
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        sender.sendto(state.encode(), address)
    return True


def watchdog_interval_s() -> float | None:
    """Return the interval of watchdog notifications, half of systemd's limit; None if the watchdog is off."""
    limit, process = os.environ.get("WATCHDOG_USEC", ""), os.environ.get("WATCHDOG_PID", "")
    if not limit.isdigit() or int(limit) == 0 or process not in {"", str(os.getpid())}:
        return None
    return int(limit) / 2_000_000
