"""A bootstrap of a replica until it is ready, and the memory it then holds.

replica BOOTSTRAP TOPIC BOUNDARIES [FOLDER]

With a folder the store is on disk, and continues from its existing content.
"""

from __future__ import annotations

import os
import sys
import time

from benchmarks.programs.common import resident_bytes, tell
from kafka_replica import Replica, RocksStore

_SETTLES_S = 0.5  # the last fetch is released by then


def main() -> None:
    """Start, wait until ready, print how long it took and how much memory the process holds."""
    bootstrap, topic, boundaries = sys.argv[1:4]
    folder = next(iter(sys.argv[4:]), None)
    if folder is not None:
        import kafka_replica.stores.rocks  # noqa: F401, PLC0415 - imports are done
    before_bytes = resident_bytes()
    began_s = time.perf_counter()
    store = None if folder is None else RocksStore(folder)
    replica = Replica({"bootstrap.servers": bootstrap}, topic, store, boundaries=boundaries).start()  # type: ignore[arg-type]
    snapshot = replica.wait_ready(300)
    took_s, cpu_s = time.perf_counter() - began_s, time.process_time()
    time.sleep(_SETTLES_S)
    held_bytes = resident_bytes() - before_bytes
    where = "" if folder is None else ", on disk"
    tell(
        what=f"replica, {boundaries}{where}",
        records=replica.status().counts.records,
        keys=len(snapshot),
        s=took_s,
        cpu_s=cpu_s,
        rss=held_bytes,
    )
    if folder is not None:
        replica.close()
    os._exit(0)  # the time to free half a million records must not count


if __name__ == "__main__":
    main()
