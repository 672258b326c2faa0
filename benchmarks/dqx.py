"""Databricks DQX, run next to this project in an environment of its own under build/, which is created once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from benchmarks.java import NotMeasurableError
from benchmarks.observations import SIZES, write_rows
from benchmarks.observations.structures import code_of
from benchmarks.stage import ROOT
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.java import spark_java_home

DQX: Final = "0.17.0"
_SAME: Final = ("pyspark", "pandas", "pyarrow", "psutil")
"""The shared dependencies, in the versions of this environment; DQX imports pandas without requiring it."""
_INSTALL_S, _RUN_S = 900, 1800


class Dqx:
    """The peer, ready to run, on the Spark version of this project's environment.

    Raises:
        NotMeasurableError: it cannot be installed, or there is no Java for Spark.
    """

    def __init__(self) -> None:
        self._home = ROOT / "build" / f"dqx-{DQX}-spark-{version('pyspark')}"
        if not self._home.is_dir():
            _install(self._home, f"databricks-labs-dqx=={DQX}", *(f"{name}=={version(name)}" for name in _SAME))
        try:
            self._java = spark_java_home()
        except EmbeddedKafkaError as error:
            raise NotMeasurableError(str(error)) from error

    def validation(self, rows: int, passes: int) -> dict[str, Any]:
        """Return seconds of the JVM per task, for that number of rows, and the number of rows found wrong."""
        with tempfile.TemporaryDirectory() as folder:
            write_rows(Path(folder) / "rows.parquet", rows, SIZES)
            codes = {f"D{place}": [code_of(number) for number in range(size)] for place, size in enumerate(SIZES)}
            codes["OBS_STATUS"] = codes["D0"]
            (Path(folder) / "codes.json").write_text(json.dumps(codes))
            return self._run("benchmarks.programs.validation_dqx", folder, str(passes))

    def _run(self, module: str, *arguments: str) -> dict[str, Any]:
        python = str(self._home / "bin" / "python")
        environment = {
            **os.environ, "JAVA_HOME": str(self._java), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": python
        }  # fmt: skip
        environment.pop("PYTHONPATH", None)
        try:
            done = subprocess.run(
                [python, "-m", module, *arguments], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True,
                check=False, timeout=_RUN_S,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise NotMeasurableError(f"{module} took more than {_RUN_S} s") from error
        if done.returncode:
            raise NotMeasurableError(f"{module} ended with {done.returncode}; what it said is above")
        line: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return {"what": "Databricks DQX", **line}


def _install(home: Path, *packages: str) -> None:
    """Install in a temporary folder and rename it: an existing environment is complete."""
    unfinished = home.with_name(f"{home.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    home.parent.mkdir(exist_ok=True)
    for command in (
        [sys.executable, "-m", "venv", str(unfinished)],
        [str(unfinished / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages],
    ):
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_INSTALL_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotMeasurableError(f"installing {' '.join(packages)}: {error}") from error
        if done.returncode:
            raise NotMeasurableError(f"installing {' '.join(packages)}: {(done.stdout + done.stderr).strip()[-500:]}")
    unfinished.rename(home)
