"""The time from the return of a commit until its last record is visible, for single transactions of ten records.

    visible BOOTSTRAP TOPIC READER TRANSACTIONS

READER is ``wait_for`` or ``subscribe`` (a replica, markers), ``quiet`` (a replica, quiescence, ``wait_for``) or
``poll`` (a bare confluent-kafka consumer in another thread, which notes the time at which it has the last record).
Writer and reader share a process, and the clock.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

from confluent_kafka import Consumer, TopicPartition

from benchmarks.programs.common import SAME_WRITER, percentile, tell
from kafka_replica import Change, Position, Replica
from kafka_replica.producer import TransactionalProducer

Seen = Callable[[bytes, Position], float]
"""A function that takes the last record's value and position, and returns when it was seen, by ``perf_counter``."""

_WARM, _PAUSE_S, _GIVE_UP_S = 50, 0.01, 20.0
_LAST = b"k9"


def by_waiting(bootstrap: str, topic: str, boundaries: str) -> Seen:
    """Wait in the writer itself for the records it wrote."""
    replica = Replica({"bootstrap.servers": bootstrap}, topic, boundaries=boundaries).start()  # type: ignore[arg-type]
    replica.wait_ready(60)

    def seen(value: bytes, position: Position) -> float:
        snapshot = replica.wait_for(position, _GIVE_UP_S)
        at_s = time.perf_counter()
        if snapshot[_LAST].value != value:
            raise SystemExit(f"waited for {position} and a value differs from the value written")
        return at_s

    return seen


def by_listening(bootstrap: str, topic: str) -> Seen:
    """Let a listener note the time."""
    arrivals: SimpleQueue[tuple[bytes | None, float]] = SimpleQueue()

    def listen(change: Change) -> None:
        at_s = time.perf_counter()
        if not change.initial:
            arrivals.put((change.snapshot[_LAST].value, at_s))

    replica = Replica({"bootstrap.servers": bootstrap}, topic, boundaries="markers").start()
    replica.wait_ready(60)
    replica.subscribe(listen)
    return lambda value, _position: taken(arrivals, value)


def by_polling(bootstrap: str, topic: str) -> Seen:
    """Let a bare consumer note the time."""
    arrivals: SimpleQueue[tuple[bytes | None, float]] = SimpleQueue()
    at_end = threading.Event()

    def poll() -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": bootstrap, "group.id": "bare", "enable.auto.commit": False,
                "isolation.level": "read_committed", "enable.partition.eof": True,
                "fetch.queue.backoff.ms": 1, "fetch.wait.max.ms": 10,
            }
        )  # fmt: skip
        consumer.assign([TopicPartition(topic, 0, 0)])
        while True:
            first = consumer.poll(1)
            for message in [] if first is None else [first, *consumer.consume(1000, 0)]:
                if message.error() is not None:
                    at_end.set()
                elif message.key() == _LAST:
                    arrivals.put((message.value(), time.perf_counter()))

    threading.Thread(target=poll, daemon=True).start()
    at_end.wait(60)
    return lambda value, _position: taken(arrivals, value)


def taken(arrivals: SimpleQueue[tuple[bytes | None, float]], value: bytes) -> float:
    """Return when that value was seen."""
    while True:
        found, at_s = arrivals.get(timeout=_GIVE_UP_S)
        if found == value:
            return at_s


def main() -> None:
    """Write transactions, and wait for each."""
    bootstrap, topic, reader, count = *sys.argv[1:4], int(sys.argv[4])
    producer = TransactionalProducer({"bootstrap.servers": bootstrap, **SAME_WRITER}, topic, f"visible {reader}")
    readers: dict[str, Callable[[], Seen]] = {
        "wait_for": lambda: by_waiting(bootstrap, topic, "markers"),
        "quiet": lambda: by_waiting(bootstrap, topic, "quiescence"),
        "subscribe": lambda: by_listening(bootstrap, topic),
        "poll": lambda: by_polling(bootstrap, topic),
    }
    seen = readers[reader]()
    delays_ms = []
    for number in range(_WARM + count):
        value = b"%s %d %d" % (reader.encode(), os.getpid(), number)
        with producer.transaction() as transaction:
            for at in range(10):
                transaction.put(b"k%d" % at, value.ljust(200))
        returned_s = time.perf_counter()
        delays_ms.append((seen(value.ljust(200), transaction.committed.position) - returned_s) * 1e3)
        time.sleep(_PAUSE_S)
    p50, p99 = (percentile(delays_ms[_WARM:], share) for share in (0.5, 0.99))
    tell(what=f"visible, {reader}", transactions=count, p50_ms=p50, p99_ms=p99)
    os._exit(0)


if __name__ == "__main__":
    main()
