"""The check of the public interface: it lets additions pass, and finds what breaks a caller and is in no changelog."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from support.paths import ROOT

CHECK: dict[str, Any] = runpy.run_path(str(ROOT / ".ci" / "check_api.py"))
BEFORE = [
    "command kafka-replica list --json",
    "kafka_replica Replica(config, topic=None, *, kept_versions=0)",
    "kafka_replica Replica.state",
    "kafka_replica.topics create(topics, *, config)",
    "metric kafka_replica_ready gauge replica, topic",
]


@pytest.mark.parametrize(
    ("before", "now", "allowed"),
    [
        ("f(a, b=1)", "f(a, b=1, c=None, *, d='x')", True),
        ("f(a, b=1)", "f(a, b=2)", False),
        ("f(a, b=1)", "f(b=1, a=2)", False),
        ("f(a, b)", "f(a, b=1)", True),
        ("f(a, b=1)", "f(a, c=1)", False),
        ("f(a, b=1)", "f(a, *, b=1)", False),
        ("f(a, *, b=1)", "f(a, b=1)", True),
        ("f(a)", "f(a, b)", False),
        ("f(a)", "f(a, *, b)", False),
        ("f(*changes)", "f(changes)", False),
        ("f()", "f(*args, **kwargs)", True),
        ("f", "f()", False),
    ],
)
def test_a_signature_may_grow_and_nothing_else(before: str, now: str, *, allowed: bool) -> None:
    """Whoever calls by the earlier signature can still do so, and gets the same defaults."""
    assert CHECK["accepts"](now, before) is allowed


@pytest.mark.parametrize(
    ("line", "new", "name"),
    [
        (0, [], "kafka-replica list --json"),
        (1, ["kafka_replica Replica(config, topic, *, kept_versions=0)"], "Replica"),
        (2, [], "Replica.state"),
        (3, ["kafka_replica.topics create(topics)"], "create"),
        (4, ["metric kafka_replica_ready gauge replica"], "kafka_replica_ready"),
    ],
)
def test_a_removal_or_change_has_to_be_named(line: int, new: list[str], name: str) -> None:
    """A note counts in what is unreleased, and there not among the additions."""
    missing, now = CHECK["missing_notes"], [*BEFORE[:line], *new, *BEFORE[line + 1 :]]
    (found,) = missing(
        BEFORE, now, f"\n## Unreleased\n\n### Added\n\n- `{name}`.\n\n## 0.1.0\n\n### Removed\n\n- `{name}`.\n"
    )
    assert found.startswith(BEFORE[line])
    assert f"`{name}`" in found
    for section in ("Changed", "Removed", "Deprecated"):
        assert missing(BEFORE, now, f"\n## Unreleased\n\n### {section}\n\n- `{name}`.\n\n## 0.1.0\n") == []


def test_additions_pass() -> None:
    """More names, options and parameters with a default need no note."""
    now = [line.replace("kept_versions=0)", "kept_versions=0, more=1)") for line in BEFORE]
    assert CHECK["missing_notes"](BEFORE, [*now, "kafka_replica Other()", "metric other counter"], "") == []
