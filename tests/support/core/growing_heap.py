"""Measure the growth of the heap in a thread that creates objects; for a process of its own."""

from __future__ import annotations

import time
from pathlib import Path
from threading import enumerate as running_threads

from kafka_replica.common import heap
from kafka_replica.common.heap import GrowingHeap

_MB = 1 << 20
_PATIENCE_S = 60.0
_OBJECT_BYTES = 1_024 + 48
"""The size of an object of :func:`_objects`, with its header and that of its block in the heap."""


def page_faults() -> list[int]:
    """Return how often new objects were written to memory that was not there: without growth, then three times with."""
    grown, kept = GrowingHeap(), []
    before = _faults()
    kept += _objects(16_000)
    found = [_faults() - before]
    for _ in range(3):
        grown.grow(8 * _MB)
        _wait_for_pages()
        before = _faults()
        kept += _objects(7_000)
        found.append(_faults() - before)
    assert all(one == bytes(1_024) for one in kept)
    return found


def memory_ahead() -> list[float]:
    """Return the MB of new objects, those resident when more were expected, and once no more are expected."""
    grown, kept = GrowingHeap(), []
    grown.grow(_MB)
    grown.grow(0)
    _wait_for_pages()
    before_mb = resident_mb()
    for _ in range(5):
        grown.grow(32 * _MB)
        kept += _objects(30_000)
    _wait_for_pages()
    ahead_mb = resident_mb() - before_mb
    grown.grow(0)
    return [len(kept) * _OBJECT_BYTES / _MB, ahead_mb, resident_mb() - before_mb]


def memory_in_python() -> list[float]:
    """Return the MB that are resident more than before, after half a gigabyte was grown without the compiled module."""
    setattr(heap, "HEAP", None)  # noqa: B010 - the module does not export it
    grown, before_mb = GrowingHeap(), resident_mb()
    for _ in range(8):
        grown.grow(64 * _MB)
    return [resident_mb() - before_mb]


def resident_mb() -> float:
    """Return the resident set of this process."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def _objects(count: int) -> list[bytes]:
    return [bytes(bytearray(1_024)) for _ in range(count)]


def _faults() -> int:
    """Return how often this thread wrote to memory that the system had not provided yet."""
    import resource

    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt


def _wait_for_pages() -> None:
    """Wait until no thread provides memory."""
    until_s = time.monotonic() + _PATIENCE_S
    while any(thread.name == "kafka-replica-heap" for thread in running_threads()):
        assert time.monotonic() < until_s
        time.sleep(0.01)
