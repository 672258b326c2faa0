"""A process is killed at any moment: its history has all versions that were published, and continues."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest

from support.core.rocks_tools import new_folder
from support.effort import usual_or_long
from support.paths import TESTS

KILLS = usual_or_long(4, 8, 60)


@pytest.mark.long
@pytest.mark.scaled
def test_killed_at_random_moments() -> None:
    """After each kill all versions are exact, none is missing, and the next process continues with the next one."""
    program = TESTS / "support/history/history_killed.py"
    with new_folder() as folder:
        done = subprocess.run(
            [sys.executable, program, folder, str(KILLS), "7"],
            check=False,
            capture_output=True,
            text=True,
            timeout=20 * KILLS,
        )
    assert done.returncode == 0, done.stderr
    looks = [tuple(map(int, line.split())) for line in done.stdout.split("\n") if line]
    newest = [number for number, _ in looks]
    assert len(looks) == KILLS
    assert all(first < second for first, second in pairwise(newest)), "a process has recorded nothing"
    assert KILLS < 20 or looks[-1][1] == 60, "no version was removed"
