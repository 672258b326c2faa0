"""A producer in a process of its own, to be killed: ``relay_process.py SETTINGS_AS_JSON``.

Not a test: a program that tests start. DIE_AT=step:n kills it, as kill -9 does, when it comes to that step for the
n-th time. It prints what it is told, and runs until SIGTERM.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading

from kafka_replica.producer.notices import Notice
from kafka_replica.producer.service import ProducerSettings, StructureProducer


class Mortal(StructureProducer):
    """Dies at a step."""

    _left = 0

    def _step(self, name: str) -> None:
        step, _, times = os.environ.get("DIE_AT", "").partition(":")
        if name == step:
            self._left += 1
            if self._left == int(times or 1):
                os.kill(os.getpid(), signal.SIGKILL)


def tell(notice: Notice) -> None:
    """One line."""
    print(type(notice).__name__, notice, flush=True)


def main() -> None:
    """Publishes until told to end."""
    ending = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ending.set())
    settings = ProducerSettings(**json.loads(sys.argv[1]))
    with Mortal(settings, observers=[tell]):
        ending.wait()


if __name__ == "__main__":
    main()
