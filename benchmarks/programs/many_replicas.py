"""Many replicas of one topic, in this process: time until all are ready, memory, and processor time while idle.

many_replicas BOOTSTRAP TOPIC REPLICAS BROKER_PID
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack

import psutil

from benchmarks.programs.common import resident_bytes, tell
from kafka_replica import Replica

_IDLE_S = 5.0


def main() -> None:
    """Start all, wait until the last is ready, and measure this process and the broker while nothing is written."""
    bootstrap, topic, replicas, broker_pid = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    broker = psutil.Process(broker_pid)
    before_bytes, began_s = resident_bytes(), time.perf_counter()
    with ExitStack() as closing:
        started = [closing.enter_context(Replica({"bootstrap.servers": bootstrap}, topic)) for _ in range(replicas)]
        for replica in started:
            replica.wait_ready(300)
        took_s, held_bytes = time.perf_counter() - began_s, resident_bytes() - before_bytes
        own_s, broker_s = time.process_time(), sum(broker.cpu_times()[:2])
        time.sleep(_IDLE_S)
        tell(
            what=f"{replicas} replicas",
            s=took_s,
            rss=held_bytes,
            idle_cpu=(time.process_time() - own_s) / _IDLE_S,
            idle_broker_cpu=(sum(broker.cpu_times()[:2]) - broker_s) / _IDLE_S,
        )
        sys.stdout.flush()
        os._exit(0)


if __name__ == "__main__":
    main()
