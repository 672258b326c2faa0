"""The end of Spark's Java process during a job is reported as what it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kafka_replica.sdmx.samples import sample_files

_KILLED = """
import sys
from pathlib import Path
from pyspark import SparkContext
from kafka_replica.cli.structure_source import snapshot_of_files
from kafka_replica.data.jobs import ValidationJob, engine, sources_of
from kafka_replica.data.validation import compile_rules
from kafka_replica.sdmx import Structures

def kill(progress):
    if progress.step == "validating and writing":
        SparkContext._gateway.proc.kill()

rules = compile_rules(Structures(snapshot_of_files((Path(sys.argv[1]),))), "KR_DEMO:LABOUR(1.0)")
spark = engine("spark")
spark.validate(ValidationJob(sources=sources_of(["data.csv"]), rules=rules, out=Path("out")), kill)
"""
_SHORT_OF_MEMORY = """
from kafka_replica_spark import session
from kafka_replica_spark.java_process import JavaProcess

spark = session(**{"spark.driver.memory": "600m"})
with JavaProcess(spark).watched("repeating a text"):
    spark.range(1).selectExpr("length(repeat(cast(id as string), 1500000000))").collect()
"""


def _last_line(program: str, folder: Path, *arguments: str) -> str:
    """Return the last line of the errors of a program that fails."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 1, (done.stdout, done.stderr[-4000:])
    (error_line,) = [line for line in done.stderr.splitlines() if "EngineEndedError: " in line]
    return error_line


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_error_of_a_job_whose_java_is_killed_names_the_signal(tmp_path: Path) -> None:
    """The error names the file, the signal, the log and the setting; without it, it is "Connection refused"."""
    (tmp_path / "data.csv").write_text("FREQ,REF_AREA\nA,BE\n", encoding="utf-8")
    error_line = _last_line(_KILLED, tmp_path, str(sample_files()[0].parent))
    assert "validating data.csv: Spark's Java process was ended by the signal SIGKILL" in error_line
    assert "journalctl -k" in error_line
    assert "set spark.driver.memory (now 1g), for example with PYSPARK_SUBMIT_ARGS=" in error_line


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_error_of_a_job_that_exhausts_the_heap_names_memory(tmp_path: Path) -> None:
    """A value that does not fit into the heap ends Java, and the error gives this as the reason."""
    error_line = _last_line(_SHORT_OF_MEMORY, tmp_path)
    assert "repeating a text: Spark's Java process ended for want of memory (exit status 52)" in error_line
    assert "(now 600m)" in error_line
