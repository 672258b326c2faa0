"""The limit of open files: raised at the start, and a part of it kept free from connections.

The usual limit, 1,024, is about the default maximum number of connections. If clients could use up all descriptors, the
replica could no longer open a file of its store, or a connection to a broker.
"""

from __future__ import annotations

import logging
import socket
import sys
from typing import Any, Final

_log = logging.getLogger("kafka_replica.server")
_LIMITS: Final = (65_536, 10_240, 4_096)
"""The limits to try: macOS has another maximum, which the hard limit does not show."""
_KEPT_FREE: Final = 256
"""The number of descriptors that connections leave free, or a quarter of a lower limit."""


def raise_limit(max_connections: int) -> None:
    """Raise the soft limit of open files up to the hard one; log a warning if ``max_connections`` exceeds the limit."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for limit in _LIMITS:
        wanted = limit if hard == resource.RLIM_INFINITY else min(hard, limit)
        if soft == resource.RLIM_INFINITY or soft >= wanted:
            break
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            break
        except (OSError, ValueError) as error:
            _log.debug("raising the limit of open files from %d to %d: %s", soft, wanted, error)
    most = most_for_connections()
    if most is not None and most < max_connections:
        _log.warning(
            "max_connections=%d needs more open files than this process may have: connections get fewer than %d, and "
            "further ones are closed; raise the limit (ulimit -n, or LimitNOFILE= of systemd)",
            max_connections,
            most,
        )


def most_for_connections() -> int | None:
    """Return the number of descriptors that connections may use together with all other files; None without a limit."""
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415 - not on Windows

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft - min(_KEPT_FREE, soft // 4)


class ListeningSocket(socket.socket):
    """A listening socket that closes a connection at once if it would use a descriptor that must remain free.

    The operating system gives each connection the lowest free descriptor, whose number tells how many are used.

    Args:
        descriptor: the descriptor of the socket, which the new object owns.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__(fileno=descriptor)
        self._most = most_for_connections()

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection.

        Raises:
            ConnectionAbortedError: the connection was closed; asyncio continues with the next one.
        """
        connection, address = super().accept()
        if self._most is not None and connection.fileno() >= self._most:
            connection.close()
            raise ConnectionAbortedError("too many files are open for a further connection")
        return connection, address
