"""The benchmark's rows scanned and checked by Databricks DQX, in a separate environment without this project.

    validation_dqx FOLDER PASSES

FOLDER holds ``rows.parquet`` and ``codes.json``: the codes of each coded column. DQX has no data structures, so the
checks are those that a user would write for this structure, in the way its documentation recommends: lists of up to 100
codes as ``is_in_list``, longer ones as ``foreign_key`` against a broadcast frame, columns that must be given as
``is_not_null``, periods and numbers as ``regex_match``; keys as ``is_unique``.

These checks need no Databricks workspace, but DQX requires a workspace client. The client here is a mock without
results, as in DQX's own guide to tests ("Testing Applications Using DQX").
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from unittest.mock import MagicMock

import psutil
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.programs.common import tell

_WARM: Final = 1
_LIST: Final = 100
_SETTINGS: Final = {
    "spark.driver.memory": "4g", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR", "spark.sql.shuffle.partitions": "4", "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}  # fmt: skip
_PERIOD: Final = r"^\d{4}(-(\d{2}(-\d{2})?|[ASTQ]\d|M\d{2}|W\d{2}|D\d{3}))?$"
_NUMBER: Final = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"


class Checks:
    """DQX's checks of the rows."""

    def __init__(self, spark: SparkSession, codes: Mapping[str, list[str]]) -> None:
        # DQX is not installed in this project's environment, so its types are unknown.
        self._check, rule = import_module("databricks.labs.dqx.check_funcs"), import_module("databricks.labs.dqx.rule")
        self._of_row, self._of_rows = rule.DQRowRule, rule.DQDatasetRule
        self._codes = codes
        self._frames = {
            name: spark.createDataFrame([(code,) for code in codes], "code string")
            for name, codes in codes.items()
            if len(codes) > _LIST
        }
        engine = import_module("databricks.labs.dqx.engine").DQEngineCore
        client = import_module("databricks.sdk").WorkspaceClient
        self._engine = engine(workspace_client=MagicMock(spec=client), spark=spark)

    def applied(self, df: DataFrame, *, unique: bool = False) -> DataFrame:
        """Return all rows, with ``_errors`` and ``_warnings``."""
        checks = [self._coded(name) for name in self._codes]
        checks += [self._row(name, "is_not_null") for name in (*self._codes, "TIME_PERIOD")]
        checks.append(self._row("TIME_PERIOD", "regex_match", regex=_PERIOD))
        checks.append(self._row("OBS_VALUE", "regex_match", regex=_NUMBER))
        if unique:
            key = [*(name for name in self._codes if name != "OBS_STATUS"), "TIME_PERIOD"]
            checks.append(self._of_rows(criticality="error", check_func=self._check.is_unique, columns=key))
        found: DataFrame = self._engine.apply_checks(df, checks, self._frames)
        return found

    def _coded(self, name: str) -> Any:
        if name not in self._frames:
            return self._row(name, "is_in_list", allowed=[F.lit(code) for code in self._codes[name]])
        return self._of_rows(
            criticality="error", check_func=self._check.foreign_key, columns=[name],
            check_func_kwargs={"ref_columns": ["code"], "ref_df_name": name, "broadcast_ref": True},
        )  # fmt: skip

    def _row(self, name: str, check: str, **settings: Any) -> Any:
        return self._of_row(
            criticality="error", check_func=getattr(self._check, check), column=name, check_func_kwargs=settings
        )


def _main(spark: SparkSession, folder: Path, passes: int) -> None:
    codes = json.loads((folder / "codes.json").read_text())
    df = spark.read.parquet(str(folder / "rows.parquet"))
    checks = Checks(spark, codes)
    started = time.perf_counter()
    checked = checks.applied(df)
    planned_s = time.perf_counter() - started
    frames = {
        "scan": df,
        "kept": checked,
        "violations": checked.filter("_errors is not null"),
        "duplicates": checks.applied(df, unique=True),
    }
    walls, cpus = _best(spark, {name: partial(_run, frame) for name, frame in frames.items()}, passes)
    bad = frames["violations"].count()
    tell(
        wall=walls, cpu=cpus, planned_s=planned_s, rows=df.count(), bad=bad, spark=spark.version,
        dqx=version("databricks-labs-dqx"),
    )  # fmt: skip


def _run(df: DataFrame) -> None:
    df.write.format("noop").mode("overwrite").save()


def _best(
    spark: SparkSession, runs: Mapping[str, Callable[[], None]], passes: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the best wall and processor seconds of each run, in turn; the first passes do not count."""
    jvm: Any = spark._jvm  # noqa: SLF001 - nothing else tells
    process = psutil.Process(jvm.java.lang.ProcessHandle.current().pid())
    for run in [*runs.values()] * _WARM:
        run()
    taken = [{name: _timed(process, run) for name, run in runs.items()} for _ in range(passes)]
    walls, cpus = ({name: min(one[name][which] for one in taken) for name in runs} for which in (0, 1))
    return walls, cpus


def _timed(process: psutil.Process, run: Callable[[], None]) -> tuple[float, float]:
    before, start = process.cpu_times(), time.perf_counter()
    run()
    wall, after = time.perf_counter() - start, process.cpu_times()
    return wall, after.user + after.system - before.user - before.system


if __name__ == "__main__":
    builder = SparkSession.Builder().appName("benchmark").master("local[2]")
    for setting, value in _SETTINGS.items():
        builder = builder.config(setting, value)
    made = builder.getOrCreate()
    _main(made, Path(sys.argv[1]), int(sys.argv[2]))
    made.stop()
