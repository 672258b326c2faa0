"""Data files that need far more memory or time than their size are errors of the package, in a process with limits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.datasets.hostile_files import HOSTILE, write_hostile
from support.paths import ROOT, TESTS

pytestmark = pytest.mark.long

_LONGEST_S = 300
_READABLE = {
    # Their rows have a wrong number of cells, or wrong values, which are findings.
    "CSV of zero bytes", "CSV in UTF-16 without a mark", "CSV in UTF-32",
    "JSON with a number of 10,000,000 digits", "JSON with an exponent", "Parquet with 20,000 columns",
    "XML with a group in 100,000 series and as many groups", "EDI with 2,000,000 segments",
}  # fmt: skip
"""Files that may be read, within the limits; others must be refused."""
_MOST_MEGABYTES = 2_000


_ALWAYS = (
    "XML with entities",
    "entities in a workbook",
    "CSV with 200,000 columns and rows",
    "JSON nested 1,000,000 times",
    "a stream of Arrow with 400,000,000 rows",
)
"""Files for ``make test``; the others take minutes together."""


@pytest.mark.skipif(sys.platform != "linux", reason="NOT TESTED: limits of memory need Linux")
@pytest.mark.parametrize(
    "name", [one if one in _ALWAYS else pytest.param(one, marks=pytest.mark.long) for one in HOSTILE]
)
def test_hostile_files(name: str, tmp_path: Path) -> None:
    """Each is refused with a short message that names the file, and the process keeps within its memory."""
    kind, path = write_hostile(name, tmp_path)
    environment = os.environ | {"POLARS_MAX_THREADS": "2", "PYTHONPATH": f"{ROOT}:{TESTS}"}
    command = [sys.executable, "-m", "support.datasets.hostile_reader", kind, str(path)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=_LONGEST_S, check=False, cwd=tmp_path
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    outcome = json.loads(done.stdout.splitlines()[-1])
    print(name, outcome)
    assert outcome["megabytes"] < _MOST_MEGABYTES
    if name not in _READABLE:
        assert "error" in outcome, outcome
        assert str(path) in outcome["message"]
        assert outcome["length"] < 1_000
