"""The access log: a line for each request, as text or JSON; it contains no headers, and so no secrets."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from kafka_replica.common.log_lines import JsonLines

ACCESS_LOGGER = "kafka_replica.access"
_log = logging.getLogger(ACCESS_LOGGER)


class Access(NamedTuple):
    """The facts of a finished request."""

    client: str
    method: str
    target: str
    """Path and query, percent-encoded as they were received."""
    status: int
    bytes_sent: int
    duration_s: float
    request_id: str


class JsonAccess(JsonLines):
    """Formats the lines of the access log as JSON, with a key for each fact of a request."""

    def facts(self, record: logging.LogRecord) -> dict[str, Any]:
        """Return the facts of a request."""
        access = getattr(record, "access", None)
        return access._asdict() if isinstance(access, Access) else super().facts(record)


def log_access(access: Access) -> None:
    """Log a request at level INFO."""
    _log.info(
        '%s "%s %s" %d %d %.4f %s',
        access.client,
        access.method,
        access.target,
        access.status,
        access.bytes_sent,
        access.duration_s,
        access.request_id,
        extra={"access": access},
    )


def is_logged() -> bool:
    """Return whether the access log is enabled."""
    return _log.isEnabledFor(logging.INFO)
