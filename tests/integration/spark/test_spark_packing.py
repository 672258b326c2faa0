"""The commands of docs/spark-clusters.md that ship the package to a standalone cluster, as they are written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from support.doc_blocks import blocks
from support.effort import EFFORT
from support.paths import ROOT
from support.spark.cluster_world import HOME, environment, executor_python, standalone

_PAGE: Final = "docs/spark-clusters.md"
_LIMIT_S: Final = 1_200
_JOB: Final = """
import json, sys

import pyspark
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()


@F.udf("string")
def used(urn):
    import kafka_replica
    from kafka_replica.sdmx import Urn

    return json.dumps([Urn.parse(urn).id, kafka_replica.__file__, sys.executable])


urn = F.lit("urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_FREQ(2.1)")
rows = spark.range(0, 40, 1, 8).select(used(urn).alias("used")).distinct().collect()
print(json.dumps({"driver": sys.executable, "executors": [json.loads(row.used) for row in rows]}))
"""


def run(script: str, folder: Path, master: str, **variables: str) -> dict[str, Any]:
    """Run commands in a shell, in a folder with the job; return what the job prints."""
    (folder / "job.py").write_text(_JOB)
    (folder / "spark-defaults.conf").write_text(f"spark.master {master}\nspark.executor.memory 600m\n")
    path = f"{Path(sys.executable).parent}:{HOME / 'bin'}:/usr/bin:/bin"
    given = environment() | {"PATH": path, "SPARK_CONF_DIR": str(folder)} | variables
    done = subprocess.run(
        ["bash", "-ec", script], cwd=folder, env=given, capture_output=True, text=True, timeout=_LIMIT_S, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-6000:]}"
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.long
@pytest.mark.timeout(2 * _LIMIT_S)
@pytest.mark.skipif(EFFORT != "proof", reason="NOT TESTED: packs an environment of 600 MB; make proof does")
@pytest.mark.runs("docs/spark-clusters.md")
def test_the_package_reaches_executors_by_the_commands_of_the_page(tmp_path: Path) -> None:
    """Ship it as a zip file and as a packed environment; executors do not have it before."""
    wheel, packed = blocks(_PAGE)
    with standalone(tmp_path) as master:
        folder = tmp_path / "zip"
        folder.mkdir()
        script = wheel.program(
            {"-d dist": f"-d {folder}/dist", "python -m hatchling": f"cd {ROOT}; python -m hatchling"}
        )
        script = script.replace("cp dist", f"cd {folder}; cp dist")
        bare = str(executor_python(tmp_path / "bare"))
        found = run(script, folder, master, PYSPARK_PYTHON=bare, PYSPARK_DRIVER_PYTHON=sys.executable)
        assert {id_ for id_, _, _ in found["executors"]} == {"CL_FREQ"}
        assert all("/kafka_replica.zip/" in file and python == bare for _, file, python in found["executors"])

        folder = tmp_path / "packed"
        folder.mkdir()
        script = packed.program({'"kafka-replica[spark]"': f'"{ROOT}[spark]"'})
        found = run(script, folder, master)
        assert found["driver"] == f"{folder}/environment/bin/python"
        assert {id_ for id_, _, _ in found["executors"]} == {"CL_FREQ"}
        for _, file, python in found["executors"]:
            assert str(tmp_path / "w") in file, "in the working directory of an executor"
            assert "/environment/lib/" in file
            assert python.endswith("/environment/bin/python")
