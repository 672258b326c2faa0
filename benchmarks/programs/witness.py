"""A replica with one listener, which notes when it saw each transaction of each busy writer.

    witness BOOTSTRAP TOPIC BOUNDARIES

The program prints "ready" when the replica is ready, runs until its input ends, then prints [writer, number, time] in
the order seen.
"""

from __future__ import annotations

import os
import sys
import time

from benchmarks.programs.common import tell
from kafka_replica import Change, Replica

_WRITER = b"writer "


def main() -> None:
    """Listen until the input ends."""
    bootstrap, topic, boundaries = sys.argv[1:4]
    seen: list[tuple[str, int, int]] = []
    versions: list[int] = []

    def listen(change: Change) -> None:
        now_ns = time.monotonic_ns()
        versions.append(change.conflated)
        for key in change.changed:
            if key.startswith(_WRITER):
                number = int(change.snapshot[key].value or b"-1")
                seen.append((key[len(_WRITER) :].decode(), number, now_ns))

    replica = Replica({"bootstrap.servers": bootstrap}, topic, boundaries=boundaries).start()  # type: ignore[arg-type]
    replica.wait_ready(60)
    replica.subscribe(listen)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    tell(what=f"witness, {boundaries}", seen=seen, versions=sum(versions), events=len(versions))
    os._exit(0)


if __name__ == "__main__":
    main()
