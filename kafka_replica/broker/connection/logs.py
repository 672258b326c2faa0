"""Pass librdkafka's log lines to Python's logging: a repeated line once a minute, not thirty times a second."""

from __future__ import annotations

import logging
import re
import time
from typing import Final

_AGAIN_AFTER_S: Final = 60.0
_NUMBERS: Final = re.compile(r"\d+")


class _RateLimit(logging.Filter):
    """A filter that passes a line once a minute; lines that differ only in numbers count as the same."""

    def __init__(self) -> None:
        super().__init__()
        self._passed_s: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        now_s = time.monotonic()
        line = _NUMBERS.sub("", record.getMessage())
        if now_s - self._passed_s.get(line, -_AGAIN_AFTER_S) < _AGAIN_AFTER_S:
            return False
        if len(self._passed_s) > 1000:
            self._passed_s.clear()
        self._passed_s[line] = now_s
        return True


librdkafka_log = logging.getLogger("kafka_replica.librdkafka")
librdkafka_log.addFilter(_RateLimit())
