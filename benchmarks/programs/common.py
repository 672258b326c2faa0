"""Functions that the measured programs share: keys, percentiles, memory, the line of JSON at the end."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SAME_WRITER = {"linger.ms": 0, "compression.type": "none"}
"""The settings of all writers in measurements of delays, so that the writer is the same for all readers."""


def key_of(number: int) -> bytes:
    """Return a key like those of structures: 66 bytes."""
    return b"urn:sdmx:org.sdmx.infomodel.codelist.Codelist=AG%02d:CL_%06d(1.%d)" % (number % 50, number, number % 7)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which that share (0 to 1) of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def resident_bytes() -> int:
    """Return the resident set of this process now, in bytes; 0 if the system does not report it (other than Linux)."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def tell(**line: Any) -> None:
    """Print the line with the results of the process."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()
