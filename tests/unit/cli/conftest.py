"""The command line within the test process."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from support.cli.data_runs import Run, runner


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Iterator[Run]:
    """Return a function that runs a command in this process."""
    before = signal.getsignal(signal.SIGTERM)
    yield runner(capfdbinary)
    signal.signal(signal.SIGTERM, before)
