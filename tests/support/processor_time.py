"""The processor time of each test and of the processes that it starts: it hardly depends on how busy the machine is."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest

_PROPERTY: Final = "processor_s"
_MOST_SHOWN: Final = 30
_TIMES: Final = slice(11, 15)
"""The fields in which Linux writes the times of a process and those of its children that have ended."""


def spent_s() -> float:
    """Return the processor seconds that this process, and those that it started, have taken so far.

    Not counted is a process that left its parent, and one that ended before its parent asked for its result.
    """
    ticks, waiting = 0, [os.getpid()]
    while waiting:
        process = Path("/proc", str(waiting.pop()))
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            waiting += [int(child) for path in process.glob("task/*/children") for child in path.read_text().split()]
        except OSError:
            continue  # it has ended in between: its parent has its time
        ticks += sum(map(int, fields[_TIMES]))
    return ticks / os.sysconf("SC_CLK_TCK")


class ProcessorTimes:
    """Measures between the reports of a process, which sends them with these measurements to the first one.

    What measuring takes is not counted: a broker and Spark have hundreds of threads, each of which may have children.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._last_s = 0.0
        self._measuring_s = 0.0
        self._of: dict[str, float] = defaultdict(float)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self) -> None:
        """Begin to measure."""
        self._last_s = self._spent_s()

    def _spent_s(self) -> float:
        """Return what was spent without the measurements before this one."""
        began_s, before_s = time.process_time(), self._measuring_s
        spent = spent_s()
        self._measuring_s += time.process_time() - began_s
        return spent - before_s

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add what was taken since the report before."""
        report = yield
        now_s = self._spent_s()
        report.user_properties.append((_PROPERTY, now_s - self._last_s))
        self._last_s = now_s
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up the parts of a test."""
        for name, value in report.user_properties:
            if name == _PROPERTY and isinstance(value, float):
                self._of[report.nodeid] += value

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the folders and the most expensive tests, and write all of them."""
        if self._path is None:  # a process of pytest-xdist
            return
        folders: dict[str, float] = defaultdict(float)
        for test, seconds in self._of.items():
            folders[str(Path(test.partition("::")[0]).parent)] += seconds
        terminalreporter.section("processor seconds")
        for table in (folders, self._of):
            for name, seconds in _most_first(table)[:_MOST_SHOWN]:
                terminalreporter.write_line(f"{seconds:9.2f}  {name}")
            terminalreporter.write_line("")
        terminalreporter.write_line(f"{sum(folders.values()):9.2f}  all; each test: {self._path}")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text("".join(f"{seconds:.2f}\t{name}\n" for name, seconds in _most_first(self._of)))


def _most_first(table: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(table.items(), key=lambda one: -one[1])
