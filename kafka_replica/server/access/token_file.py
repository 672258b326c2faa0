"""The file of tokens, which is read again when it has changed: tokens are added and revoked without a restart."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from kafka_replica.errors import ConfigurationError
from kafka_replica.server.access.policy import Token, read_tokens

_LOOK_EVERY_S: Final = 1.0
_log = logging.getLogger("kafka_replica.server")
_Mark: TypeAlias = tuple[int, int, int]


class TokenFile:
    """The tokens in a file as it is now; if the file has become unusable, the previous tokens. Not thread-safe.

    Args:
        path: the file.
        clock_s: a monotonic clock.

    Raises:
        ConfigurationError: the file cannot be read, or is malformed.
    """

    def __init__(self, path: Path, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock_s = clock_s
        # The mark is taken before the file is read: a change in between is read again, not missed.
        self._mark = _mark_of(path)
        self._tokens = read_tokens(path)
        self._looked_s = clock_s()

    def current(self) -> tuple[Token, ...]:
        """Return the tokens; the file is looked at once a second at most."""
        now_s = self._clock_s()
        if now_s - self._looked_s >= _LOOK_EVERY_S:
            self._looked_s = now_s
            self._look()
        return self._tokens

    def _look(self) -> None:
        mark = _mark_of(self._path)
        if mark == self._mark:
            return
        self._mark = mark
        try:
            self._tokens = read_tokens(self._path)
        except ConfigurationError as error:
            _log.error("keeping the previous tokens: %s", error)
            return
        _log.info("reloaded the tokens: %d are valid", len(self._tokens))


def _mark_of(path: Path) -> _Mark | None:
    """Return what differs when a file is written or replaced; None if it is missing."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
