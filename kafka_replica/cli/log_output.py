"""Warnings of the library on stderr, without repeating the final error."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO

DEBUG_VARIABLE: Final = "KAFKA_REPLICA_DEBUG"
_CLIENTS: Final = frozenset({"kafka_replica.librdkafka", "psycopg"})
"""Loggers of clients that warn about what also raises an exception, or about the end that an interrupt has caused.

Loggers below them are included.
"""


class _HoldingHandler(logging.StreamHandler[TextIO]):
    """Writes log records, or holds them until the outcome of the operation that they warn about is known."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self.held: list[logging.LogRecord] | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self.held is None:
            super().emit(record)
        else:
            self.held.append(record)


def set_up_logging() -> None:
    """Show warnings on stderr. The error that ends a command is shown only once, as its last message."""
    handler = _HoldingHandler()
    handler.addFilter(_is_to_be_shown)
    text = "kafka-replica: %(levelname)s: %(message)s"
    logging.basicConfig(handlers=[handler], level=logging.WARNING, format=text)


@contextmanager
def warnings_held() -> Iterator[None]:
    """Hold warnings until the end of the block; if it raises, those with the same reason as the error are dropped."""
    handler = next((one for one in logging.getLogger().handlers if isinstance(one, _HoldingHandler)), None)
    if handler is None or handler.held is not None:
        yield
        return
    held = handler.held = []
    final = ""
    try:
        yield
    except Exception as error:
        final = str(error)
        raise
    except BaseException:
        held.clear()  # after an interrupt nobody needs the warnings
        raise
    finally:
        handler.held = None
        for record in held:
            reasons = [str(part) for part in record.args or () if isinstance(part, Exception)]
            if not any(reason in final for reason in reasons):
                handler.handle(record)


def _is_to_be_shown(record: logging.LogRecord) -> bool:
    if any(record.name == name or record.name.startswith(f"{name}.") for name in _CLIENTS):
        return record.levelno >= logging.CRITICAL or DEBUG_VARIABLE in os.environ
    return record.name != "kafka_replica" or record.levelno < logging.ERROR
