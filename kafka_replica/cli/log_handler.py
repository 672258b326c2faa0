"""The handler that writes log records to stderr, and holds those that may repeat the error that ends the command."""

from __future__ import annotations

import logging
import sys
from collections import deque
from collections.abc import Iterable
from typing import Final, TextIO

from kafka_replica.cli.control_characters import visible_message

PREFIX: Final = "kafka-replica: "
_REPLICA: Final = "kafka_replica"
"""The logger whose errors a command may repeat as its last message."""


class TextLines(logging.Formatter):
    """Formats log records as text whose control characters are visible.

    Args:
        has_times: whether each line begins with the local time, like the lines of the access log.
    """

    def __init__(self, *, has_times: bool) -> None:
        super().__init__(f"{'%(asctime)s ' if has_times else ''}{PREFIX}%(levelname)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a record."""
        return visible_message(super().format(record))


class StderrHandler(logging.StreamHandler[TextIO]):
    """A handler that writes log records to stderr.

    Any record is held while ``pending`` is a list. An error of the replica is held until ``release_errors``, because
    most commands end with it, and then say it as their last message.
    """

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self.pending: list[logging.LogRecord] | None = None
        self.has_times = False
        self._errors: list[logging.LogRecord] | None = []
        self._written_errors: deque[str] = deque(maxlen=100)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or hold it."""
        if self.pending is not None:
            self.pending.append(record)
        elif self._errors is not None and _is_of_replica(record):
            self._errors.append(record)
        else:
            if record.levelno >= logging.ERROR:
                self._written_errors.append(record.getMessage())
            super().emit(record)

    def release_errors(self, final: str = "") -> None:
        """Write the errors that are held, and write all further errors immediately.

        Args:
            final: the error that ends the command, which is not written twice; empty if there is none.
        """
        held, self._errors = self._errors or [], None
        for record in held:
            if not gives_same_reason(record, final):
                self.handle(record)

    def write_all(self, records: Iterable[logging.LogRecord]) -> None:
        """Write the errors that are held, and then other records, because the command continues in spite of them."""
        held, self._errors = self._errors, None
        for record in [*(held or ()), *records]:
            self.handle(record)
        if held is not None:
            self._errors = []

    def has_written(self, error: str) -> bool:
        """Return whether a log line at level ERROR has contained an error."""
        return bool(error) and any(error in line for line in self._written_errors)


def gives_same_reason(record: logging.LogRecord, final: str) -> bool:
    """Return whether a record is about an exception whose text is also in the error that ends the command."""
    found: list[BaseException] = [part for part in record.args or () if isinstance(part, Exception)]
    if record.exc_info and record.exc_info[1] is not None:
        found.append(record.exc_info[1])
    return any((str(error) or type(error).__name__) in final for error in found)


def _is_of_replica(record: logging.LogRecord) -> bool:
    return record.name == _REPLICA and record.levelno >= logging.ERROR
