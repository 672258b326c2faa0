"""The check of the lengths of lines in pages: it finds only lines that can be broken."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from support.paths import ROOT

CHECK: dict[str, Any] = runpy.run_path(str(ROOT / ".ci" / "check_docs.py"))
LONG = "word " * 30
LINK = f"[text](https://example.org/{'x' * 130})"


@pytest.mark.parametrize(
    ("page", "found"),
    [
        (LONG, [1]),
        (f"a short line\n{LONG}", [2]),
        (f"- {LONG}", [1]),
        (f"text {LINK}", [1]),
        (LINK, []),
        (f"1. {LINK},", []),
        (f"> - {LINK}", []),
        (f"`{LONG}`", []),
        (f"```\n{LONG}\n```", []),
        (f"text\n\n    {LONG}", []),
        (f"| a |\n|---|\n| {LONG} |", []),
    ],
)
def test_a_long_line_is_found_if_it_can_be_broken(page: str, found: list[int]) -> None:
    """Tables, code, and lines that consist of a link may be longer."""
    assert CHECK["long_lines"](page) == found
