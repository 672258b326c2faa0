"""A real standalone cluster, and a real Spark Connect server, from pip's installation."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark

from kafka_replica.embedded.java import spark_java_home
from kafka_replica.embedded.ports import choose_port
from support.paths import ROOT
from support.spark.class_archive import short_job_options

HOME = Path(pyspark.__file__).parent
_PATIENCE_S = 240


def executor_python(folder: Path) -> Path:
    """Return a Python with all installed packages, except kafka_replica and kafka_replica_spark."""
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    # A folder named in a .pth file is on the path, and .pth files in it are not read: no editable installation.
    (site / "installed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return folder / "bin" / "python"


def shipped(folder: Path) -> Path:
    """Return the package as it is shipped: the wheel, under a name that Spark accepts as an archive."""
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], ROOT, os.environ.copy())
    (made,) = folder.glob("*.whl")
    return made.rename(folder / "kafka_replica.zip")


@contextmanager
def standalone(folder: Path) -> Iterator[str]:
    """A master and two workers of one core each; yields the master's URL."""
    port = choose_port()
    url = f"spark://127.0.0.1:{port}"
    start = [str(HOME / "bin" / "spark-class"), "org.apache.spark.deploy"]
    master = f"{start[1]}.master.Master"
    log = folder / "master.log"
    with _started([start[0], master, "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"], log):
        _wait(lambda: "I have been elected leader" in log.read_text(), "the master", log)
        worker = [
            start[0],
            f"{start[1]}.worker.Worker",
            "--host",
            "127.0.0.1",
            "--webui-port",
            "0",
            "-c",
            "1",
            "-m",
            "1g",
        ]
        with (
            _started([*worker, "-d", str(folder / "w1"), url], folder / "worker1.log"),
            _started([*worker, "-d", str(folder / "w2"), url], folder / "worker2.log"),
        ):
            # A worker that waits long for an answer registers again.
            _wait(lambda: len(set(re.findall(r"Registering worker (\S+)", log.read_text()))) == 2, "two workers", log)
            yield url


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """A Spark Connect server with its own session; yields its address."""
    port = choose_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    command = [str(HOME / "bin" / "spark-submit"), "--master", "local[2]"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    log = folder / "connect.log"
    # SPARK_DAEMON_MEMORY is its heap; it writes a folder into its working directory.
    with _started(command, log, folder, SPARK_DAEMON_MEMORY="700m"):
        _wait(lambda: _answers(port), "the Connect server", log)
        yield f"sc://127.0.0.1:{port}"


def job(script: str, *arguments: object, **variables: str) -> dict[str, Any]:
    """Run a program of this folder in a separate driver; return its last output, which is JSON."""
    command = [sys.executable, str(Path(__file__).with_name(script)), *map(str, arguments)]
    out = _run(command, Path(__file__).parent, environment() | variables)
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def environment() -> dict[str, str]:
    """Return the variables of programs of Spark."""
    return os.environ | {
        "JAVA_HOME": str(spark_java_home()),
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_NO_DAEMONIZE": "1",
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": sys.executable,
        "JDK_JAVA_OPTIONS": short_job_options(),  # executors inherit this from their workers
    }


@contextmanager
def _started(command: list[str], log: Path, cwd: Path | None = None, **variables: str) -> Iterator[None]:
    with log.open("wb") as out:
        both = environment() | variables
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=both, cwd=cwd)
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(20)


def _run(command: list[str], cwd: Path, variables: dict[str, str]) -> str:
    done = subprocess.run(
        command, cwd=cwd, env=variables, capture_output=True, text=True, timeout=3 * _PATIENCE_S, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}\n{done.stderr[-8000:]}"
    return done.stdout


def _wait(condition: Callable[[], bool], what: str, log: Path) -> None:
    give_up_s = time.monotonic() + _PATIENCE_S
    while not condition():
        assert time.monotonic() < give_up_s, f"{what} did not come: {log.read_text()[-4000:]}"
        time.sleep(0.1)


def _answers(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0
