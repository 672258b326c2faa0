"""The file of tokens, which is read again after a change, so that tokens are added and revoked without a restart."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from kafka_replica.errors import ConfigurationError
from kafka_replica.server.access.policy import Token, read_tokens

_CHECK_EVERY_S: Final = 1.0
_log = logging.getLogger("kafka_replica.server")
_Mark: TypeAlias = tuple[int, int, int, int]


class TokenFile:
    """The tokens in the current content of a file; the previous tokens while it cannot be used. Not thread-safe.

    Args:
        path: the file.
        clock_s: a monotonic clock, in seconds.

    Raises:
        ConfigurationError: the file cannot be read, or is malformed.
    """

    def __init__(self, path: Path, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock_s = clock_s
        # Taken before the file is read, so that a change in between is not missed but read later.
        self._mark = _mark_of(path)
        self._tokens = read_tokens(path)
        self._checked_s = clock_s()
        self._reason = ""

    def current(self) -> tuple[Token, ...]:
        """Return the tokens; the file is checked for changes at most once a second."""
        now_s = self._clock_s()
        if now_s - self._checked_s >= _CHECK_EVERY_S:
            self._checked_s = now_s
            self._reload_if_changed()
        return self._tokens

    def _reload_if_changed(self) -> None:
        mark, before = _mark_of(self._path), self._reason
        self._reason = ""
        if mark == self._mark:
            return
        try:
            self._tokens = read_tokens(self._path)
        except ConfigurationError as error:
            # The mark stays as it is, so that the file is read again in a second, even if it has not changed.
            self._reason = str(error)
            if self._reason != before:
                _log.error("keeping the previous tokens: %s", error)
            return
        self._mark = mark
        _log.info("reloaded the tokens: %d are valid", len(self._tokens))


def _mark_of(path: Path) -> _Mark | None:
    """Return a value that changes when the file is written, replaced or made readable; None if the file is missing."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
