"""What the measured programs share: keys, percentiles, memory, the line of JSON at the end."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SAME_WRITER = {"linger.ms": 0, "compression.type": "none"}
"""Of everyone who writes while delays are measured, so that the writer is the same for all readers."""


def key_of(number: int) -> bytes:
    """A key like those of structures: 66 bytes, and what the GlobalKTable's program looks up."""
    return b"urn:sdmx:org.sdmx.infomodel.codelist.Codelist=AG%02d:CL_%06d(1.%d)" % (number % 50, number, number % 7)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which that share (0 to 1) of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def resident_bytes() -> int:
    """The resident set of this process now; 0 where the system does not say (other than Linux)."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def tell(**line: Any) -> None:
    """Prints the line that the process was run for."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()
