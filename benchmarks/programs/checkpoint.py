"""A memory store with a checkpoint file: a bootstrap where there is none yet, a start from it where there is one.

checkpoint BOOTSTRAP TOPIC FILE

From before the store is made until the replica is ready; then, apart, how long closing takes, which writes the file.
"""

from __future__ import annotations

import os
import sys
import time

import kafka_replica.stores.checkpoint_file  # noqa: F401 - imports are done
from benchmarks.programs.common import resident_bytes, tell
from kafka_replica import MemoryStore, Replica


def main() -> None:
    """Starts, waits until ready, closes; says how long each took, and what was read."""
    bootstrap, topic, path = sys.argv[1:4]
    began_bytes, began_cpu_s, began_s = resident_bytes(), time.process_time(), time.perf_counter()
    store = MemoryStore(path, checkpoint_every_s=None)
    made_s = time.perf_counter() - began_s
    replica = Replica({"bootstrap.servers": bootstrap}, topic, store, boundaries="markers").start()
    snapshot = replica.wait_ready(300)
    ready_s, cpu_s, rss = (
        time.perf_counter() - began_s,
        time.process_time() - began_cpu_s,
        resident_bytes() - began_bytes,
    )
    closing_s = time.perf_counter()
    replica.close()
    closed_s = time.perf_counter() - closing_s
    tell(
        what="replica, checkpoint file",
        keys=len(snapshot),
        records=replica.status().counts.records,
        made_s=made_s,
        s=ready_s,
        cpu_s=cpu_s,
        rss=rss,
        close_s=closed_s,
    )
    os._exit(0)  # freeing half a million records is not what is measured


if __name__ == "__main__":
    main()
