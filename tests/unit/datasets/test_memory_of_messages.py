"""The memory for messages of SDMX-JSON does not grow with their observations, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from support.effort import usual_or_long
from support.paths import ROOT

ROWS: Final = usual_or_long(400_000, 1_000_000, 3_000_000)
"""The number of observations; three millions have more than 150 MB."""
_PER_SERIES: Final = 100
_FIRST: Final = 200
_READ: Final = """
import json, sys
from kafka_replica.data.files.messages import located_blocks
from support.memory import peak_bytes

peaks, rows = [], 0
for name in sys.argv[1:]:
    rows = sum(block.size for _, block in located_blocks(name))
    peaks.append(peak_bytes())
print(json.dumps({"peaks": peaks, "rows": rows}))
"""
_VALIDATE: Final = """
import json, sys
from pathlib import Path
from kafka_replica.data.jobs import ValidationJob, sources_of
from kafka_replica.data.polars.job import LocalEngine
from kafka_replica.data.polars.source_rows import BatchSize
from support.memory import peak_bytes
from support.rules.structures_by_hand import DSD, attribute, dimension, measure, rules_of, structure, text, version_of

dimensions = [dimension(name, text()) for name in ("A", "B", "T")]
rules = rules_of(version_of(structure(*dimensions, measure(), attribute("NOTE"))), DSD)
peaks, rows = [], 0
for name in sys.argv[1:]:
    out = Path(f"{name}-out")
    out.mkdir()
    job = ValidationJob(sources=sources_of([name]), rules=rules, out=out, findings=out / "findings.parquet")
    done = LocalEngine(BatchSize(rows=20_000)).validate(job, lambda _progress: None)
    peaks.append(peak_bytes())
    rows = done.report.rows
print(json.dumps({"peaks": peaks, "rows": rows}))
"""

pytestmark = [
    pytest.mark.long,
    pytest.mark.scaled,
    pytest.mark.skipif(sys.platform != "linux", reason="NOT TESTED: other systems have no /proc"),
]


def write_message(path: Path, kind: str, rows: int) -> int:
    """Write a message of 2.0, with its structure after the data, and return its size in bytes.

    The numbers of the values that the structure lists do not depend on the number of rows, except for that of B.
    """
    count = rows // _PER_SERIES
    levels = [_listed("A", _FIRST), _listed("B", count // _FIRST + 1)], [_listed("T", _PER_SERIES)]
    series, observation = levels if kind == "series" else ([], [*levels[0], *levels[1]])
    structure = {
        "dimensions": {"series": series, "observation": observation},
        "measures": {"observation": [{"id": "OBS_VALUE"}]},
        "attributes": {"observation": [{"id": "NOTE"}]},
    }  # fmt: skip
    with path.open("w") as file:
        file.write('{"data": {"dataSets": [{"%s": {' % ("series" if kind == "series" else "observations"))
        for number, member in enumerate(_members(kind, count)):
            file.write(f", {member}" if number else member)
        file.write('}}], "structures": [%s]}}' % json.dumps(structure))  # noqa: UP031
    return path.stat().st_size


def _listed(name: str, count: int) -> dict[str, Any]:
    return {"id": name, "values": [{"id": f"{name}{at}"} for at in range(count)]}


def _members(kind: str, count: int) -> Iterator[str]:
    for number in range(count):
        key = f"{number % _FIRST}:{number // _FIRST}"
        start = "" if kind == "series" else f"{key}:"
        members = ", ".join(
            f'"{start}{at}": [{number + at}.50, "a note of the observation {at}"]' for at in range(_PER_SERIES)
        )
        yield f'"{key}": {{"observations": {{{members}}}}}' if kind == "series" else members


def peaks_of(program: str, *files: Path) -> tuple[int, int]:
    """Return the peaks of a process's memory after each of two files, the second of which has ``ROWS`` rows."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, files)],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path, "POLARS_MAX_THREADS": "2"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["rows"] == ROWS
    small, large = found["peaks"]
    return small, large


@pytest.mark.parametrize(("kind", "bytes_per_row"), [("series", 1), ("flat", 12)])
def test_reading_a_large_message_takes_little_memory(kind: str, bytes_per_row: int, tmp_path: Path) -> None:
    """A message takes hardly more memory than one of a fifth of its size; flat, 8 bytes for the key of each row."""
    write_message(tmp_path / "small.json", kind, ROWS // 5)
    size = write_message(tmp_path / "large.json", kind, ROWS)
    small, large = peaks_of(_READ, tmp_path / "small.json", tmp_path / "large.json")
    allowed = 6_000_000 + bytes_per_row * ROWS
    assert allowed < size / 2
    assert large - small < allowed, f"{large - small:,} bytes more for {size:,} bytes"


@pytest.mark.long
@pytest.mark.parametrize("kind", ["series", "flat"])
def test_validating_a_large_message_takes_little_memory(kind: str, tmp_path: Path) -> None:
    """A job keeps some bytes of each row, for its key, and one batch; all other rows are in temporary files."""
    write_message(tmp_path / "small.json", kind, ROWS // 5)
    write_message(tmp_path / "large.json", kind, ROWS)
    small, large = peaks_of(_VALIDATE, tmp_path / "small.json", tmp_path / "large.json")
    # 8 bytes of hash per row, three times while they are sorted, as for other files of data
    allowed = 48_000_000 + 40 * ROWS
    assert large - small < allowed, f"{large - small:,} bytes more for {ROWS:,} rows"
