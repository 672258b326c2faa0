"""Tests of pickled objects in a process that has pyspark but not this package, like an executor."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

_BEGINNING = """
import json, pickle, sys
sys.modules["kafka_replica"] = sys.modules["kafka_replica_spark"] = None
found = pickle.load(open(sys.argv[1], "rb"))
"""


def answer(pickled: bytes, code: str, folder: Path) -> Any:
    """Return the code's JSON output about ``found``, which was pickled."""
    file = folder / "pickled"
    file.write_bytes(pickled)
    done = subprocess.run(
        [sys.executable, "-c", f"{_BEGINNING}\nprint(json.dumps({code}))", str(file)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
