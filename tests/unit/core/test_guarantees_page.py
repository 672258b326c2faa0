"""The page of guarantees names all guarantees of the README, and tests that exist."""

from __future__ import annotations

import re

from support.paths import ROOT

PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_each_guarantee_of_the_readme_has_a_section_with_tests() -> None:
    """G1 to G8 each have a section that names at least one test on a real broker, or of the store."""
    named = re.findall(r"^\| (G\d) \|", README, re.MULTILINE)
    sections = dict(re.findall(r"^## (G\d) [^\n]*\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
    assert list(sections) == named == [f"G{number}" for number in range(1, 9)]
    assert all("tests/integration/" in text for text in sections.values())


def test_the_named_tests_exist() -> None:
    """Each path on the page is a file with tests."""
    paths = set(re.findall(r"`(tests/[\w/.]+)`", PAGE))
    assert len(paths) > 15
    assert [path for path in sorted(paths) if "def test_" not in (ROOT / path).read_text(encoding="utf-8")] == []
