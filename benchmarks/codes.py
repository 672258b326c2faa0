"""The experiment on codelists in UDFs: 1,000,000 codes refreshed into workers."""

from __future__ import annotations

from benchmarks.stage import Stage

_LISTS, _CODES = 100, 10_000


def codes(stage: Stage) -> dict[str, float]:
    """Measure a hundred lists, one of which changes."""
    line = stage.measure("codes", _LISTS, _CODES)
    return {"codes.refresh_s": line["s"], "codes.driver_s": line["refresh_s"], "codes.first_s": line["first_s"]}
