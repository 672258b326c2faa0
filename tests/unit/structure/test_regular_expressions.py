"""Regular expressions that every supported Python matches alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.paths import ROOT

_AFTER_A_GROUP = re.compile(r"(?<!\\)\)[*+?]\+")


@pytest.mark.thorough
@pytest.mark.parametrize("package", ["kafka_replica", "spark/kafka_replica_spark"])
def test_no_possessive_quantifier_follows_a_group_with_alternatives(package: str) -> None:
    """An expression of this kind is wrong in Python 3.11.0 to 3.11.4, which Debian 12 has; an atomic group is right.

    If the last repetition fails after a part of it has matched, these versions continue behind that part instead of
    before it (python/cpython#106052).
    """
    wrong = [f"{file}: {one}" for file in sorted((ROOT / package).rglob("*.py")) for one in _unsafe(file)]
    assert not wrong


def _unsafe(file: Path) -> list[str]:
    lines = (line for line in file.read_text().splitlines() if not line.lstrip().startswith("#"))
    return [
        line.strip() for line in lines for end in _AFTER_A_GROUP.finditer(line) if _varies(_group(line, end.start()))
    ]


def _group(line: str, end: int) -> str:
    """Return the group that ends at a bracket."""
    depth = 0
    for place in range(end, -1, -1):
        depth += (line[place] == ")") - (line[place] == "(")
        if not depth:
            return line[place : end + 1]
    return line[: end + 1]


def _varies(group: str) -> bool:
    """Return whether a group has alternatives, perhaps inserted ones."""
    return "|" in group or "%b" in group


@pytest.mark.parametrize(
    ("line", "expected"),
    [(r"(?:a|b)*+", 1), (r"(?:\\.[^x]*+)*+", 0), (r"(?:x%b)++", 1), (r"(?>(?:a|b)*)", 0), (r"[()*+]", 0)],
)
def test_the_check_finds_such_expressions(line: str, expected: int, tmp_path: Path) -> None:
    """Only a possessive quantifier after a group that varies is found."""
    file = tmp_path / "module.py"
    file.write_text(line)
    assert len(_unsafe(file)) == expected
