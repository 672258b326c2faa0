"""The folders of the project, the samples of structures and the corpus."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
SDMX_DATA = TESTS / "support" / "sdmx" / "data"
CORPUS = ROOT.parent / "shared" / "corpus"
"""Real structure files, which are not part of the project: tests that need them skip loudly without them."""
