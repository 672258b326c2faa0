"""A durable replica in a process of its own, to be killed: ``durable_process.py BOOTSTRAP TOPIC FOLDER BOUNDARIES``.

Not a test: a program that tests start. It says when it is ready, and runs until SIGTERM, or until it is killed.
"""

from __future__ import annotations

import signal
import sys
import threading
from typing import Any

from kafka_replica import Replica, RocksStore


def main() -> None:
    """Follows until told to end."""
    bootstrap, topic, folder, boundaries = sys.argv[1:]
    ending = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ending.set())
    config: dict[str, Any] = {"bootstrap.servers": bootstrap, "log_level": 0}
    # Small buffers: what is killed is also the writing of RocksDB's files.
    store = RocksStore(folder, write_buffer_bytes=1 << 16)
    with Replica(config, topic, store, boundaries=boundaries) as replica:  # type: ignore[arg-type]
        snapshot = replica.wait_ready(timeout_s=60)
        print("ready", replica.status().counts.records, snapshot.version, replica.incarnation, flush=True)
        ending.wait()


if __name__ == "__main__":
    main()
