"""Data with dates scanned and mapped, by Spark and by polars.

    date_maps ROWS PASSES

The data is CSV: a frequency, a date of about twenty years, a code, and a value. ``plain`` maps months (``MM-yyyy``) to
quarters; ``by_frequency`` writes each date in the format of its row's frequency, one of eleven. The program prints
seconds per task: ``scan``, ``plain`` and ``by_frequency``, for Spark with the processor time of the JVM; and the nodes
of Spark's plans, and the bytes of the longest Java method.
"""

from __future__ import annotations

import csv
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import polars as pl
from pyspark.sql import DataFrame, SparkSession

from benchmarks.observations.dates import FREQUENCIES, MAPS, dates_snapshot
from benchmarks.programs.common import tell
from benchmarks.programs.spark_turns import Turns
from kafka_replica.data.mapping import MapPlan, compile_map
from kafka_replica.data.polars import transform as transform_locally
from kafka_replica.sdmx import Structures
from kafka_replica_spark import session, transform

_HEADER: Final = ("FREQ", "WHEN", "A", "OBS_VALUE")


def _write_rows(path: Path, rows: int) -> None:
    dice = random.Random(1)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_HEADER)
        for _ in range(rows):
            date = f"{dice.randint(1, 12):02}-{dice.randint(2000, 2019)}"
            code, value = f"C{dice.randint(0, 9999)}", f"{dice.random() * 100:.2f}"
            writer.writerow((dice.choice(FREQUENCIES), date, code, value))


def _on_spark(spark: SparkSession, file: Path, plans: dict[str, MapPlan], passes: int) -> dict[str, Any]:
    df = spark.read.csv(str(file), header=True, schema=", ".join(f"{name} string" for name in _HEADER))
    frames: dict[str, DataFrame] = {"scan": df}
    planned_s: dict[str, float] = {}
    for name, plan in plans.items():
        started = time.perf_counter()
        frames[name] = transform(df, plan)
        planned_s[name] = time.perf_counter() - started
    walls, cpus = Turns(spark, passes).best(**frames)
    sizes = {name: plan_size(frame) for name, frame in frames.items()}
    methods = {name: longest_method(frame) for name, frame in frames.items()}
    return {"wall": walls, "cpu": cpus, "planned_s": planned_s, "nodes": sizes, "method_bytes": methods}


def _locally(file: Path, plans: dict[str, MapPlan], passes: int) -> dict[str, dict[str, float]]:
    taken: dict[str, list[tuple[float, float]]] = {}
    for _ in range(passes):
        for name in ("scan", *plans):
            wall, cpu = time.perf_counter(), time.process_time()
            frame = pl.read_csv(file, infer_schema=False)
            if name in plans:
                transform_locally(frame, plans[name])
            taken.setdefault(name, []).append((time.perf_counter() - wall, time.process_time() - cpu))
    return {
        kind: {name: min(time_[place] for time_ in times) for name, times in taken.items()}
        for place, kind in enumerate(("wall", "cpu"))
    }


def plan_size(df: DataFrame) -> int:
    """Return the number of nodes of the expressions in a frame's optimized plan."""
    plan: Any = df._jdf.queryExecution().optimizedPlan()  # noqa: SLF001 - Python has no name for it
    return _nodes(plan)


def _nodes(plan: Any) -> int:
    expressions, children = plan.expressions(), plan.children()
    own = sum(_of_expression(expressions.apply(number)) for number in range(expressions.size()))
    return own + sum(_nodes(children.apply(number)) for number in range(children.size()))


def _of_expression(one: Any) -> int:
    children = one.children()
    return 1 + sum(_of_expression(children.apply(number)) for number in range(children.size()))


def longest_method(df: DataFrame) -> int:
    """Return the bytes of the longest Java method of a plan's stages; Java compiles none of more than 8,000."""
    jvm: Any = df.sparkSession._jvm  # noqa: SLF001
    debug = getattr(getattr(jvm.org.apache.spark.sql.execution.debug, "package$"), "MODULE$")
    stages = debug.codegenStringSeq(df._jdf.queryExecution().executedPlan())  # noqa: SLF001
    return max((stages.apply(number)._3().maxMethodCodeSize() for number in range(stages.size())), default=0)  # noqa: SLF001


def _main(spark: SparkSession, folder: Path, rows: int, passes: int) -> None:
    structures = Structures(dates_snapshot())
    plans = {name: compile_map(structures, urn, rules={"ambiguous-key": "off"}) for name, urn in MAPS.items()}
    file = folder / "dates.csv"
    _write_rows(file, rows)
    tell(rows=rows, spark=_on_spark(spark, file, plans, passes), local=_locally(file, plans, passes))


if __name__ == "__main__":
    made = session("benchmark", **{"spark.driver.memory": "2g"})
    with tempfile.TemporaryDirectory() as name:
        _main(made, Path(name), int(sys.argv[1]), int(sys.argv[2]))
    made.stop()
