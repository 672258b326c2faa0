"""Detect the end of Spark's Java process, and report it instead of the client's error "Connection refused"."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import pyspark
from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote

from kafka_replica.data.errors import EngineEndedError
from kafka_replica.errors import KafkaReplicaError

_OUT_OF_MEMORY: Final = 52
"""The exit status with which Spark's executors end Java after an OutOfMemoryError (``SparkExitCode.OOM``)."""
_ENDING_S: Final = 10
"""The maximum time from the end of a process's connections to the end of the process, in seconds."""
_OF_CONNECTION: Final = {"Py4JError", "Py4JNetworkError"}
"""The names of Py4J's errors; the classes are not imported, because clients of Spark Connect need not have Py4J."""
_CRASHES: Final = {signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL}


class JavaProcess:
    """The Java process of a session's driver."""

    def __init__(self, spark: SparkSession) -> None:
        self._memory = "" if is_remote() else spark.sparkContext.getConf().get("spark.driver.memory", "1g") or ""

    @contextmanager
    def watched(self, doing: str) -> Iterator[None]:
        """Translate an error in the block that was caused by the end of Java.

        Args:
            doing: the action of the block, for the error.

        Raises:
            EngineEndedError: the process has ended, or no longer answers.
        """
        try:
            yield
        except Exception as error:
            if isinstance(error, KafkaReplicaError) or not self._memory or not _has_ended(error):
                raise
            raise EngineEndedError(self._message(doing)) from error

    def _message(self, doing: str) -> str:
        how, where = _end()
        return (
            f"{doing}: Spark's Java process {how}, so the job was not completed; {where}; if memory was short, set "
            f"spark.driver.memory (now {self._memory}), for example with "
            "PYSPARK_SUBMIT_ARGS='--driver-memory 4g pyspark-shell' or spark-submit --driver-memory 4g; "
            "then run the job again"
        )


def _process() -> subprocess.Popen[bytes] | None:
    """Return the Java process if this process started it; None with spark-submit, where Java starts Python."""
    # Clients of Spark Connect need not have SparkContext, and Python has no public name for the gateway.
    gateway: Any = getattr(getattr(pyspark, "SparkContext", None), "_gateway", None)
    process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    return process


def _has_ended(error: BaseException) -> bool:
    """Return whether an error was caused by the end of Java."""
    process = _process()
    if process is None:
        return _is_of_connection(error)
    if _is_of_connection(error) or _is_of_ending(error):
        # The process closes its connections, and Spark cancels its jobs, shortly before the process ends.
        with suppress(subprocess.TimeoutExpired):
            process.wait(_ENDING_S)
    return process.poll() is not None


def _is_of_connection(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ConnectionError | EOFError):
            return True
        # Py4J raises a plain Py4JError without a cause in place of Py4JNetworkError; that of a wrong call has a trace.
        if type(error).__name__ in _OF_CONNECTION and "Trace:" not in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_of_ending(error: BaseException) -> bool:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - Py4J requests the text of an error from Java, which may have ended
        return True
    return "OutOfMemoryError" in text or "SparkContext was shut down" in text


def _end() -> tuple[str, str]:
    """Return texts that describe how the process ended, and where its log is."""
    process = _process()
    status = None if process is None else process.returncode
    log = "its log is the output of errors (stderr) of this program"
    if process is None or status is None:
        return "does not answer any more, probably for want of memory", "its log is that of spark-submit"
    if status == _OUT_OF_MEMORY:
        return f"ended for want of memory (exit status {status})", log
    if status >= 0:
        return f"ended with exit status {status}", log
    name = signal.Signals(-status).name
    if -status in _CRASHES:
        return f"crashed ({name})", f"its log is hs_err_pid{process.pid}.log in the working directory"
    return (
        f"was ended by the signal {name}, probably by the system for want of memory",
        f"the system's log (journalctl -k) says so if it ended process {process.pid}; {log}",
    )
