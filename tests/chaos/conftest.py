"""A hand-made run for each test."""

from __future__ import annotations

from pathlib import Path

import pytest
from chaos_world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Nothing written yet."""
    return World(tmp_path)
