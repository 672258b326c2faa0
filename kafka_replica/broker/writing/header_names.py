"""Header names that confluent-kafka cannot send: those with lone surrogates, such as readers return for other bytes."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_replica.errors import RecordNotSentError
from kafka_replica.records import key_text


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


def check_sendable(topic: str, key: bytes, headers: Iterable[tuple[str, object]]) -> None:
    """Check the names of a record's headers.

    Raises:
        RecordNotSentError: a name cannot be sent.
    """
    if (name := find_unsendable(headers)) is not None:
        raise RecordNotSentError(
            f"handing over key {key_text(key)} for topic {topic}: the name of the header {name!r} cannot be "
            "encoded as UTF-8, and the client sends no other names; rename the header"
        )
