"""The check of keys that a caller gives, before anything is sent or recorded."""

from __future__ import annotations

from kafka_replica.errors import UsageError
from kafka_replica.records import Key, key_bytes


def checked_key(key: Key, doing: str) -> bytes:
    """Return the bytes of a key.

    Args:
        key: the key as the caller gave it, whose type may be wrong at runtime.
        doing: the current operation, for the message.

    Raises:
        UsageError: the key is neither text nor bytes, such as None, which a compacted topic refuses; or it cannot be
            encoded as UTF-8.
    """
    if not isinstance(key, str | bytes):
        raise UsageError(
            f"{doing}: its key must be str or bytes, not {type(key).__name__}; a compacted topic has one record per key"
        )
    try:
        return key_bytes(key)
    except UnicodeEncodeError as error:
        raise UsageError(f"{doing}: its key {key!r} is not text: {error.reason}") from error
