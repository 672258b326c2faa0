"""A standalone cluster: a master and two workers, whose Python does not have the package."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote

import pytest

from support.spark.cluster_world import executor_python, job, shipped, standalone


@pytest.mark.timeout(900)
@pytest.mark.long
def test_on_a_cluster(tmp_path: Path) -> None:
    """Views, validation and look-ups in UDFs need no package on executors; the wheel makes it importable there."""
    bare = executor_python(tmp_path / "bare")
    # On separate machines the same path leads to different installations; here the working directory shows the worker.
    python = tmp_path / "python"
    choice = f'case "$PWD" in {tmp_path}/w*) exec {quote(str(bare))} "$@";; *) exec {quote(sys.executable)} "$@";; esac'
    python.write_text(f"#!/bin/sh\n{choice}\n")
    python.chmod(0o755)
    package = shipped(tmp_path / "dist")
    with standalone(tmp_path) as master:
        found = job("cluster_job.py", master, tmp_path, package, PYSPARK_PYTHON=str(python))
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
