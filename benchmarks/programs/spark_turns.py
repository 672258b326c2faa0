"""Frames executed in turn by Spark, with the best time of each."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import psutil
from pyspark.sql import DataFrame, SparkSession

_WARM: Final = 3


class Turns:
    """A runner that executes the compared tasks in turn, and keeps the best time of each."""

    def __init__(self, spark: SparkSession, passes: int) -> None:
        jvm: Any = spark._jvm  # noqa: SLF001 - nothing else tells
        pid = jvm.java.lang.ProcessHandle.current().pid()
        self._jvm, self._passes = psutil.Process(pid), passes

    def best(self, **frames: DataFrame) -> tuple[dict[str, float], dict[str, float]]:
        """Return the best wall and processor seconds of each frame's execution, result discarded, after a warm-up."""
        runs = {name: partial(_run, frame) for name, frame in frames.items()}
        for run in [*runs.values()] * _WARM:
            run()
        taken = [{name: self._timed(run) for name, run in runs.items()} for _ in range(self._passes)]
        walls, cpus = ({name: min(one[name][which] for one in taken) for name in runs} for which in (0, 1))
        return walls, cpus

    def _timed(self, run: Callable[[], None]) -> tuple[float, float]:
        before, start = self._jvm.cpu_times(), time.perf_counter()
        run()
        wall, after = time.perf_counter() - start, self._jvm.cpu_times()
        return wall, after.user + after.system - before.user - before.system


def _run(df: DataFrame) -> None:
    df.write.format("noop").mode("overwrite").save()
