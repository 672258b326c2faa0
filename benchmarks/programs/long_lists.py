"""Validation against 500,000 codes on Spark: all in one list, and spread over 130 coded dimensions.

    python -m benchmarks.programs.long_lists ROWS

The program prints for each of the two the seconds until the plan is ready, until it has run (the second time), and of
reading alone; the characters of the plan as Spark writes it out; and the growth of the driver's heap, in MB.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from benchmarks.observations import STRUCTURE, snapshot_of, write_rows
from benchmarks.programs.common import tell
from kafka_replica.data.validation import compile_rules
from kafka_replica.sdmx import Structures
from kafka_replica_spark import session, validate

_SHAPES: Final = {"one": [500_000, *[10] * 10], "many": [*[38_000] * 13, *[50] * 117]}
_ALONE: Final = {"duplicate-key": "off", "attribute-differs": "off"}


def _main(spark: SparkSession, folder: Path, rows: int) -> None:
    tell(**{name: _measured(spark, folder / f"{name}.parquet", sizes, rows) for name, sizes in _SHAPES.items()})


def _measured(spark: SparkSession, file: Path, sizes: Sequence[int], rows: int) -> dict[str, float]:
    write_rows(file, rows, sizes)
    df = spark.read.parquet(str(file))
    rules = compile_rules(Structures(snapshot_of(sizes)), STRUCTURE, rules=_ALONE)
    before_mb, start_s = _heap_mb(spark), time.perf_counter()
    checked = validate(df, rules)
    execution: Any = checked._jdf.queryExecution()  # noqa: SLF001 - nothing else tells
    execution.executedPlan()
    planned_s = time.perf_counter() - start_s
    return {
        "planned_s": planned_s, "heap_mb": _heap_mb(spark) - before_mb, "plan_chars": len(execution.toString()),
        "run_s": _run_s(checked), "scan_s": _run_s(df),
    }  # fmt: skip


def _run_s(df: DataFrame) -> float:
    def once() -> float:
        start_s = time.perf_counter()
        df.write.format("noop").mode("overwrite").save()
        return time.perf_counter() - start_s

    once()
    return once()


def _heap_mb(spark: SparkSession) -> float:
    jvm: Any = spark._jvm  # noqa: SLF001 - nothing else tells
    jvm.java.lang.System.gc()
    runtime = jvm.java.lang.Runtime.getRuntime()
    return float(runtime.totalMemory() - runtime.freeMemory()) / 1e6


if __name__ == "__main__":
    made = session("long lists", **{"spark.driver.memory": "4g"})
    with tempfile.TemporaryDirectory() as name:
        _main(made, Path(name), int(sys.argv[1]))
    made.stop()
