"""Write lines to stderr, as text or JSON: messages of commands, and warnings of the library."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO

import click

from kafka_replica.cli.control_characters import visible_message
from kafka_replica.common.log_lines import JsonLines

DEBUG_VARIABLE: Final = "KAFKA_REPLICA_DEBUG"
FORMAT_VARIABLE: Final = "KAFKA_REPLICA_LOG_FORMAT"
FORMATS: Final = ("text", "json")
_PREFIX: Final = "kafka-replica: "
_CLIENTS: Final = frozenset({"kafka_replica.librdkafka", "psycopg"})
"""Loggers of clients whose warnings are hidden, with their child loggers.

They warn about problems that also raise an exception, or about the effects of an interrupt.
"""


class _TextLines(logging.Formatter):
    """Formats log records as text whose control characters are visible."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a record."""
        return visible_message(super().format(record))


class _HoldingHandler(logging.StreamHandler[TextIO]):
    """A handler that writes log records to stderr, or holds them while ``pending`` is a list."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self.pending: list[logging.LogRecord] | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self.pending is None:
            super().emit(record)
        else:
            self.pending.append(record)


def set_up_logging() -> None:
    """Show warnings on stderr, except the error that ends the command, which is its last message anyway."""
    handler = _HoldingHandler()
    handler.addFilter(_should_show)
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    set_format(os.environ.get(FORMAT_VARIABLE, "text"))


def set_format(name: str) -> None:
    """Set the format of all further lines on stderr: ``text`` or ``json``."""
    handler = _handler()
    if handler is not None:
        as_text = _TextLines(f"{_PREFIX}%(levelname)s: %(message)s")
        handler.setFormatter(JsonLines() if name == "json" else as_text)


def is_json() -> bool:
    """Return whether lines on stderr are JSON."""
    handler = _handler()
    return handler is not None and isinstance(handler.formatter, JsonLines)


def log_message(text: str, level: int = logging.INFO, error: BaseException | None = None) -> None:
    """Write a message of a command to stderr, as text whose control characters are visible, or as JSON.

    Args:
        text: the message.
        level: the logging level, which is only shown in JSON.
        error: the exception whose stack trace is added in JSON.
    """
    if is_json():
        trace = None if error is None else (type(error), error, error.__traceback__)
        record = logging.LogRecord("kafka_replica.cli", level, "", 0, text.removeprefix(_PREFIX), None, trace)
        text = JsonLines().format(record)
    else:
        text = visible_message(text)
    click.echo(text, err=True)


def _handler() -> _HoldingHandler | None:
    return next((handler for handler in logging.getLogger().handlers if isinstance(handler, _HoldingHandler)), None)


@contextmanager
def warnings_held() -> Iterator[None]:
    """Hold warnings until the end of the block; if it raises, drop the warnings with the same reason as the error."""
    handler = _handler()
    if handler is None or handler.pending is not None:
        yield
        return
    pending = handler.pending = []
    final = ""
    try:
        yield
    except Exception as error:
        final = str(error)
        raise
    except BaseException:
        pending.clear()  # after an interrupt the warnings are not needed
        raise
    finally:
        handler.pending = None
        for record in pending:
            reasons = [str(part) for part in record.args or () if isinstance(part, Exception)]
            if not any(reason in final for reason in reasons):
                handler.handle(record)


def _should_show(record: logging.LogRecord) -> bool:
    if any(record.name == name or record.name.startswith(f"{name}.") for name in _CLIENTS):
        return record.levelno >= logging.CRITICAL or DEBUG_VARIABLE in os.environ
    return record.name != "kafka_replica" or record.levelno < logging.ERROR
