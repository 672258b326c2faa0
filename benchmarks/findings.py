"""The experiment on reports: a million findings as a page, as a list and as the report of the ESS."""

from __future__ import annotations

from benchmarks.stage import Stage

_FINDINGS = 1_000_000


def findings(stage: Stage) -> dict[str, float]:
    """Measure reports on a million findings, from the validated rows to the file."""
    line = stage.measure("reports", _FINDINGS)
    return {
        f"findings.{name}{ending}": line[name][kind]
        for name in ("page", "listed", "ess")
        for kind, ending in (("wall", "_s"), ("cpu", ".cpu_s"))
    }
