"""The format of log records as lines of JSON, the same in every part of the package."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any


class JsonLines(logging.Formatter):
    """Formats each log record as one line of JSON.

    The names are ``time`` (RFC 3339, UTC, with milliseconds), ``level``, ``logger``, ``message``, and ``exception``
    with the stack trace, if there is one.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, without a line end."""
        facts = {
            "time": utc_text(record.created), "level": record.levelname, "logger": record.name, **self.facts(record),
        }  # fmt: skip
        if record.exc_info:
            facts["exception"] = self.formatException(record.exc_info)
        return json.dumps(facts, separators=(",", ":"), default=str)

    def facts(self, record: logging.LogRecord) -> dict[str, Any]:
        """Return the fields of a record in addition to the common ones: its message; subclasses override this."""
        return {"message": record.getMessage()}


def utc_text(at_s: float) -> str:
    """Return a Unix time in seconds as ``2026-01-31T23:59:59.123Z``."""
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
