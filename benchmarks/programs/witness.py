"""A reader that notes when it saw each transaction of each busy writer: a replica's listener, or a bare consumer.

    witness BOOTSTRAP TOPIC READER

READER is ``markers`` or ``quiescence``, the boundaries of the replica, or ``poll``. The program prints "ready" when the
reader is ready, runs until its input ends, then prints [writer, number, time] in the order seen.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any, TypeAlias

from benchmarks.programs.common import tell
from benchmarks.programs.reference import consumer_of
from kafka_replica import Change, Replica

Seen: TypeAlias = list[tuple[str, int, int]]

_WRITER = b"writer "


def listen(bootstrap: str, topic: str, boundaries: str, seen: Seen) -> list[int]:
    """Let a replica's listener note each version; return the list with the number of versions of each change."""
    versions: list[int] = []

    def note(change: Change) -> None:
        now_ns = time.monotonic_ns()
        versions.append(change.conflated)
        for key in change.changed:
            if key.startswith(_WRITER):
                number = int(change.snapshot[key].value or b"-1")
                seen.append((key[len(_WRITER) :].decode(), number, now_ns))

    replica = Replica({"bootstrap.servers": bootstrap}, topic, boundaries=boundaries).start()  # type: ignore[arg-type]
    replica.wait_ready(60)
    replica.subscribe(note)
    return versions


def poll(bootstrap: str, topic: str, seen: Seen) -> list[int]:
    """Let a bare consumer at its best settings note each record, in a thread."""
    consumer = consumer_of(bootstrap, topic)
    at_end = threading.Event()

    def run() -> None:
        while True:
            first = consumer.poll(1)
            messages: list[Any] = [] if first is None else [first, *consumer.consume(500, 0)]
            for message in messages:
                if message.error() is not None:
                    at_end.set()
                elif message.key().startswith(_WRITER):
                    seen.append((message.key()[len(_WRITER) :].decode(), int(message.value()), time.monotonic_ns()))

    threading.Thread(target=run, daemon=True).start()
    at_end.wait(60)
    return []


def main() -> None:
    """Watch until the input ends."""
    bootstrap, topic, reader = sys.argv[1:4]
    seen: Seen = []
    versions = poll(bootstrap, topic, seen) if reader == "poll" else listen(bootstrap, topic, reader, seen)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    tell(what=f"witness, {reader}", seen=seen, versions=sum(versions), events=len(versions))
    os._exit(0)


if __name__ == "__main__":
    main()
