"""A fixture of the checkers' tests, which both unit and integration tests use."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.chaos.chaos_world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Return a run without any records."""
    return World(tmp_path)
