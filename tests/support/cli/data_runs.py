"""Runs of the commands ``validate`` and ``map`` in this process, on data of the sample structures."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

import pytest

from kafka_replica.cli.run import run_command
from kafka_replica.sdmx.samples import sample_files

FLOW: Final = "KR_DEMO:LABOUR(1.0)"
SAMPLES: Final = sample_files()[0].parent


_LINE_OF_A_CLIENT: Final = re.compile(r"^%\d\|[\d.]+\|.*\n", re.MULTILINE)


class CompletedRun(NamedTuple):
    """The result of a command."""

    returncode: int
    stdout: str
    stderr: str


Run: TypeAlias = Callable[..., CompletedRun]


def without_client_lines(error_output: str) -> str:
    """Leave out the lines of librdkafka: clients of other tests write to the same standard error at any time."""
    return _LINE_OF_A_CLIENT.sub("", error_output)


def runner(captured: pytest.CaptureFixture[bytes]) -> Run:
    """Return a function that runs a command in this process."""

    def run_it(*arguments: object) -> CompletedRun:
        code = run_command([str(argument) for argument in arguments])
        out, err = captured.readouterr()
        return CompletedRun(code, out.decode(), without_client_lines(err.decode()))

    return run_it
