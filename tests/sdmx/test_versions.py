"""Versions with wildcards."""

from __future__ import annotations

import pytest

from kafka_replica.sdmx.versions import newest, sort_key

KNOWN = ["1.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0", "2.1.0-draft", "3.0.0-rc.2"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*", "2.0.0"),
        ("1+.0.0", "2.0.0"),
        ("1.0+.0", "1.10.0"),
        ("1.0.0+", "1.0.1"),
        ("1.2.1+", None),
        ("3+.0.0", None),
        ("1.0+", "1.10.0"),
        ("1.0", "1.0"),
        ("9.9", None),
    ],
)
def test_newest(pattern: str, expected: str | None) -> None:
    """The newest stable version with the parts before the plus fixed; drafts never by a plus."""
    assert newest(pattern, KNOWN) == expected


def test_order() -> None:
    """Numbers order as numbers, and a draft comes before its version."""
    assert sorted(["1.10.0", "1.9.0", "1.9.0-draft", "1.9.0-alpha.2", "1.9.0-alpha.10"], key=sort_key) == [
        "1.9.0-alpha.2",
        "1.9.0-alpha.10",
        "1.9.0-draft",
        "1.9.0",
        "1.10.0",
    ]


def test_only_drafts() -> None:
    """A star takes a draft where there is nothing else."""
    assert newest("*", ["1.0.0-draft"]) == "1.0.0-draft"
