"""The experiment on data files: messages read into columns, against parsers that only parse them."""

from __future__ import annotations

from benchmarks.stage import Stage

_OBSERVATIONS = 240_000
_PASSES = 5


def data_reading(stage: Stage) -> dict[str, float]:
    """Measure messages of SDMX-ML and SDMX-JSON with series, in processor time."""
    line = stage.measure("data_files", _OBSERVATIONS, _PASSES)
    return {
        "data.ml": line["ml"] / line["lxml"],
        "data.json": line["json"] / line["msgspec"],
        "data.ml_s": line["ml"],
        "data.json_s": line["json"],
    }
