"""The heap grows ahead of the objects that are created in it: fewer interruptions, no memory that stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from kafka_replica.common.compiled import HEAP
from support.paths import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="NOT TESTED: this is about Linux")
needs_module = pytest.mark.skipif(HEAP is None, reason="NOT TESTED: the compiled module was not built")
MB = 1 << 20
_PROGRAM = """
import json, sys
from support.core.growing_heap import {name}
from threading import Thread

found = []
thread = Thread(target=lambda: found.append({name}()))
thread.start()
thread.join()
print(json.dumps(found[0]))
"""


def measured(name: str) -> list[float]:
    """Return what a function measures in a thread, which has a heap of its own, of a process that has no other."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(name=name)],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    found: list[float] = json.loads(done.stdout)
    return found


@pytest.mark.thorough
@needs_module
def test_objects_get_memory_that_is_there() -> None:
    """Objects that are created after the heap has grown cause few page faults; without it, one for each 4 KiB."""
    without, *faults = measured("page_faults")
    assert without > 3_000
    assert max(faults) < without / 8


@pytest.mark.thorough
@needs_module
def test_nothing_stays() -> None:
    """Once the steps are small, the memory provided ahead is given back."""
    objects_mb, ahead_mb, after_mb = measured("memory_ahead")
    assert ahead_mb > objects_mb + 25
    assert after_mb < objects_mb + 15


@pytest.mark.thorough
def test_without_the_module() -> None:
    """Half a gigabyte that the heap has grown in Python is not resident."""
    (grown_mb,) = measured("memory_in_python")
    assert grown_mb < 30


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
