"""The amount of work of tests: little in `make quick`, usual in `make test`, much in `make long` and `make proof`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, cast

import pytest

Effort = Literal["quick", "usual", "long", "proof"]
_Size = TypeVar("_Size")

EFFORT: Final = cast("Effort", os.environ.get("KAFKA_REPLICA_TEST_EFFORT", "usual"))
IS_LONG: Final = EFFORT in {"long", "proof"}
LEFT_OUT: Final[frozenset[str]] = frozenset({
    "quick": ("long", "thorough", "broker", "spark"),
    "usual": ("long",),
}.get(EFFORT, ()))  # fmt: skip
"""The marks of tests that are not run; `make long` and `make proof` choose by the marks that they do run."""

_MARKS_OF_FILE: Final = re.compile(
    r"^pytestmark = (\[?(?:pytest\.mark\.\w+(?:\([^()\n]*\))?(?:, )?)+\]?)$", re.MULTILINE
)  # fmt: skip
"""A line with marks and nothing else; a file with another line is imported, and its tests are left out then."""
_MARK: Final = re.compile(r"\bpytest\.mark\.(\w+)")


def marks_of_file(path: Path) -> set[str]:
    """Return the marks that a file of tests gives to all of them in one line, without importing the file."""
    line = _MARKS_OF_FILE.search(path.read_text(encoding="utf-8", errors="replace"))
    return set(_MARK.findall(line[1])) if line else set()


def examples(enough: int, *, long: int | None = None, proof: int | None = None) -> int:
    """Return how many examples a property is tested with.

    Args:
        enough: how many usually find a fault. `make test` takes a fifth of them, but at least 40, and
            `make quick` a fifth, but at least 10.
        long: how many `make long` takes, which runs before anything lands; ``enough`` if not given.
        proof: how many `make proof` takes, which runs before a release; five times ``enough`` if not given.
    """
    usual = max(enough // 5, min(enough, 40))
    quick = max(enough // 5, min(enough, 10))
    most = proof or max(5 * enough, long or 0)
    return {"quick": quick, "usual": usual, "long": long or enough, "proof": most}[EFFORT]


def usual_or_long(usual: _Size, long: _Size, proof: _Size | None = None) -> _Size:
    """Return the size of a test that is marked as scaled; `make proof` takes the long one if it has none of its own."""
    return proof if EFFORT == "proof" and proof is not None else long if IS_LONG else usual


def first_in_usual(values: Iterable[object], usual: int) -> list[object]:
    """Return the parameters of a test, of which those after the first ones are left to `make long`."""
    kept = list(values)
    return [*kept[:usual], *map(_long, kept[usual:])]


def spread_in_usual(values: Iterable[object], every: int) -> list[object]:
    """Return the values of one parameter, of which all but every n-th one are left to `make long`."""
    return [one if at % every == 0 else pytest.param(one, marks=pytest.mark.long) for at, one in enumerate(values)]


def _long(one: Any) -> object:
    if hasattr(one, "marks"):  # what pytest.param() returned
        return pytest.param(*one.values, marks=[*one.marks, pytest.mark.long], id=one.id)
    return pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=pytest.mark.long)
