"""The delay under load: six writers that never pause, and one replica, or a bare consumer, that watches."""

from __future__ import annotations

import json
import subprocess
import time
from bisect import bisect_left
from typing import Any

from benchmarks.programs.common import percentile
from benchmarks.stage import Stage

_WRITERS, _LASTS_S, _WARM_S = 6, 10.0, 2.0
_CATCHES_UP_S = 3.0
_LIMIT_S = 120


class UnseenError(Exception):
    """A committed transaction never became visible."""


def load(stage: Stage) -> dict[str, float]:
    """Measure until a listener is notified, for both kinds of boundaries, and until a bare poll has the record."""
    poll, markers, quiet = (_delays(stage, reader) for reader in ("poll", "markers", "quiescence"))
    return {
        "load.poll": markers["p99_ms"] / poll["p99_ms"],
        "load.p50": markers["p50_ms"],
        "load.p99": markers["p99_ms"],
        "load.quiet_p99": quiet["p99_ms"],
    }


def _delays(stage: Stage, reader: str) -> dict[str, Any]:
    topic = stage.new_topic("load")
    witness = stage.start("witness", stage.bootstrap, topic, reader)
    assert witness.stdout is not None
    if witness.stdout.readline() != "ready\n":
        raise UnseenError(f"the reader ({reader}) that should look on ended before it was ready")
    writers = [
        stage.start("busy_writer", stage.bootstrap, topic, f"{topic}-{number}", _LASTS_S) for number in range(_WRITERS)
    ]
    written = [_line(writer) for writer in writers]
    time.sleep(_CATCHES_UP_S)
    seen = _line(witness)
    delays_ms = [delay for line in written for delay in _of_writer(line, seen["seen"])]
    p50, p99 = percentile(delays_ms, 0.5), percentile(delays_ms, 0.99)
    return stage.noted(
        {
            "what": f"six busy writers, {reader}", "transactions": len(delays_ms), "versions": seen["versions"],
            "events": seen["events"], "p50_ms": p50, "p99_ms": p99, "worst_ms": max(delays_ms),
        }
    )  # fmt: skip


def _line(process: subprocess.Popen[str]) -> dict[str, Any]:
    """End a program's input, wait for its exit, and return its output line."""
    output, _ = process.communicate(timeout=_LIMIT_S)
    if process.returncode:
        raise UnseenError(f"a program of the load ended with {process.returncode}: {process.args!r}")
    line: dict[str, Any] = json.loads(output.splitlines()[-1])
    return line


def _of_writer(line: dict[str, Any], seen: list[tuple[str, int, int]]) -> list[float]:
    """Return the delays of one writer's transactions, in ms, without the first seconds; 0 if seen before."""
    own = [(number, at_ns) for name, number, at_ns in seen if name == line["name"]]
    numbers = [number for number, _ in own]
    returned_ns: list[int] = line["returned_ns"]
    delays_ms = []
    for number, at_ns in enumerate(returned_ns):
        found = bisect_left(numbers, number)  # a version with a later transaction of this writer has this too
        if found == len(own):
            raise UnseenError(f"transaction {number} of {line['name']} was committed and never shown")
        if at_ns - returned_ns[0] > _WARM_S * 1e9:
            delays_ms.append(max(0.0, (own[found][1] - at_ns) / 1e6))
    return delays_ms
