"""A durable replica in a separate process, to be killed: ``durable_process.py BOOTSTRAP TOPIC FOLDER BOUNDARIES``.

This is not a test but a program that tests start. It reports when it is ready, and runs until SIGTERM or a kill.
"""

from __future__ import annotations

import signal
import sys
import threading
from typing import Any

from kafka_replica import Replica, RocksStore


def main() -> None:
    """Follow until ended."""
    bootstrap, topic, folder, boundaries = sys.argv[1:]
    ending = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ending.set())
    config: dict[str, Any] = {"bootstrap.servers": bootstrap, "log_level": 0}
    # Small buffers, so that kills also hit the writing of RocksDB's files.
    store = RocksStore(folder, write_buffer_bytes=1 << 16)
    with Replica(config, topic, store, boundaries=boundaries) as replica:  # type: ignore[arg-type]
        snapshot = replica.wait_ready(timeout_s=60)
        print("ready", replica.status().counts.records, snapshot.version, replica.incarnation, flush=True)
        ending.wait()


if __name__ == "__main__":
    main()
