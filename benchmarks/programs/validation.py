"""Data of eleven coded dimensions scanned, and validated or mapped by Spark, in turn in one session.

    validation ROWS PASSES WHAT

WHAT is ``rows``, ``duplicates``, ``mapping``, ``parquet`` or ``csv``; each has a process of its own, so that what Java
compiles for one does not change another. The program prints seconds per task: ``scan``, and ``kept`` and
``violations``, ``kept`` and ``duplicates``, or ``mapping``; for ``parquet`` and ``csv`` ``kept`` and ``violations`` of
such a file. For ``rows`` it also prints them for smaller data and longer codelists, for the plot; ``local`` is polars,
``pandas`` a loop over rows, of a share of the rows. In addition to wall time it prints the processor time of the JVM,
which other processes disturb less.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import pandas as pd
import polars as pl
from pyspark.sql import DataFrame, SparkSession

from benchmarks.observations import MAP, SIZES, STRUCTURE, snapshot_of, write_rows
from benchmarks.programs.common import tell
from benchmarks.programs.spark_turns import Turns
from kafka_replica import Snapshot
from kafka_replica.data.mapping import compile_map
from kafka_replica.data.polars import validate as validate_locally
from kafka_replica.data.validation import Rules, compile_rules
from kafka_replica.sdmx import Structures
from kafka_replica_spark import session, transform, validate

_LOOP_ROWS: Final = 20_000
_ALONE: Final = {"duplicate-key": "off", "attribute-differs": "off"}
_CODES: Final = (10, 100, 1000, 10_000, 50_000)


def _rules(snapshot: Snapshot, **severities: str) -> Rules:
    return compile_rules(Structures(snapshot), STRUCTURE, rules={**_ALONE, **severities})


def _main(spark: SparkSession, folder: Path, rows: int, passes: int, what: str) -> None:
    turns = Turns(spark, passes)
    snapshot = snapshot_of(SIZES)
    file = folder / "rows.parquet"
    write_rows(file, rows, SIZES)
    df = spark.read.parquet(str(file))
    if what in {"parquet", "csv"}:
        of_file = df if what == "parquet" else _as_csv(spark, file, folder / "rows.csv")
        walls, cpus = turns.best(scan=of_file, **_checked(of_file, _rules(snapshot)))
        tell(wall=walls, cpu=cpus, rows=rows)
        return
    if what != "rows":
        walls, cpus = turns.best(scan=df, **_frames(what, df, snapshot))
        tell(wall=walls, cpu=cpus, rows=rows)
        return
    rules = _rules(snapshot)
    started = time.perf_counter()
    validate(df, rules)
    planned_s = time.perf_counter() - started
    walls, cpus = turns.best(scan=df, **_checked(df, rules))
    tell(
        wall=walls, cpu=cpus, planned_s=planned_s, rows=rows,
        by_rows=_by_rows(spark, turns, folder, rows, rules), by_codes=_by_codes(spark, turns, folder, rows),
        local_s=_local_s(file, rules), pandas_s=_pandas_s(file, rules) * rows / min(rows, _LOOP_ROWS),
    )  # fmt: skip


def _frames(what: str, df: DataFrame, snapshot: Snapshot) -> dict[str, DataFrame]:
    if what == "mapping":
        return {what: transform(df, compile_map(Structures(snapshot), MAP, rules={"ambiguous-key": "off"}))}
    unique = _rules(snapshot, **{"duplicate-key": "error"})
    return {"kept": validate(df, _rules(snapshot)), what: validate(df, unique)}


def _by_rows(spark: SparkSession, turns: Turns, folder: Path, rows: int, rules: Rules) -> list[dict[str, float]]:
    """Measure the cost of fewer rows: Spark, and polars."""
    found: list[dict[str, float]] = []
    for share in (64, 16, 4):
        file = folder / f"rows_{share}.parquet"
        write_rows(file, rows // share, SIZES)
        df = spark.read.parquet(str(file))
        walls, _ = turns.best(scan=df, kept=validate(df, rules))
        found.append({"rows": rows // share, **walls, "local": _local_s(file, rules)})
    return found


def _checked(df: DataFrame, rules: Rules) -> dict[str, DataFrame]:
    checked = validate(df, rules)
    return {"kept": checked, "violations": checked.filter("_errors is not null")}


def _as_csv(spark: SparkSession, parquet: Path, csv: Path) -> DataFrame:
    """Write rows as CSV, and return them read from there, as texts."""
    pl.scan_parquet(parquet).sink_csv(csv)
    return spark.read.csv(str(csv), header=True)


def _by_codes(spark: SparkSession, turns: Turns, folder: Path, rows: int) -> list[dict[str, float]]:
    """Measure the cost of longer codelists: all eleven have that length."""
    found: list[dict[str, float]] = []
    for codes in _CODES:
        sizes = [codes] * len(SIZES)
        file = folder / f"codes_{codes}.parquet"
        write_rows(file, rows // 4, sizes)
        df = spark.read.parquet(str(file))
        started = time.perf_counter()
        checked = validate(df, _rules(snapshot_of(sizes)))
        planned_s = time.perf_counter() - started
        walls, _ = turns.best(scan=df, kept=checked)
        found.append({"codes": codes, **walls, "planned": planned_s})
    return found


def _local_s(file: Path, rules: Rules) -> float:
    """Return the time of reading and validating with polars, in seconds; the best of three."""

    def run() -> float:
        started = time.perf_counter()
        validate_locally(pl.read_parquet(file), rules)
        return time.perf_counter() - started

    return min(run() for _ in range(3))


def _pandas_s(file: Path, rules: Rules) -> float:
    """Return the time of a naive solution: a loop over the rows of a pandas frame, sets for codes, the same rules."""
    frame = pd.read_parquet(file).head(_LOOP_ROWS)
    allowed = {column.id: column.values for column in rules.columns if column.enumeration is not None}
    period = re.compile(r"\d{4}(-(\d{2}(-\d{2})?|[ASTQ]\d|M\d{2}|W\d{2}|D\d{3}))?")
    started = time.perf_counter()
    errors: list[Any] = []
    for _, row in frame.iterrows():
        found: list[tuple[str, str, Any]] = []
        for name, values in allowed.items():
            value = row[name]
            if value is None:
                found.append(("dimension-missing", name, value))
            elif value not in values:
                found.append(("code-unknown", name, value))
        if row["TIME_PERIOD"] is None or not period.fullmatch(row["TIME_PERIOD"]):
            found.append(("time-period", "TIME_PERIOD", row["TIME_PERIOD"]))
        try:
            float(row["OBS_VALUE"])
        except ValueError:
            found.append(("text-type", "OBS_VALUE", row["OBS_VALUE"]))
        errors.append(found or None)
    frame.assign(_errors=errors)
    return time.perf_counter() - started


if __name__ == "__main__":
    made = session("benchmark", **{"spark.driver.memory": "4g"})
    with tempfile.TemporaryDirectory() as name:
        _main(made, Path(name), int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
    made.stop()
