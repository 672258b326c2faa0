"""Write lines to stderr, as text or JSON: messages of commands, and warnings of the library."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click

from kafka_replica.cli.control_characters import visible_message
from kafka_replica.cli.log_handler import PREFIX, StderrHandler, TextLines, gives_same_reason
from kafka_replica.common.log_lines import JsonLines
from kafka_replica.errors import KafkaReplicaError

DEBUG_VARIABLE: Final = "KAFKA_REPLICA_DEBUG"
FORMAT_VARIABLE: Final = "KAFKA_REPLICA_LOG_FORMAT"
FORMATS: Final = ("text", "json")
LEVEL_VARIABLE: Final = "KAFKA_REPLICA_LOG_LEVEL"
LEVELS: Final = ("info", "warning", "error")
_LIBRDKAFKA: Final = "kafka_replica.librdkafka"
_CLIENTS: Final = frozenset({_LIBRDKAFKA, "psycopg"})
"""Loggers of clients whose warnings are hidden, with their child loggers.

They warn about problems that also raise an exception, or about the effects of an interrupt.
"""
_TRANSLATED: Final = ("FATAL ", "TXNERR ")
"""The beginnings of librdkafka's lines at level CRITICAL about an error that an exception of the library explains."""


def set_up_logging() -> None:
    """Show warnings and errors on stderr, except the error that ends the command, which is its last message anyway."""
    handler = StderrHandler()
    handler.addFilter(_should_show)
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    set_format(os.environ.get(FORMAT_VARIABLE, "text"))


def set_format(name: str) -> None:
    """Set the format of all further lines on stderr: ``text`` or ``json``."""
    handler = _handler()
    if handler is not None:
        handler.setFormatter(JsonLines() if name == "json" else TextLines(has_times=handler.has_times))


def set_level(name: str) -> None:
    """Show log lines of this level and of higher levels: ``info``, ``warning`` or ``error``.

    At ``info``, only the library's lines are added, not those of the packages that it uses.
    """
    if _handler() is not None:  # otherwise, this program has set up logging for itself
        level = logging.getLevelNamesMapping()[name.upper()]
        logging.getLogger("kafka_replica").setLevel(level)
        logging.getLogger().setLevel(max(level, logging.WARNING))


def begin_long_run() -> None:
    """Prepare stderr for a command that runs until it is stopped: errors appear immediately, and lines have a time."""
    handler = _handler()
    if handler is not None:
        handler.has_times = True
        set_format("json" if is_json() else "text")
        handler.release_errors()


def end_command(error: BaseException | None = None) -> bool:
    """Write the errors that were held; return whether the error that ends the command was already written.

    Args:
        error: the error that ends the command; None if the command succeeded.
    """
    handler = _handler()
    if handler is None:
        return False
    final = "" if error is None else str(error)
    handler.release_errors(final)
    return isinstance(error, KafkaReplicaError) and handler.has_written(final)


def time_text() -> str:
    """Return the local time in the form that lines of the log have in text."""
    return logging.Formatter().formatTime(logging.makeLogRecord({}))


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
        record = logging.LogRecord("kafka_replica.cli", level, "", 0, text.removeprefix(PREFIX), None, trace)
        text = JsonLines().format(record)
    else:
        handler = _handler()
        text = visible_message(text)
        if handler is not None and handler.has_times:
            text = f"{time_text()} {text}"
    click.echo(text, err=True)


def _handler() -> StderrHandler | None:
    return next((handler for handler in logging.getLogger().handlers if isinstance(handler, StderrHandler)), None)


@contextmanager
def warnings_held() -> Iterator[None]:
    """Hold warnings until the end of the block; if it raises, drop the warnings with the same reason as the error."""
    handler = _handler()
    if handler is None or handler.pending is not None:
        yield
        return
    pending = handler.pending = []
    try:
        yield
    except Exception as error:
        handler.pending = None
        for record in pending:
            if not gives_same_reason(record, str(error)):
                handler.handle(record)
        raise
    except BaseException:  # after an interrupt the warnings are not needed
        handler.pending = None
        handler.write_all([record for record in pending if record.levelno >= logging.ERROR])
        raise
    else:
        handler.pending = None
        handler.write_all(pending)


def _should_show(record: logging.LogRecord) -> bool:
    if not any(record.name == name or record.name.startswith(f"{name}.") for name in _CLIENTS):
        return True
    is_translated = record.name == _LIBRDKAFKA and record.getMessage().startswith(_TRANSLATED)
    return (record.levelno >= logging.CRITICAL and not is_translated) or DEBUG_VARIABLE in os.environ
