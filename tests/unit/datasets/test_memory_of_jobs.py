"""The memory of jobs on the local engine does not grow with the file, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.effort import usual_or_long
from support.paths import ROOT

ROWS = usual_or_long(400_000, 5_000_000)
_PROGRAM = """
import json, sys
from pathlib import Path
from kafka_replica.data.jobs import ValidationJob, sources_of
from kafka_replica.data.polars.job import LocalEngine
from kafka_replica.data.polars.source_rows import BatchSize
from support.memory import peak_bytes
from support.rules.structures_by_hand import DSD, attribute, dimension, measure, rules_of, structure, text, version_of

folder, batch = Path(sys.argv[1]), BatchSize(int(sys.argv[2]), int(sys.argv[3]))
rules = rules_of(version_of(structure(dimension("ID", text()), measure(), attribute("NOTE"), attribute("MORE"))), DSD)
peaks = []
for name in sys.argv[4:]:
    (folder / f"out-{name}").mkdir()
    out = folder / f"out-{name}"
    job = ValidationJob(
        sources=sources_of([str(folder / name)]), rules=rules, out=out, findings=out / "findings.parquet"
    )
    done = LocalEngine(batch).validate(job, lambda _progress: None)
    peaks.append(peak_bytes())
print(json.dumps({"peaks": peaks, "rows": done.report.rows, "rejected": done.rejected_rows, "good": done.good_rows}))
"""


def validated(*arguments: object) -> dict[str, Any]:
    """Return what a process found in files, and its peak of memory after each of them."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *map(str, arguments)],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")


@pytest.mark.thorough
@on_linux
def test_rows_with_a_wrong_number_of_cells_take_little_memory(tmp_path: Path) -> None:
    """A short row in a batch takes less than five kilobytes while it is processed, its findings included."""
    rows = 60_000
    for name, count in (("small", 1_000), ("large", rows)):
        (tmp_path / f"{name}.csv").write_text("ID,OBS_VALUE\n" + "x\n" * count)
    found = validated(tmp_path, "16000000", "100000", "small.csv", "large.csv")
    assert (found["rows"], found["rejected"], found["good"]) == (rows, rows, 0)
    small, large = found["peaks"]
    assert large - small < 5_000 * rows, f"{(large - small) / rows:,.0f} bytes more for each row"


@pytest.mark.thorough
@pytest.mark.scaled
@on_linux
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_peak_of_memory(kind: str, tmp_path: Path) -> None:
    """A file of hundreds of thousands of rows takes little more memory than one of a tenth of its size."""
    number = pl.int_range(ROWS)
    rows = pl.select(
        ID=number.cast(pl.String), OBS_VALUE=pl.when(number % 100 == 7).then(pl.lit("x")).otherwise(pl.lit("1.5")),
        NOTE=pl.format("a note of some length about the observation {}", number), MORE=pl.lit("much the same text"),
    )  # fmt: skip
    for name, frame in (("small", rows.head(ROWS // 10)), ("large", rows)):
        file = tmp_path / f"{name}.{kind}"
        frame.write_csv(file) if kind == "csv" else frame.write_parquet(file, row_group_size=20_000)
    found = validated(tmp_path, "1000000", "10000", f"small.{kind}", f"large.{kind}")
    bad = ROWS // 100
    assert (found["rows"], found["rejected"], found["good"]) == (ROWS, bad, ROWS - bad)
    small, large = found["peaks"]
    # 8 bytes of hash per row, three times while they are sorted, and the findings by series; batches being read or
    # written meanwhile are in both
    allowed = 40 * ROWS + 48_000_000
    assert large - small < allowed, f"{large - small:,} bytes more for {ROWS:,} rows"
    assert large < 1_000_000_000
