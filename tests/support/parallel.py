"""The order and the distribution of tests over the processes of pytest-xdist."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

import pytest
from xdist.scheduler import LoadScopeScheduling

_ONE_PROCESS: Final = ("tests/integration/spark/", "tests/integration/chaos/")
"""Folders whose tests share a session that is expensive, or would each take the whole machine."""
_OWN_SESSION: Final = (
    "test_spark_cluster.py", "test_spark_connect.py", "test_spark_tutorial.py", "test_spark_many_findings.py",
    "test_spark_java_process.py", "test_spark_packing.py",
)  # fmt: skip
"""Files that do not use the session of their folder."""
_SAME_BROKERS: Final = tuple(f"tests/integration/broker/test_{name}.py" for name in (
    "damaged_batches", "doctor", "header_names_on_kafka", "java_properties", "missing_topic_or_broker",
    "no_secret_is_shown", "rights_to_ask", "secured_brokers", "truncated_logs",
))  # fmt: skip
"""Files with the brokers ``own_kafka`` and ``secured``, which each process would otherwise start for itself."""
_EACH_TEST: Final = ("tests/unit/sdmx/test_conversions.py",)
"""Files whose tests take minutes in `make long` and share nothing: they need not run in one process."""
_LONGEST: Final = (
    "tests/integration/server/test_hostile_service.py", "tests/unit/server/test_pinned_sessions.py", *_EACH_TEST,
    "tests/unit/server/test_data_uploads.py", "tests/unit/server/test_hostile_requests.py",
    "tests/unit/server/test_rest_answers.py", "tests/unit/server/test_rest_query.py",
    "tests/unit/datasets/test_batches.py",
)  # fmt: skip
"""The files that take longest in `make long`, and of unit tests in `make test`."""
_FIRST: Final = (*_ONE_PROCESS, *_LONGEST, "tests/integration/")
"""Files and folders whose tests take long begin first, so that all processes end at about the same time."""

_SHOWN_S: Final = 0.1
"""The least time of a fixture that `--durations` should show."""


def place_in_order(item: pytest.Item) -> int:
    """Return the place of a test in the order: the number of the first file or folder that contains it."""
    return next((place for place, folder in enumerate(_FIRST) if item.nodeid.startswith(folder)), len(_FIRST))


def folder_of_all_processes(temporary: pytest.TempPathFactory, name: str) -> Path:
    """Return a folder that the processes of this run share, for what is made once, under a lock of the caller."""
    own = temporary.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / name
    folder.mkdir(exist_ok=True)
    return folder


class FilesAndFolders(LoadScopeScheduling):  # type: ignore[misc]
    """Runs each file in one process, all files of some folders in the same one, and tests of some files anywhere."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, _ = nodeid.partition("::")
        if file in _EACH_TEST:
            return nodeid
        if file.endswith(_OWN_SESSION):
            return file
        if file in _SAME_BROKERS:
            return "tests/integration/broker/: the same brokers"
        return next((folder for folder in _ONE_PROCESS if file.startswith(folder)), file)


class FewReports:
    """Sends the first process only reports that tell it something: sending takes as long as many tests do.

    Each test has three, and the first and the last of nearly all tests say only that they passed. It takes the place of
    pytest-xdist's function in a process that runs tests.

    Args:
        send: sends a report.
    """

    def __init__(self, send: Callable[[pytest.TestReport], object]) -> None:
        self._send = send
        self._not_passed = ""

    def __call__(self, report: pytest.TestReport) -> None:
        """Send a report, unless it is short, and all of its test has passed so far: a failure shows all output."""
        if not report.passed:
            self._not_passed = report.nodeid
        is_told = report.when == "call" or report.duration >= _SHOWN_S or bool(report.user_properties)
        if is_told or report.nodeid == self._not_passed:
            self._send(report)


def send_few_reports(config: pytest.Config) -> None:
    """Let a process of pytest-xdist send few reports."""
    for found in config.hook.pytest_runtest_logreport.get_hookimpls():
        # pytest-xdist executes the module of this class, and does not import it.
        if type(found.plugin).__name__ == "WorkerInteractor":
            cast("Any", found).function = FewReports(found.function)
