"""A bootstrap of ours, until it is ready; then what it holds in memory.

replica BOOTSTRAP TOPIC EVIDENCE
"""

from __future__ import annotations

import os
import sys
import time

from benchmarks.programs.common import resident_bytes, tell
from kafka_replica import Replica

_SETTLES_S = 0.5  # the last fetch is let go of


def main() -> None:
    """Starts, waits until ready, says how long it took and what it holds."""
    bootstrap, topic, evidence = sys.argv[1:4]
    before_bytes = resident_bytes()
    began_s = time.perf_counter()
    replica = Replica({"bootstrap.servers": bootstrap}, topic, evidence=evidence).start()  # type: ignore[arg-type]
    snapshot = replica.wait_ready(300)
    took_s, cpu_s = time.perf_counter() - began_s, time.process_time()
    time.sleep(_SETTLES_S)
    held_bytes = resident_bytes() - before_bytes
    tell(what=f"replica, {evidence}", keys=len(snapshot), s=took_s, cpu_s=cpu_s, rss=held_bytes)
    os._exit(0)  # freeing half a million records is not what is measured


if __name__ == "__main__":
    main()
