"""The experiment on header stacks."""

from __future__ import annotations

from benchmarks.stage import Stage

_TURNS = 4
_RECORDS = 20_000


def headers(stage: Stage) -> dict[str, float]:
    """Measure a bootstrap with an empty stack against one without, and each piece on the reader's side."""
    line = stage.measure("headers", stage.bootstrap, stage.filled_topic(stage.records), _TURNS, _RECORDS)
    return {"headers.empty": line["empty"]} | {f"headers.{name}": rate for name, rate in line["rates"].items()}
