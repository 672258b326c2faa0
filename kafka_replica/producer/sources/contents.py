"""Structure messages as content to be recorded: one artefact each, and what tells whether it has changed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator

from kafka_replica.producer.changes import Put
from kafka_replica.sdmx import Part
from kafka_replica.sdmx.formats import Format

_XML_HEADER = re.compile(rb"<((?:[\w.-]+:)?Header)\b(?:[^<>]*/>|.*?</\1\s*>)", re.DOTALL)
_JSON_HEADERS = ("header", "meta")
_EDI_ENVELOPE = re.compile(rb"(?:^|(?<='))\s*(?:UN[ABHTZ]|BGM|DTM|NAD\+M[RS])[^']*'")


def puts_of(parts: Iterable[Part]) -> Iterator[Put]:
    """Each part under its URN.

    A message's header says when and for whom it was made: services make it anew for every answer. So whether content
    has changed is told by all but the header.
    """
    for part in parts:
        yield Put(str(part.urn), part.value, part.content_type, fingerprint(part.value, part.content_type))


def fingerprint(value: bytes, content_type: str) -> bytes:
    """SHA-256 of a structure message without its header, and of its media type."""
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
        said = json.loads(value)
    except (ValueError, RecursionError):
        return value
    if isinstance(said, dict):
        said = {name: each for name, each in said.items() if name not in _JSON_HEADERS}
    return json.dumps(said).encode()
