"""Keys for encryption, and the interface of key providers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from kafka_replica.errors import ConfigurationError
from kafka_replica.headers.pieces.protection import check_key_id

_KEY_BYTES = 32


@runtime_checkable
class KeyProvider(Protocol):
    """A provider of keys for AES-256, such as a client of a key service.

    It is called for each record, so it should cache keys. The key of an id must never change. A provider must be
    thread-safe.
    """

    @property
    def identity(self) -> str:
        """A name for the set of keys, without secrets; a store on disk is rebuilt when the name changes."""

    def current_key_id(self) -> str:
        """Return the id of the key for encrypting.

        Raises:
            ServiceUnavailableError: the id cannot be fetched at the moment.
        """

    def key(self, key_id: str) -> bytes:
        """Return the key with an id, 32 bytes.

        Raises:
            LookupError: there is no such key; the record is then bad.
            ServiceUnavailableError: the key cannot be fetched at the moment; the replica then waits and requests it
                again, and no record is left out. With ``is_refusal=True``, a replica that has read no record yet fails
                instead.
        """


class KeyRing:
    """A provider of a few keys in memory.

    Args:
        keys: the keys by id, each with 32 random bytes.
        current: the id of the key for encrypting; it may be left out if there is only one key.

    Raises:
        ConfigurationError: a key or an id is invalid, or ``current`` is missing or not one of the ids.
    """

    def __init__(self, keys: Mapping[str, bytes], current: str | None = None) -> None:
        for key_id, key in keys.items():
            check_key_id(key_id)
            if len(key) != _KEY_BYTES:
                raise ConfigurationError(f"the key {key_id} does not have {_KEY_BYTES} bytes, as AES-256 needs")
        if current is None and len(keys) != 1:
            raise ConfigurationError("several keys are given, or none; name the current one: current='...'")
        self._keys = dict(keys)
        self._current = next(iter(keys)) if current is None else current
        if self._current not in keys:
            raise ConfigurationError(f"current={current!r} is not one of the keys {', '.join(sorted(keys))}")

    def __repr__(self) -> str:
        return f"<KeyRing {', '.join(sorted(self._keys))}>"

    @property
    def identity(self) -> str:
        """The ids of the keys."""
        return ",".join(sorted(self._keys))

    def current_key_id(self) -> str:
        """Return the id of the key for encrypting."""
        return self._current

    def key(self, key_id: str) -> bytes:
        """Return the key with an id, 32 bytes. Raises KeyError if there is no such key."""
        return self._keys[key_id]
