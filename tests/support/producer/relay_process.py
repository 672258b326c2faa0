"""A producer in a separate process, to be killed: ``relay_process.py SETTINGS_AS_JSON``.

This is not a test but a program that tests start. DIE_AT=step:n kills it, as kill -9 does, when it comes to that step
for the n-th time; STOP_AT=step:n stops it there, as SIGSTOP does, until SIGCONT. FENCING=no disables fencing. The step
"answered" is within a commit, after Kafka's answer. It prints its notices, and runs until SIGTERM.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections import Counter
from contextlib import nullcontext
from typing import Any

from chaos.outbox.wrong import FencesNobody
from kafka_replica.broker.writing.writer import TransactionalWriter
from kafka_replica.producer.notices.notices import Notice
from kafka_replica.producer.service.structure_producer import ProducerSettings, StructureProducer


class CrashingProducer(StructureProducer):
    """Die, or stop, at a step."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._come_by: Counter[str] = Counter()
        super().__init__(*args, **kwargs)

    def _step(self, name: str) -> None:
        self._come_by[name] += 1
        for variable, end in (("DIE_AT", signal.SIGKILL), ("STOP_AT", signal.SIGSTOP)):
            step, _, times = os.environ.get(variable, "").partition(":")
            if name == step and self._come_by[name] == int(times or 1):
                lease = self._lease
                with lease._lock if lease is not None else nullcontext():  # not while the lease's row is locked
                    # To this thread: SIGSTOP to the process may reach another one, and this one continue meanwhile.
                    signal.pthread_kill(threading.get_ident(), end)


class Unfenced(CrashingProducer, FencesNobody):
    """A Kafka session without fencing."""


def tell(notice: Notice) -> None:
    """Print one line."""
    print(type(notice).__name__, notice, flush=True)


def main() -> None:
    """Publish until ended."""
    ending = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ending.set())
    settings = ProducerSettings(**json.loads(sys.argv[1]))
    kind = Unfenced if os.environ.get("FENCING") == "no" else CrashingProducer
    producer = kind(settings, observers=[tell])
    _note_answers(producer)
    with producer:
        ending.wait()


def _note_answers(producer: CrashingProducer) -> None:
    call = TransactionalWriter._call

    def noted(self: TransactionalWriter, doing: str, *args: Any) -> Any:
        found = call(self, doing, *args)
        if doing == "committing the transaction":
            producer._step("answered")
        return found

    TransactionalWriter._call = noted  # type: ignore[method-assign, assignment]


if __name__ == "__main__":
    main()
