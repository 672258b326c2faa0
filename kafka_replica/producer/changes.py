"""What a source says has changed: a key's new content, or that it is no more. Values, no I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from kafka_replica.common.wording import counted, shortened
from kafka_replica.errors import UsageError
from kafka_replica.records import Key, key_bytes, key_text

__all__ = ["Change", "Delete", "Put", "Unreadable", "apart", "content_hash", "key_hash"]

_DIGEST_BYTES = 32


class Put(NamedTuple):
    """A key is added, or has new content.

    ``content_type`` is the media type of ``value``, sent in the header ``content-type``; None sends none.
    ``digest``, of 32 bytes, tells whether content has changed; SHA-256 of content and media type where it is None.
    """

    key: Key
    value: bytes
    content_type: str | None = None
    digest: bytes | None = None

    def __repr__(self) -> str:
        kind = "" if self.content_type is None else f" of {self.content_type}"
        return f"<Put {shortened(key_text(key_bytes(self.key)), 120)}, {counted(len(self.value), 'byte')}{kind}>"


class Delete(NamedTuple):
    """A key is no more."""

    key: Key


class Unreadable(NamedTuple):
    """A source holds a key whose content cannot be read; the key keeps the content that was recorded before.

    ``key`` is None where even the key is not known: then nothing is deleted, because it may be that of the content.
    """

    key: Key | None
    reason: str


Change: TypeAlias = Put | Delete


def key_hash(key: Key) -> bytes:
    """SHA-256 of a key: of one length whatever the key's, so that every database can index it."""
    return hashlib.sha256(key_bytes(key)).digest()


def content_hash(put: Put) -> bytes:
    """What tells whether content has changed: SHA-256 of content and media type, unless the source says better."""
    if put.digest is not None:
        return put.digest
    digest = hashlib.sha256((put.content_type or "").encode())
    digest.update(b"\0")
    digest.update(put.value)
    return digest.digest()


def apart(changes: Iterable[Change]) -> tuple[list[Put], list[Delete]]:
    """Part additions and changes from deletions: they never share a transaction. Of a key named twice, the last counts.

    Raises:
        UsageError: something is not a change, or cannot be sent to Kafka.
    """
    last: dict[bytes, Change] = {}
    for change in changes:
        key = _checked_key(change)
        last.pop(key, None)  # so that it stands where it was said last
        last[key] = change
    puts = [change for change in last.values() if isinstance(change, Put)]
    deletes = [change for change in last.values() if isinstance(change, Delete)]
    return puts, deletes


def _checked_key(change: Change) -> bytes:
    if not isinstance(change, Put | Delete):
        raise UsageError(f"recording changes: each is a Put or a Delete, not {type(change).__name__}")
    name = type(change).__name__
    if not isinstance(change.key, str | bytes):
        raise UsageError(f"recording a {name}: its key is str or bytes, not {type(change.key).__name__}")
    try:
        key = key_bytes(change.key)
    except UnicodeEncodeError as error:
        raise UsageError(f"recording a {name}: its key {change.key!r} is not text: {error.reason}") from error
    if isinstance(change, Put):
        _check_content(change, f"recording {key_text(key)}")
    return key


def _check_content(put: Put, doing: str) -> None:
    given: tuple[object, object, object] = put.value, put.content_type, put.digest  # whatever their types say
    value, content_type, digest = given
    if not isinstance(value, bytes):
        raise UsageError(f"{doing}: its value is bytes, not {type(value).__name__}; to delete a key, give a Delete")
    if content_type is not None and not (isinstance(content_type, str) and content_type.isprintable()):
        raise UsageError(f"{doing}: its content type is a media type or None, not {content_type!r}")
    if digest is not None and not (isinstance(digest, bytes) and len(digest) == _DIGEST_BYTES):
        raise UsageError(f"{doing}: its digest has {_DIGEST_BYTES} bytes, or is None")
