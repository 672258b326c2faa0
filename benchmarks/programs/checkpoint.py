"""A memory store with a checkpoint file: a bootstrap if the file does not exist yet, otherwise a start from the file.

checkpoint BOOTSTRAP TOPIC FILE

The program measures the time from before the store is created until the replica is ready; then, separately, the time to
close the store, which writes the file.
"""

from __future__ import annotations

import os
import sys
import time

import kafka_replica.stores.checkpoint_file  # noqa: F401 - imports are done
from benchmarks.programs.common import resident_bytes, tell
from kafka_replica import MemoryStore, Replica


def main() -> None:
    """Start, wait until ready, close; print the time of each, and the number of records read."""
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
    os._exit(0)  # the time to free half a million records must not count


if __name__ == "__main__":
    main()
