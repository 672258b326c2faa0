"""The memory of a full flush: one transaction, written over an existing state, followed by a replica.

    rocks_flush BOOTSTRAP TOPIC FOLDER RECORDS

The program follows TOPIC, prints READY, and runs until RECORDS were read in one version; then it prints the peak memory
above idle.
"""

from __future__ import annotations

import os
import sys
import threading
import time

from benchmarks.programs.common import resident_bytes, tell
from kafka_replica import Replica, RocksStore

_POLL_INTERVAL_S = 0.01


def main() -> None:
    """Follow the topic, and watch the memory of this process."""
    bootstrap, topic, folder, records = sys.argv[1:5]
    replica = Replica({"bootstrap.servers": bootstrap}, topic, RocksStore(folder)).start()
    replica.wait_ready(300)
    time.sleep(0.5)
    idle_bytes = peak_bytes = resident_bytes()
    version = replica.snapshot().version
    over = threading.Event()

    def watch() -> None:
        nonlocal peak_bytes
        while not over.wait(_POLL_INTERVAL_S):
            peak_bytes = max(peak_bytes, resident_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    sys.stdout.write("READY\n")
    sys.stdout.flush()
    give_up_s = time.monotonic() + 600
    while replica.snapshot().version == version and time.monotonic() < give_up_s:
        time.sleep(0.05)
    over.set()
    watcher.join()
    snapshot = replica.snapshot()
    keys = len(snapshot)
    tell(
        what="full flush, on disk",
        version=snapshot.version - version,
        keys=keys,
        records=int(records),
        idle_mb=idle_bytes / 1e6,
        peak_mb=peak_bytes / 1e6,
        above_mb=(peak_bytes - idle_bytes) / 1e6,
    )
    replica.close()
    os._exit(0)


if __name__ == "__main__":
    main()
