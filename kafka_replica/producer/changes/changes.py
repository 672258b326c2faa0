"""Changes that are recorded: a key has new content, or was deleted. Plain values, no I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from kafka_replica.common.wording import counted, shortened
from kafka_replica.errors import UsageError
from kafka_replica.producer.transactions.keys import checked_key
from kafka_replica.records import Key, key_bytes, key_text

__all__ = ["Change", "Delete", "Put", "UnreadableKey", "content_hash", "key_hash", "puts_and_deletes"]

_DIGEST_BYTES = 32


class Put(NamedTuple):
    """New content of a key, which may be new itself.

    ``content_type`` is the media type of ``value``, and is sent in the header ``content-type``; None sends no header.
    ``digest`` has 32 bytes and shows whether content has changed; None means SHA-256 of content and media type.
    """

    key: Key
    value: bytes
    content_type: str | None = None
    digest: bytes | None = None

    def __repr__(self) -> str:
        kind = "" if self.content_type is None else f" of {self.content_type}"
        return f"<Put {shortened(key_text(key_bytes(self.key)), 120)}, {counted(len(self.value), 'byte')}{kind}>"


class Delete(NamedTuple):
    """The deletion of a key."""

    key: Key


class UnreadableKey(NamedTuple):
    """A key in the source whose content cannot be read; the key keeps the content that was recorded before.

    ``key`` is None if even the key is unknown. In this case nothing is deleted, because the content may belong to any
    key.
    """

    key: Key | None
    reason: str


Change: TypeAlias = Put | Delete
"""A change of one key: its new value, or its deletion."""


def key_hash(key: Key) -> bytes:
    """Return the SHA-256 of a key, whose fixed length allows every database to index it."""
    return hashlib.sha256(key_bytes(key)).digest()


def content_hash(put: Put) -> bytes:
    """Return the hash that shows whether content has changed: ``digest``, or SHA-256 of content and media type."""
    if put.digest is not None:
        return put.digest
    digest = hashlib.sha256((put.content_type or "").encode())
    digest.update(b"\0")
    digest.update(put.value)
    return digest.digest()


def puts_and_deletes(changes: Iterable[Change]) -> tuple[list[Put], list[Delete]]:
    """Separate puts from deletions, which never share a transaction. If a key is duplicated, its last change counts.

    The puts are returned with their digests, so that content is hashed only once.

    Raises:
        UsageError: an element is not a change, or cannot be sent to Kafka.
    """
    last: dict[bytes, Change] = {}
    for change in changes:
        key = _checked_key(change)
        last.pop(key, None)  # a repeated key moves to the position of its last change
        last[key] = change
    puts = [change._replace(digest=content_hash(change)) for change in last.values() if isinstance(change, Put)]
    deletes = [change for change in last.values() if isinstance(change, Delete)]
    return puts, deletes


def _checked_key(change: Change) -> bytes:
    if not isinstance(change, Put | Delete):
        raise UsageError(f"recording changes: each must be a Put or a Delete, not {type(change).__name__}")
    key = checked_key(change.key, f"recording a {type(change).__name__}")
    if isinstance(change, Put):
        _check_content(change, f"recording {key_text(key)}")
    return key


def _check_content(put: Put, doing: str) -> None:
    given: tuple[object, object, object] = put.value, put.content_type, put.digest  # types may differ at runtime
    value, content_type, digest = given
    if not isinstance(value, bytes):
        raise UsageError(f"{doing}: its value must be bytes, not {type(value).__name__}; to delete a key, use a Delete")
    if content_type is not None and not (isinstance(content_type, str) and content_type.isprintable()):
        raise UsageError(f"{doing}: its content type must be a media type or None, not {content_type!r}")
    if digest is not None and not (isinstance(digest, bytes) and len(digest) == _DIGEST_BYTES):
        raise UsageError(f"{doing}: its digest must have {_DIGEST_BYTES} bytes, or be None")
