"""A quick check that a message holds the artefact of a key, by its beginning and end, without parsing all of it.

Only a positive result is certain. Anything unusual (a comment, an entity, another order) is left to the reader.
"""

from __future__ import annotations

import re
import zlib
from typing import Final

import msgspec

from kafka_replica.common.json_decoders import json_decoder
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.formats.json_shared.format_detection import opened
from kafka_replica.sdmx.formats.json_shared.splitting import artefacts_of
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.messages.format import of_content_type
from kafka_replica.sdmx.urns.urn import Urn

_LOOKED_AT: Final = 8 * 1024
_ATTRIBUTE: Final = rb"\s+(?:[A-Za-z_][\w.\-]*:)?([A-Za-z_][\w.\-]*)\s*=\s*(\"[^\"<&]*\"|'[^'<&]*')"
_attributes: Final = re.compile(_ATTRIBUTE).finditer
_tags: Final = re.compile(rb"<(?:[A-Za-z_][\w.\-]*:)?([A-Za-z_][\w.\-]*)((?:" + _ATTRIBUTE + rb")*)\s*/?>").finditer
_end: Final = re.compile(rb"</(?:[A-Za-z_][\w.\-]*:)?([A-Za-z_][\w.\-]*)\s*>\s*\Z").search
_is_of_sdmx: Final = re.compile(rb"sdmx\.org/resources/sdmxml/schemas/v", re.IGNORECASE).search
_OLD_NAMES: Final = {"KeyFamily": "DataStructure", "CodeList": "Codelist"}  # of 2.0
_TRUE: Final = {"true", "1"}


class _Mark(msgspec.Struct, rename="camel"):
    is_external_reference: bool | None = None


_MARK: Final = json_decoder(_Mark)


def surely_holds(urn: Urn, value: bytes, content_type: str | None) -> bool:
    """Return whether a message certainly holds this artefact, not as an external reference; False if uncertain."""
    beginning = value[:_LOOKED_AT]
    if value[:2] == b"\x1f\x8b":
        try:
            beginning = zlib.decompressobj(wbits=31).decompress(value[:_LOOKED_AT], _LOOKED_AT)
        except zlib.error:
            return False
    beginning = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()
    if beginning.startswith(b"<"):
        return _in_markup(urn, beginning, value)
    return value[:1] == b"{" and _in_json(urn, value, content_type)


def _in_markup(urn: Urn, beginning: bytes, value: bytes) -> bool:
    root: bytes | None = None
    for tag in _tags(beginning):
        name: bytes = tag[1]
        attributes = tag[2]
        root = root or name
        if b"agencyID" not in attributes:
            continue
        known = {attribute[1].decode(): attribute[2][1:-1].decode("latin-1") for attribute in _attributes(attributes)}
        cls = name.decode()
        return (
            _OLD_NAMES.get(cls, cls) == urn.cls
            and (known.get("agencyID"), known.get("id")) == (urn.agency, urn.id)
            and known.get("version", DEFAULT_VERSION) == urn.version
            and known.get("isExternalReference") not in _TRUE
            and b"<!" not in beginning[: tag.start()]
            and _is_of_sdmx(beginning) is not None
            and (value[:1] == b"\x1f" or _is_closed(root, value))
        )
    return False


def _is_closed(root: bytes, value: bytes) -> bool:
    found = _end(value[-256:])
    return found is not None and found[1] == root


def _in_json(urn: Urn, value: bytes, content_type: str | None) -> bool:
    try:
        message = opened(value, of_content_type(content_type) if content_type else None)
        for artefact in artefacts_of(message):
            if artefact.urn == urn:
                return not _MARK.decode(artefact.raw).is_external_reference
    except (SdmxError, msgspec.DecodeError, ValueError):
        return False
    return False
