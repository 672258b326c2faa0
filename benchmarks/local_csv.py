"""The experiment on large files without Spark: five million rows of CSV, against reading them with polars alone."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.stage import Stage

_ROWS = 5_000_000


def local_csv(stage: Stage) -> dict[str, float]:
    """Measure validation from a file to files, in wall and processor time and in memory."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.csv"
        stage.measure("local_csv", "write", file, _ROWS)
        scan = stage.measure("local_csv", "scan", file)
        line = stage.measure("local_csv", "validate", file)
    return {
        "local_csv.scan": line["wall"] / scan["wall"],
        "local_csv.scan.cpu": line["cpu"] / scan["cpu"],
        "local_csv.s": line["wall"],
        "local_csv.peak_mb": line["peak_mb"],
        "local_csv.scan_mb": scan["peak_mb"],
    }
