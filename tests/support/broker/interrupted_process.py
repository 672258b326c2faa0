"""A durable replica that stops itself with SIGSTOP in the middle of reading a topic for the first time.

``interrupted_process.py BOOTSTRAP TOPIC FOLDER BOUNDARIES OFFSET``. This is a program that tests start. It stops when
it has read beyond the offset, once, until it gets SIGCONT. When it has everything in the topic it
prints, as JSON, all keys that it has ever shown, and how often it began again.
"""

from __future__ import annotations

import json
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from kafka_replica import Change, Replica, RocksStore
from kafka_replica.broker.reading.consumer import ConsumerReader
from kafka_replica.broker.reading.contract import FetchResult
from kafka_replica.broker.reading.marker_reader import MarkerReader


def stopping(read: Callable[[Any, float], FetchResult], offset: int) -> Callable[[Any, float], FetchResult]:
    """Return the method of a reader with a stop behind an offset."""
    stops = [signal.SIGSTOP]

    def read_and_stop(self: Any, timeout_s: float) -> FetchResult:
        fetched = read(self, timeout_s)
        if max(fetched.reading.positions.values(), default=0) >= offset and stops:
            signal.pthread_kill(threading.get_ident(), stops.pop())  # to this thread, which stops at once
        return fetched

    return read_and_stop


def main() -> None:
    """Read until everything is there, and print the result."""
    bootstrap, topic, folder, boundaries, offset = sys.argv[1:]
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    for reader in (ConsumerReader, MarkerReader):
        reader.read = stopping(reader.read, int(offset))  # type: ignore[method-assign, assignment]
    # Small fetches: records that are deleted meanwhile must not have been fetched before.
    config: dict[str, Any] = {"bootstrap.servers": bootstrap, "log_level": 0, "max.partition.fetch.bytes": 20_000}
    if boundaries == "quiescence":
        config["queued.max.messages.kbytes"] = 20
    shown: set[str] = set()
    versions: list[int] = []

    def hear(change: Change) -> None:
        shown.update(key.decode() for key in change.snapshot)
        versions.append(change.version)

    with Replica(config, topic, RocksStore(folder), boundaries=boundaries) as replica:  # type: ignore[arg-type]
        replica.subscribe(hear)
        replica.wait_ready(timeout_s=180)  # while it is stopped, too
        give_up_s = time.monotonic() + 60
        while replica.status().lag_records or versions[-1:] != [replica.snapshot().version]:
            assert time.monotonic() < give_up_s, replica.status()
            time.sleep(0.05)
        print(json.dumps({"shown": sorted(shown), "rebuilds": replica.status().counts.rebuilds}), flush=True)


if __name__ == "__main__":
    main()
