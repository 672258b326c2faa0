"""Tools for tests that search for secrets in the whole log, in errors, and in tracebacks with local variables."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from unittest.mock import patch

PASSWORD = "open-sesame-4711"
"""A secret that occurs nowhere by chance."""


class Capture(logging.Handler):
    """A handler that keeps all messages of all loggers, formatted, and the ``repr`` of their arguments."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record as a handler formats it, and as an error tracker would serialize it."""
        self.lines.append(f"{record.name}: {self.format(record)} {record.args!r}")

    @property
    def text(self) -> str:
        """Return everything that was logged."""
        return "\n".join(self.lines)


@contextmanager
def everything_logged() -> Iterator[Capture]:
    """Log everything of all loggers, and asyncio's internals: debug mode shows callbacks with their arguments."""
    capture, root = Capture(), logging.getLogger()
    loggers = [logger for logger in logging.root.manager.loggerDict.values() if isinstance(logger, logging.Logger)]
    before = [(logger, logger.level, logger.disabled, logger.propagate) for logger in (root, *loggers)]
    for logger in (root, *loggers):
        logger.setLevel(logging.DEBUG)
        logger.disabled, logger.propagate = False, True
    root.addHandler(capture)
    try:
        with patch.object(asyncio.BaseEventLoop, "__init__", _init_talkative):
            yield capture
    finally:
        root.removeHandler(capture)
        for logger, level, disabled, propagate in before:
            logger.setLevel(level)
            logger.disabled, logger.propagate = disabled, propagate


_init: Final = asyncio.BaseEventLoop.__init__


def _init_talkative(loop: asyncio.BaseEventLoop) -> None:
    """Initialize a loop that logs every callback as if it had been slow."""
    _init(loop)
    loop.set_debug(True)
    loop.slow_callback_duration = 0.0


class Attempt:
    """An action that fails. It is an object because a traceback shows the closure of a function."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call

    def error(self) -> BaseException:
        """Make it fail, and return the error."""
        try:
            self._call()
        except Exception as error:  # noqa: BLE001 - whatever it is
            return error
        raise AssertionError("it did not fail")


def shown(error: BaseException) -> str:
    """Return everything that an error tracker keeps of an error: texts, causes, and the variables of each frame.

    The frames of tests are left out: their variables are the test's own.
    """
    frames = traceback.TracebackException.from_exception(error, capture_locals=True)
    at: traceback.TracebackException | None = frames
    while at is not None:
        at.stack = traceback.StackSummary.from_list([f for f in at.stack if "/tests/" not in f.filename])
        at = at.__cause__ or at.__context__
    return "".join(frames.format()) + repr(error)
