"""A client that asks for the same thing again and again, as a process: ``python steady_client.py ADDRESS PATH``.

It ends when its standard input is closed, and prints its answers as JSON: pairs of status and milliseconds.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

Answers = list[tuple[int, float]]


@contextmanager
def steady_client(url: str, answers: Answers) -> Iterator[None]:
    """Let a client ask for a URL within the block; then its answers are in the list."""
    process = subprocess.Popen(
        [sys.executable, __file__, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield
    finally:
        output, _ = process.communicate(timeout=120)
    answers += [(status, took_ms) for status, took_ms in json.loads(output)]


def main(url: str) -> None:
    """Ask for a URL until standard input is closed."""
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    answers: Answers = []
    with httpx.Client(timeout=60) as client:
        while not ended.wait(0.02):
            began_s = time.perf_counter()
            status = client.get(url).status_code
            answers.append((status, (time.perf_counter() - began_s) * 1000))
    print(json.dumps(answers))


if __name__ == "__main__":
    main(sys.argv[1])
