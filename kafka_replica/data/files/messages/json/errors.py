"""The errors that a service lists in a message. Source: SDMX-JSON data message, field guide 2.1, ``errors``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

_MOST: Final = 100
_LONGEST: Final = 1_000


def errors_in(errors: Any) -> tuple[str, ...]:
    """Return the errors in a message as text, such as ``error 413: too much``; empty if ``errors`` is not a list."""
    if not isinstance(errors, list):
        return ()
    return tuple(": ".join(_parts(error))[:_LONGEST] for error in errors[:_MOST] if isinstance(error, Mapping))


def _parts(error: Mapping[str, Any]) -> Iterator[str]:
    code = error.get("code")
    yield "error" if code is None else f"error {code}"
    # 1.0 has ``message``; later versions have ``title`` and ``detail``, or ``titles`` and ``details`` by language.
    for name in ("message", "title", "titles", "detail", "details"):
        value = error.get(name)
        if isinstance(value, Mapping):
            if name.removesuffix("s") in error:
                continue
            value = " / ".join(map(str, value.values()))
        if value:
            yield str(value)
