"""Each extra has all that it needs: its first steps run although the distributions of other extras are missing."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from support.paths import ROOT

pytestmark = pytest.mark.thorough

_PROGRAMS = ROOT / ".ci" / "first_steps"
_RUNNER = ROOT / "tests" / "support" / "extra_alone.py"
_OFTEN = {"cli", "producer", "sdmx", "server"}
_WITH_JAVA = {"embedded", "spark"}
"""Extras whose first steps start Kafka or Spark: `make package` runs them."""
EXTRAS = sorted(
    tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"].keys()
    - {"all"} - _WITH_JAVA
)  # fmt: skip


@pytest.mark.parametrize(
    "extra", [pytest.param(each, marks=[] if each in _OFTEN else pytest.mark.long) for each in EXTRAS]
)
def test_the_first_steps_need_no_other_extra(extra: str) -> None:
    """A module that imports a library of another extra would fail for those who installed this one alone."""
    ended = run(extra, _PROGRAMS / f"with_{extra}.py")
    assert ended.returncode == 0, ended.stderr


def test_a_library_of_another_extra_is_missing(tmp_path: Path) -> None:
    """The error is that of a user who has only this extra."""
    program = tmp_path / "program.py"
    program.write_text("import starlette\nimport confluent_kafka\nimport polars\n")
    ended = run("server", program)
    assert ended.returncode == 1
    assert "No module named 'polars'" in ended.stderr


def run(extra: str, program: Path) -> subprocess.CompletedProcess[str]:
    """Run a program with the distributions of an extra."""
    return subprocess.run([sys.executable, _RUNNER, extra, program], capture_output=True, text=True, check=False)
