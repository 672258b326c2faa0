"""Log lines of librdkafka in Python's logging: the same trouble once a minute, not thirty times a second."""

from __future__ import annotations

import logging
import re
import time
from typing import Final

_AGAIN_AFTER_S: Final = 60.0
_NUMBERS: Final = re.compile(r"\d+")


class _OnceInAWhile(logging.Filter):
    """Lets a line pass that was not said for a minute; lines that differ in numbers alone are the same."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        now_s = time.monotonic()
        line = _NUMBERS.sub("", record.getMessage())
        if now_s - self._said.get(line, -_AGAIN_AFTER_S) < _AGAIN_AFTER_S:
            return False
        if len(self._said) > 1000:
            self._said.clear()
        self._said[line] = now_s
        return True


librdkafka_log = logging.getLogger("kafka_replica.librdkafka")
librdkafka_log.addFilter(_OnceInAWhile())
