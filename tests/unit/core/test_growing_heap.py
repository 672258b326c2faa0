"""The heap grows ahead of the objects that are created in it: fewer interruptions, no memory that stays."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from threading import enumerate as running_threads

import pytest

from kafka_replica.common import heap
from kafka_replica.common.compiled import HEAP
from kafka_replica.common.heap import GrowingHeap

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="NOT TESTED: this is about Linux")
needs_module = pytest.mark.skipif(HEAP is None, reason="NOT TESTED: the compiled module was not built")
MB = 1 << 20
_PATIENCE_S = 60.0


def faults() -> int:
    """Return how often this thread wrote to memory that the system had not provided yet."""
    import resource

    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt


def resident_mb() -> float:
    """Return the resident set of this process."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def in_a_thread(function: Callable[[], None]) -> None:
    """Run a function in a thread of its own, which has a heap of its own."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            function()
        except BaseException as error:  # noqa: BLE001 - raised again below
            raised.append(error)

    thread = Thread(target=run)
    thread.start()
    thread.join()
    for error in raised:
        raise error


@needs_module
def test_objects_get_memory_that_is_there() -> None:
    """Objects that are created after the heap has grown cause few page faults; without it, one for each 4 KiB."""

    def work() -> None:
        grown, kept = GrowingHeap(), []
        # The heap of a thread that has ended is used again: what is free in it is taken first.
        first = [bytes(bytearray(1024)) for _ in range(60_000)]
        before = faults()
        kept += [bytes(bytearray(1024)) for _ in range(16_000)]
        without = faults() - before
        for _ in range(3):
            grown.grow(8 * MB)
            wait_for_pages()
            before = faults()
            kept += [bytes(bytearray(1024)) for _ in range(7_000)]
            assert faults() - before < without / 8
        assert without > 3_000
        assert all(one == bytes(1024) for one in (*first, *kept))

    in_a_thread(work)


def wait_for_pages() -> None:
    """Wait until no thread provides memory."""
    until_s = time.monotonic() + _PATIENCE_S
    while any(thread.name == "kafka-replica-heap" for thread in running_threads()):
        assert time.monotonic() < until_s
        time.sleep(0.01)


@needs_module
def test_nothing_stays() -> None:
    """Once the steps are small, the memory provided ahead is given back."""

    def work() -> None:
        grown = GrowingHeap()
        grown.grow(MB)
        grown.grow(0)
        wait_for_pages()
        kept = [bytes(bytearray(1024)) for _ in range(30_000)]  # what was free of the heap is in use
        before_mb = resident_mb()
        for _ in range(5):
            grown.grow(32 * MB)
            kept += [bytes(bytearray(1024)) for _ in range(30_000)]
        wait_for_pages()
        assert resident_mb() - before_mb > 5 * 30 + 25
        grown.grow(0)
        assert resident_mb() - before_mb < 5 * 30 + 20

    gc.collect()
    in_a_thread(work)


def test_without_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a gigabyte that the heap has grown in Python is not resident."""
    monkeypatch.setattr(heap, "HEAP", None)
    grown, before_mb = GrowingHeap(), resident_mb()
    for _ in range(8):
        grown.grow(64 * MB)
    assert resident_mb() - before_mb < 30


@needs_module
def test_wrong_arguments_are_refused() -> None:
    """Another object than a reserve, or an impossible size, is an error; a reserve can be released twice."""
    assert HEAP is not None
    for function in (HEAP.populate, HEAP.release):
        with pytest.raises(ValueError, match="PyCapsule"):
            function(object())
    with pytest.raises(ValueError, match="negative"):
        HEAP.reserve(-1)
    with pytest.raises(TypeError):
        HEAP.reserve("8")  # type: ignore[arg-type]
    for size in (0, 1, 100_000, 3 * MB):
        reserve = HEAP.reserve(size)
        HEAP.populate(reserve)
        HEAP.release(reserve)
        HEAP.release(reserve)
        HEAP.populate(reserve)
