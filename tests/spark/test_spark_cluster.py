"""A standalone cluster: a master and two workers, whose Python does not have the package."""

from __future__ import annotations

import sys
from pathlib import Path

from cluster_world import executor_python, job, standalone, wheel


def test_on_a_cluster(tmp_path: Path) -> None:
    """Views, validation and look-ups in UDFs need no package on executors; the wheel makes it importable there."""
    bare = executor_python(tmp_path / "bare")
    # On machines apart the same path leads to different installations; here a variable tells where it is.
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nif [ "$ON_EXECUTOR" ]; then exec {bare} "$@"; else exec {sys.executable} "$@"; fi\n')
    python.chmod(0o755)
    shipped = wheel(tmp_path / "dist")
    with standalone(tmp_path) as master:
        found = job("cluster_job.py", master, tmp_path, shipped, PYSPARK_PYTHON=str(python))
    assert found.pop("partitions") > 1
    assert found == {
        "equal": True,
        "good": 1500,
        "bad": 500,
        "areas": ["Belgium"],
        "executors": 2,
        "installed": [False],
        "shipped": [True],
    }
