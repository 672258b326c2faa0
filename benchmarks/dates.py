"""The experiment on date maps: both engines, against reading alone, and the size of Spark's plans and code."""

from __future__ import annotations

from benchmarks.stage import Stage

_PASSES = 3
_DATE_ROWS = 2_000_000


def date_maps(stage: Stage) -> dict[str, float]:
    """Measure four rows per requested record, at most two million, by both engines."""
    line = stage.measure("date_maps", min(_DATE_ROWS, 4 * stage.records), _PASSES)
    figures: dict[str, float] = {}
    for name in ("plain", "by_frequency"):
        for engine in ("spark", "local"):
            for kind, ending in (("wall", ""), ("cpu", ".cpu")):
                taken = line[engine][kind]
                figures[f"dates.{engine}.{name}{ending}"] = taken[name] / taken["scan"]
        figures[f"dates.{name}.nodes"] = line["spark"]["nodes"][name]
        figures[f"dates.{name}.method_bytes"] = line["spark"]["method_bytes"][name]
    return figures
