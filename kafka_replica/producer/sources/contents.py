"""Conversion of structure messages to content to record: one artefact each, with a digest that shows changes.

A source consists of several messages: files or answers. If several messages contain the same artefact, the last message
counts; schemes that the reader has created from standalone items are merged. An artefact that cannot be read keeps the
content that was recorded before.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from kafka_replica.producer.changes.changes import Put, UnreadableKey
from kafka_replica.sdmx import MessagePart, UnreadableArtefact, Urn, merge_copies, split_readable
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.messages.format import Format

_log = logging.getLogger("kafka_replica.producer")

_XML_HEADER = re.compile(rb"<((?:[\w.-]+:)?Header)\b(?:[^<>]*/>|.*?</\1\s*>)", re.DOTALL)
_JSON_HEADERS = ("header", "meta")
_EDI_ENVELOPE = re.compile(rb"(?:^|(?<='))\s*(?:UN[ABHTZ]|BGM|DTM|NAD\+M[RS])[^']*'")


class Contents(NamedTuple):
    """The artefacts of one message of a source, and its unreadable artefacts."""

    artefacts: tuple[tuple[MessagePart, Put], ...]
    errors: tuple[UnreadableArtefact, ...]


NOTHING: Final = Contents((), ())


def contents_of(data: bytes, content_type: str | None = None) -> Contents:
    """Return the contents of a structure message.

    Raises:
        SdmxError: the message cannot be read as a whole.
    """
    parts, errors = split_readable(data, content_type)
    return Contents(tuple((part, put_of(part)) for part in parts), errors)


def put_of(part: MessagePart) -> Put:
    """Return the content of an artefact, with its URN as key.

    The digest does not include the header of the message, which states when and for whom the message was prepared, and
    which services create for every answer.
    """
    return Put(str(part.urn), part.value, part.content_type, fingerprint(part.value, part.content_type))


def combine(messages: Mapping[str, Contents]) -> list[Put | UnreadableKey]:
    """Return the combined contents of a source's messages, given by name; later messages take precedence."""
    copies: dict[Urn, list[_Copy]] = {}
    without_urn: list[Put | UnreadableKey] = []
    for name, contents in messages.items():
        for part, put in contents.artefacts:
            copies.setdefault(part.urn, []).append(_Copy(name, part, put))
        for error in contents.errors:
            if error.urn is None:
                without_urn.append(UnreadableKey(None, f"{name}: {error}"))
            else:
                copies.setdefault(error.urn, []).append(
                    _Copy(name, None, UnreadableKey(str(error.urn), f"{name}: {error}"))
                )
    return [*(_one(urn, versions) for urn, versions in copies.items()), *without_urn]


class _Copy(NamedTuple):
    """An artefact in one message; ``part`` is None if it cannot be read."""

    name: str
    part: MessagePart | None
    change: Put | UnreadableKey


def _one(urn: Urn, copies: list[_Copy]) -> Put | UnreadableKey:
    last = copies[-1]
    if len(copies) == 1:
        return last.change
    parts = [copy.part for copy in copies if copy.part is not None]
    if not any(part.is_synthetic for part in parts):
        if any(copy.change[1:] != last.change[1:] for copy in copies):
            _log.warning("%s is in %s and in %s; the latter is used", urn, copies[-2].name, last.name)
        return last.change
    # The merged scheme would lack the items of the unreadable copy.
    unreadable = next((copy.change for copy in copies if copy.part is None), None)
    if unreadable is not None:
        return unreadable
    names = ", ".join(copy.name for copy in copies)
    try:
        part, conflicts = merge_copies(parts)
    except SdmxError as error:
        return UnreadableKey(str(urn), f"{names}: {error}")
    if conflicts:
        _log.warning("%s: %s are defined differently in %s; the last file counts", urn, ", ".join(conflicts[:5]), names)
    return put_of(part)


def fingerprint(value: bytes, content_type: str) -> bytes:
    """Return the SHA-256 of a structure message's media type and content without its header."""
    digest = hashlib.sha256(content_type.encode())
    digest.update(b"\0")
    digest.update(_without_header(value, content_type))
    return digest.digest()


def _without_header(value: bytes, content_type: str) -> bytes:
    if "+xml" in content_type:
        return _XML_HEADER.sub(b"", value, count=1)
    if content_type == Format.EDI:
        return _EDI_ENVELOPE.sub(b"", value)
    if "json" not in content_type:
        return value
    try:
        message = json.loads(value)
    except (ValueError, RecursionError):
        return value
    if isinstance(message, dict):
        message = {name: each for name, each in message.items() if name not in _JSON_HEADERS}
    return json.dumps(message).encode()
