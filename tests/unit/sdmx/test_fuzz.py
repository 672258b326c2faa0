"""A short run of `make fuzz`: every reader survives some hundred inputs, and a reader that does not is found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import strategies as st

from fuzz.session import batch
from fuzz.targets import TARGETS, Target
from support.effort import examples

pytestmark = pytest.mark.thorough

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", examples(150, long=150, proof=1_500)))


@pytest.mark.scaled
@pytest.mark.parametrize("name", TARGETS)
def test_any_input_gives_a_result_or_our_error(name: str, tmp_path: Path) -> None:
    """Any input gives a result or one of our errors."""
    found = batch(TARGETS[name], 1, EXAMPLES, tmp_path)
    assert found is None, found


def test_a_breaking_input_is_minimised_and_kept(tmp_path: Path) -> None:
    """An input that breaks a reader is minimised, kept in a file, and run again by the printed command."""

    def feed(data: bytes) -> None:
        if b"x" in data:
            raise KeyError(data)

    found = batch(Target("broken", st.binary(), feed), 1, 2000, tmp_path)
    assert found is not None
    assert found.error.startswith("KeyError")
    assert Path(found.file).read_bytes() == b"x"
    assert found.repeat == f"python -m fuzz --reader broken --repeat {found.file}"
    assert found.repeat in Path(found.file).with_suffix(".txt").read_text()
    assert not list(tmp_path.glob("*.now"))
