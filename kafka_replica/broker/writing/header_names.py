"""Header names that confluent-kafka cannot send: those with lone surrogates, such as readers return for other bytes."""

from __future__ import annotations

from collections.abc import Iterable


def is_sendable(name: str) -> bool:
    """Return whether a name can be encoded as UTF-8; with any other name confluent-kafka ends the process."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def find_unsendable(headers: Iterable[tuple[str, object]]) -> str | None:
    """Return the first name among headers that cannot be sent, or None."""
    return next((name for name, _ in headers if not is_sendable(name)), None)
