"""Makes ``support``, ``chaos`` and ``fuzz`` importable in the processes that tests start, and tests repeatable."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from support.effort import IS_LONG, LEFT_OUT, examples, marks_of_file
from support.folder_fixtures import FolderFixtures

_FOLDER = str(Path(__file__).resolve().parent)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_FOLDER, os.environ.get("PYTHONPATH")]))

# The same examples in every run: an unchanged tree gives no new failure. HYPOTHESIS_PROFILE=default varies them.
# An example may take any time, and so may its making: several processes share the machine.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow],
    max_examples=examples(100),
)  # fmt: skip
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add an option of this project's tests."""
    parser.addoption("--processor-time", metavar="FILE", help="write the processor seconds of each test to this file")


def pytest_configure(config: pytest.Config) -> None:
    """Let the programs that tests start react to Ctrl-C, end fixtures, and measure the tests, if that was asked for."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job that a shell has started with &
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(FolderFixtures())
    if hasattr(config, "workerinput"):  # a process of pytest-xdist
        from support.parallel import send_few_reports

        send_few_reports(config)
    if file := config.getoption("--processor-time"):
        from support.processor_time import ProcessorTimes

        config.pluginmanager.register(ProcessorTimes(None if hasattr(config, "workerinput") else Path(file)))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Do not import a file all of whose tests are left out: `make quick` then collects a sixth faster."""
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return True if LEFT_OUT and is_test and LEFT_OUT & marks_of_file(collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of another effort, and begin with those that take long."""
    chosen = [item for item in items if _belongs(item)]
    config.hook.pytest_deselected(items=[item for item in items if not _belongs(item)])
    if config.pluginmanager.has_plugin("xdist"):
        from support.parallel import place_in_order

        chosen.sort(key=place_in_order)
    items[:] = chosen


def _belongs(item: pytest.Item) -> bool:
    marks = {mark.name for mark in item.iter_markers()}
    if "quiescence_long" in marks and isinstance(item, pytest.Function) and "quiescence" in _parameters(item):
        marks.add("long")
    if IS_LONG:
        return bool(marks & {"long", "scaled"})
    return not marks & LEFT_OUT


def _parameters(item: pytest.Function) -> list[object]:
    return list(item.callspec.params.values()) if hasattr(item, "callspec") else []


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name binary parameters by their argument: gzip writes the time, and processes must collect the same tests."""
    return argname if isinstance(val, bytes) and not (val.isascii() and val.decode().isprintable()) else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that is marked with blocks of a page and has passed without running all of them."""
    outcome = yield
    selections = [(mark.args, mark.kwargs) for mark in item.iter_markers("runs")]
    if selections:
        from support.doc_blocks import not_executed

        left_out = not_executed(selections)
        assert not left_out, "not run: " + "; ".join(map(str, left_out))
    return outcome


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while modules are imported and tests are made, for which it takes a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Keep the collector away from the modules and tests of this process: hundreds of tests collect all garbage.

    It also begins less often than by default, after each 700 objects: this takes a tenth of the time of some tests.
    """
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute files and folders over the processes, in the order of the tests."""
    from support.parallel import FilesAndFolders

    config.option.loadscopereorder = False
    return FilesAndFolders(config, log)
