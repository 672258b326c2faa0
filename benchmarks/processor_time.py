"""The processor time of processes, as Linux counts it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int) -> float:
    """Return the processor time of a process and of its children that run, in seconds."""
    return sum(_ticks(each) for each in (pid, *_children(pid))) / _TICKS_PER_S


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(each) for task in tasks for each in (task / "children").read_text(encoding="utf-8").split()]
