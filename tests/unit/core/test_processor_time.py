"""The tool of the tests that measures their processor time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.processor_time import spent_s

WORK = "import time\nwhile time.process_time() < 0.3: pass\n"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux writes there what processes take")
@pytest.mark.thorough
def test_the_time_of_processes_that_run_and_that_have_ended_is_included() -> None:
    """The processor time includes that of a child that has ended, and of one that still runs."""
    before_s = spent_s()
    subprocess.run([sys.executable, "-c", WORK], check=True)
    between_s = spent_s()
    assert between_s - before_s >= 0.25
    line = [sys.executable, "-c", f"{WORK}print(flush=True)\ninput()"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.readline()
        assert spent_s() - between_s >= 0.25
        running.communicate(b"\n")
