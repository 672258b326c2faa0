"""Waiting for a condition, with an explanation if it does not come true."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

PATIENCE_S: Final = 60.0
"""Longer than anything takes on a busy machine; only a test that fails waits as long."""
_LOOK_EVERY_S: Final = 0.01
_LOOK_AT_LEAST_EVERY_S: Final = 0.05
"""After some time: frequent checks would take as much processor time as the awaited work."""


def wait_until(
    condition: Callable[[], object], doing: str | Callable[[], str] | None = None, timeout_s: float = PATIENCE_S
) -> None:
    """Wait until a condition is true; fail after ``timeout_s``.

    Args:
        condition: called every 10 ms, after some time every 50 ms.
        doing: what is waited for, or a function that explains why it did not come true. Default: where the condition
            is written.
        timeout_s: how long to wait, in seconds.
    """
    began_s = time.monotonic()
    while not (last := condition()):
        waited_s = time.monotonic() - began_s
        if waited_s > timeout_s:
            description = doing() if callable(doing) else doing or f"{_source_of(condition)} is still {last!r}"
            raise AssertionError(f"waited for {timeout_s:g} s: {description}")
        time.sleep(min(max(_LOOK_EVERY_S, waited_s / 20), _LOOK_AT_LEAST_EVERY_S))


def _source_of(condition: Callable[[], object]) -> str:
    code = getattr(condition, "__code__", None)
    return repr(condition) if code is None else f"{condition.__qualname__} in {code.co_filename}:{code.co_firstlineno}"
