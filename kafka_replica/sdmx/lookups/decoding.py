"""Decoding of the records of one version."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Protocol

from kafka_replica.common.wording import counted
from kafka_replica.errors import BadRecordError
from kafka_replica.records import Key, Record
from kafka_replica.sdmx.errors import MessageError, SdmxError
from kafka_replica.sdmx.lookups.cache import Content, DecodeCache, content_of
from kafka_replica.sdmx.lookups.class_aliases import urn_aliases
from kafka_replica.sdmx.lookups.index.keys import urn_of_key
from kafka_replica.sdmx.messages.message import Message
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.reading.messages import read_message, size_of
from kafka_replica.sdmx.urns.urn import Urn

CONTENT_TYPE: Final = "content-type"
"""The record header that holds the media type of the value."""

_SHOWN: Final = 3
"""The maximum number of unreadable artefacts that an error names."""


class Snapshot(Protocol):
    """The part of an immutable replica version that look-ups need."""

    @property
    def version(self) -> int:
        """The number of the version."""
        ...

    def get(self, key: Key, /) -> Record | None:
        """Return the record of a key, or None."""
        ...

    def __iter__(self) -> Iterator[bytes]:
        """Iterate over all keys."""
        ...


class RecordDecoder:
    """The records of one version, decoded on first use, each content only once. Thread-safe."""

    def __init__(self, snapshot: Snapshot, cache: DecodeCache) -> None:
        self.snapshot: Final = snapshot
        self.cache: Final = cache
        self._contents: dict[Urn, Content] = {}  # by key, for the records that were read
        self.indexed: Callable[[Urn], Content | None] = _not_indexed
        """Returns the identity of a key's content if an index has it: then the record need not be read."""

    def keys(self) -> Iterator[Urn]:
        """Yield the keys that are URNs of artefacts, in no particular order."""
        return (urn for key in self.snapshot if (urn := urn_of_key(key)) is not None)

    def record(self, key: Urn) -> Record | None:
        """Return the record of a key; None if there is no record, or it has no value.

        Raises:
            MessageError: the value of the record is incomplete, as a large value without one of its chunks is.
        """
        try:
            record = self.snapshot.get(bytes(key))
        except BadRecordError as error:
            raise MessageError(str(error)) from error
        return record if record is not None and record.value is not None else None

    def holds(self, key: Urn) -> bool:
        """Return whether there is a record of a key with a value, which may be incomplete."""
        try:
            return self.record(key) is not None
        except MessageError:
            return True

    def cached(self, key: Urn) -> Message | None:
        """Return the message of a key if it was requested before and is still in the cache."""
        content = self._contents.get(key)
        return None if content is None else self.cache.known(content)

    def message(self, key: Urn) -> Message | None:
        """Return the message of a key; None if the key has no record; raise SdmxError if it cannot be read."""
        content = self._contents.get(key) or self.indexed(key)
        known = None if content is None else self.cache.known(content)
        if content is not None and known is not None:
            self._contents[key] = content
            return known
        record = self.record(key)
        if record is None:
            return None
        content = content or content_of(record.value or b"", media_type(record))
        self._contents[key] = content
        return self.message_of(record, content, keep=True)

    def message_of(self, record: Record, content: Content | None = None, *, keep: bool = False) -> Message:
        """Return the message of a record; see :meth:`DecodeCache.message` for ``keep``."""
        value, content_type = record.value or b"", media_type(record)
        try:
            return self.cache.message(
                content or content_of(value, content_type),
                lambda: (read_message(value, content_type, on_error="collect"), size_of(value)),
                keep=keep,
            )
        except SdmxError as error:
            raise type(error)(f"{place_of(record)}: {error}") from error

    def artefact_of_key(self, key: Urn, message: Message) -> Artefact:
        """Return the artefact of a key from the key's message; raise MessageError if the message lacks it."""
        for urn_alias in urn_aliases(key):
            if urn_alias in message.artefacts:
                return message.artefacts[urn_alias]
        record = self.record(key)
        place = "" if record is None else f"{place_of(record)}: "
        raise MessageError(place + why_not_held(key, message))


def _not_indexed(_key: Urn) -> None:
    return None


def partly_unreadable(record: Record, message: Message) -> MessageError:
    """Return the error for a record whose message holds other, unreadable artefacts than the artefact of its key."""
    shown = "; ".join(str(error) for error in message.errors[:_SHOWN])
    more = f"; and {len(message.errors) - _SHOWN} more" if len(message.errors) > _SHOWN else ""
    count = len(message) + len(message.errors)
    return MessageError(
        f"{place_of(record)}: of {counted(count, 'artefact')} in it {len(message.errors)} cannot be read: {shown}{more}"
    )


def why_not_held(key: Urn, message: Message) -> str:
    """Return why a message lacks the artefact of its key: the artefact is unreadable, or the message holds others."""
    names = set(urn_aliases(key))
    own = [error for error in message.errors if error.urn in names]
    if own:
        return own[0].reason
    held = ", ".join(str(artefact) for artefact in list(message.artefacts)[:3]) or "no artefact"
    others = "".join(f"; {error}" for error in message.errors[:_SHOWN])
    return f"the key disagrees with the content, which holds {held}{others}; publish it again"


def media_type(record: Record) -> str | None:
    """Return the media type in the header of a record."""
    return (record.header(CONTENT_TYPE) or b"").decode("latin-1") or None


def place_of(record: Record) -> str:
    """Return the location of a record, for errors."""
    return f"record at {record.source}, offset {record.offset}, key {record.key[:200]!r}"
