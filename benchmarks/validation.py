"""The experiment on data: validation and mapping by Spark, against reading alone, polars, and a loop over pandas."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from rich.console import Console

from benchmarks.dqx import Dqx
from benchmarks.java import NotMeasurableError
from benchmarks.stage import ROOT, Stage

_PICTURE = ROOT / "build" / "validation.svg"
_PASSES = 5
_DQX_PASSES = 2  # a pass takes as long as ten passes of this project
_MOST_ROWS = 2_000_000
_LARGE_ROWS, _LARGE_PASSES = 5_000_000, 2
_ROWS_BY_LONG_LISTS = 200_000


def validation(stage: Stage) -> dict[str, float]:
    """Measure four rows per requested record, at most two million; draw the cost by rows and by codes, too.

    Databricks DQX and the longest lists are measured in the first round only.
    """
    rows = min(_MOST_ROWS, 4 * stage.records)
    line, twice, mapped = (
        stage.measure("validation", rows, _PASSES, what) for what in ("rows", "duplicates", "mapping")
    )
    _draw(line)
    figures: dict[str, float] = {}
    for kind, ending in (("wall", ""), ("cpu", ".cpu")):
        here, alike, other = line[kind], twice[kind], mapped[kind]
        figures |= {f"validation.{name}{ending}": here[name] / here["scan"] for name in ("kept", "violations")}
        figures[f"validation.mapping{ending}"] = other["mapping"] / other["scan"]
        figures[f"validation.duplicates{ending}"] = (alike["duplicates"] - alike["kept"]) / alike["scan"]
    wall = line["wall"]
    figures |= {
        "validation.rows_per_s": line["rows"] / wall["kept"] / 1e6,
        "validation.local": wall["kept"] / line["local_s"],
        "validation.local_small": line["by_rows"][0]["kept"] / line["by_rows"][0]["local"],
        "validation.pandas": line["pandas_s"] / wall["kept"],
        "validation.planned_s": line["planned_s"],
    }
    return figures | _long_lists(stage) | _against_dqx(stage, line) if stage.is_first("validation") else figures


def validation_large(stage: Stage) -> dict[str, float]:
    """Measure ten rows per requested record, at most five million, as Parquet and as CSV."""
    rows = min(_LARGE_ROWS, 10 * stage.records)
    figures: dict[str, float] = {}
    for what in ("parquet", "csv"):
        wall = stage.measure("validation", rows, _LARGE_PASSES, what)["wall"]
        figures |= {f"large.{what}.{name}": wall[name] / wall["scan"] for name in ("kept", "violations")}
        figures[f"large.{what}.s"] = wall["kept"]
    return figures


def _long_lists(stage: Stage) -> dict[str, float]:
    """Measure half a million codes in one list, and spread over many lists."""
    line = stage.measure("long_lists", _ROWS_BY_LONG_LISTS)
    parts = {"one_list": line["one"], "many_lists": line["many"]}
    return {
        f"validation.{name}.{which}": part[which] for name, part in parts.items() for which in ("planned_s", "run_s")
    }


def _against_dqx(stage: Stage, ours: dict[str, Any]) -> dict[str, float]:
    """Measure the same rows checked by Databricks DQX, each against its own scan; skip it visibly if unavailable."""
    try:
        line = stage.noted(Dqx().validation(ours["rows"], _DQX_PASSES))
    except NotMeasurableError as error:
        Console(stderr=True).print(f"[bold red]NOT MEASURED: validation against Databricks DQX:[/] {error}")
        return {}
    wall = line["wall"]
    found = {f"validation.dqx.{name}": wall[name] / wall["scan"] for name in ("kept", "violations")}
    found["validation.dqx.duplicates"] = (wall["duplicates"] - wall["kept"]) / wall["scan"]
    found["validation.dqx.planned_s"] = line["planned_s"]
    return found | {"validation.dqx": found["validation.dqx.kept"] / (ours["wall"]["kept"] / ours["wall"]["scan"])}


def _draw(line: dict[str, Any]) -> None:
    """Draw the cost against rows and against codes, into build/validation.svg."""
    last = {"rows": line["rows"], **line["wall"], "local": line["local_s"]}
    by_rows, by_codes = [*line["by_rows"], last], line["by_codes"]
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axis, points, by, names in (
        (
            left,
            by_rows,
            "rows",
            {"scan": "Spark: reading alone", "kept": "Spark: validated", "local": "polars: validated"},
        ),
        (right, by_codes, "codes", {"scan": "reading alone", "kept": "validated", "planned": "making the plan"}),
    ):
        for name, label in names.items():
            axis.plot([point[by] for point in points], [point[name] for point in points], marker="o", label=label)
        axis.set(xscale="log", yscale="log", ylabel="seconds")
        axis.set_xlabel("rows" if by == "rows" else f"codes in each of 11 lists, {line['rows'] // 4:,} rows")
        axis.legend(fontsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    _PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(_PICTURE)
