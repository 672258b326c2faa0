"""A table source in a separate process, to be killed: ``table_process.py SETTINGS_AS_JSON``.

This is not a test but a program that tests start. DIE_AT=step:n kills it, as kill -9 does, when it comes to that step
for the n-th time. It prints its notices, and runs until it is killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from typing import Any

from kafka_replica.producer.notices.notices import Notice
from kafka_replica.producer.postgres import TableSource, TableSourceSettings


class CrashingTableSource(TableSource):
    """Die at a step."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._come_by: Counter[str] = Counter()
        self._step = self._die_at

    def _die_at(self, name: str) -> None:
        self._come_by[name] += 1
        step, _, times = os.environ.get("DIE_AT", "").partition(":")
        if name == step and self._come_by[name] == int(times or 1):
            os.kill(os.getpid(), signal.SIGKILL)


def tell(notice: Notice) -> None:
    """Print one line."""
    print(type(notice).__name__, notice, flush=True)


if __name__ == "__main__":
    CrashingTableSource(TableSourceSettings(**json.loads(sys.argv[1])), observers=[tell]).run()
