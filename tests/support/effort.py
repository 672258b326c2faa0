"""The amount of work that tests do: little in `make quick`, the usual in `make test`, much in `make long`."""

from __future__ import annotations

import os
from typing import Final, Literal, TypeVar, cast

Effort = Literal["quick", "usual", "long"]
_Size = TypeVar("_Size")

EFFORT: Final = cast("Effort", os.environ.get("KAFKA_REPLICA_TEST_EFFORT", "usual"))
IS_LONG: Final = EFFORT == "long"


def examples(usual: int, *, long: int | None = None) -> int:
    """Return how many examples a property is tested with: a fifth in a quick run, ten times as many in a long one."""
    return {"quick": max(usual // 5, min(usual, 10)), "usual": usual, "long": long or 10 * usual}[EFFORT]


def usual_or_long(usual: _Size, long: _Size) -> _Size:
    """Return the size of a test that is marked as scaled."""
    return long if IS_LONG else usual
