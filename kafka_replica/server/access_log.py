"""The access log: a line for each request, as text or JSON, without headers and so without secrets."""

from __future__ import annotations

import json
import logging
from typing import NamedTuple

ACCESS_LOGGER = "kafka_replica.access"
_log = logging.getLogger(ACCESS_LOGGER)


class Access(NamedTuple):
    """A request that has ended."""

    client: str
    method: str
    target: str
    """Path and query, percent-encoded as they were received."""
    status: int
    bytes_sent: int
    duration_s: float
    request_id: str


class JsonAccess(logging.Formatter):
    """Formats the lines of the access log as JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a request."""
        access = getattr(record, "access", None)
        facts = access._asdict() if isinstance(access, Access) else {"message": record.getMessage()}
        return json.dumps({"time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"), **facts}, separators=(",", ":"))


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
    """Return whether the access log goes anywhere."""
    return _log.isEnabledFor(logging.INFO)
