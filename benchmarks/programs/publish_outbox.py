"""The outbox: recording transactions, then publishing them.

    publish_outbox BOOTSTRAP TOPIC TRANSACTIONS DATABASE

TRANSACTIONS is the number per turn: some of them are recorded one by one for another producer, which never runs, to
measure the cost of recording; then all are recorded in one step for the running producer, so that it finds them
together. Publishing counts from the beginning of the first transaction until the last is marked as sent in the
database.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from itertools import count, islice
from typing import Any

from benchmarks.programs.structures import structures
from benchmarks.programs.turns import take_turns
from kafka_replica.producer import ProducerSettings, Put, StructureProducer
from kafka_replica.producer.notices.notices import Arrival, Notice, SendStart
from kafka_replica.producer.outbox import Outbox

_LIMIT_S = 300
_ONE_BY_ONE = 20


class Clock:
    """The times when the first transaction of a turn was begun, and when the last was recorded as sent."""

    def __init__(self) -> None:
        self.first = self.last = 0
        self.began = self.ended = (0.0, 0.0)
        self.done = threading.Event()

    def listen(self, notice: Notice) -> None:
        """Note the time of a notice from the producer."""
        if isinstance(notice, SendStart) and notice.tx_id == self.first:
            self.began = time.perf_counter(), time.process_time()
        elif isinstance(notice, Arrival) and notice.tx_id == self.last:
            self.ended = time.perf_counter(), time.process_time()
            self.done.set()


def main() -> None:
    """Record and send transactions in turns."""
    bootstrap, topic, transactions, database = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    clock = Clock()
    settings = ProducerSettings(topic, {"bootstrap.servers": bootstrap}, database, prefix=topic, first_start="resume")
    producer = StructureProducer(settings, observers=[clock.listen])
    other = Outbox("other")
    with producer.engine.begin() as connection:
        other.create(connection, topic=topic)
    numbers = count(1)

    def turn() -> dict[str, Any]:
        todo = {
            tx_id: [Put(key, value) for key, value in structures(tx_id)]
            for tx_id in (next(numbers) for _ in range(transactions))
        }
        began_s = time.perf_counter()
        for puts in islice(todo.values(), _ONE_BY_ONE):
            with producer.engine.begin() as connection:
                other.record(connection, puts)
        record_s = (time.perf_counter() - began_s) * len(todo) / min(_ONE_BY_ONE, len(todo))
        clock.first, clock.last = min(todo), max(todo)
        clock.done.clear()
        with producer.engine.begin() as connection:
            for puts in todo.values():
                producer.record(connection, puts)
        if not clock.done.wait(_LIMIT_S):
            raise TimeoutError(f"not all was sent: {producer.status()}")
        took = [ended - began for began, ended in zip(clock.began, clock.ended, strict=True)]
        return {"s": took[0], "cpu_s": took[1], "record_s": record_s}

    with producer:
        take_turns(turn)
        os._exit(0)


if __name__ == "__main__":
    main()
