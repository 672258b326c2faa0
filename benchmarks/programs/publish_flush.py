"""A full flush: all content of the outbox in one transaction, and the memory that it takes.

    publish_flush BOOTSTRAP TOPIC RECORDS VALUE_BYTES DATABASE

Everything is recorded and published once in advance; then the flush is requested, and its time counts until it is
marked as sent.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time

from benchmarks.programs.common import key_of, resident_bytes, tell
from kafka_replica.producer import ProducerSettings, Put, StructureProducer
from kafka_replica.producer.notices.notices import Arrival, Notice

_TRANSACTION_RECORDS = 20
_LIMIT_S = 500


class Peak:
    """The peak of the resident set during a measurement, sampled a hundred times a second."""

    def __init__(self) -> None:
        self.bytes = resident_bytes()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ending.wait(0.01):
            self.bytes = max(self.bytes, resident_bytes())

    def end(self) -> int:
        """End the measurement; return the peak."""
        self._ending.set()
        self._thread.join()
        return self.bytes


def main() -> None:
    """Record, publish, flush."""
    bootstrap, topic, records, value_bytes, database = *sys.argv[1:3], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    arrived = threading.Condition()
    last = [0]

    def listen(notice: Notice) -> None:
        if isinstance(notice, Arrival):
            with arrived:
                last[0] = notice.tx_id
                arrived.notify_all()

    def wait_for(tx_id: int) -> None:
        with arrived:
            if not arrived.wait_for(lambda: last[0] >= tx_id, _LIMIT_S):
                raise TimeoutError(f"not all was sent: {producer.status()}")

    settings = ProducerSettings(topic, {"bootstrap.servers": bootstrap}, database, prefix=topic, first_start="resume")
    producer = StructureProducer(settings, observers=[listen])
    dice = random.Random(3)
    recorded: list[int] = []
    for first in range(0, records, _TRANSACTION_RECORDS):
        numbers = range(first, min(first + _TRANSACTION_RECORDS, records))
        with producer.engine.begin() as connection:
            recorded = producer.record(connection, [Put(key_of(each), dice.randbytes(value_bytes)) for each in numbers])
    with producer:
        wait_for(recorded[-1])
        idle_bytes, peak, began_s = resident_bytes(), Peak(), time.perf_counter()
        wait_for(producer.flush()[0])
        took_s = time.perf_counter() - began_s
        above_mb = (peak.end() - idle_bytes) / 1e6
    tell(
        what="full flush", records=records, mb=records * value_bytes / 1e6, s=took_s, idle_mb=idle_bytes / 1e6,
        above_mb=above_mb,
    )  # fmt: skip
    os._exit(0)


if __name__ == "__main__":
    main()
