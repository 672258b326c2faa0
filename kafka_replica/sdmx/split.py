"""Cutting a structure message into one message an artefact, in the same format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafka_replica.sdmx.formats import Format
from kafka_replica.sdmx.message import twice
from kafka_replica.sdmx.readers import edi, markup, xlsx
from kafka_replica.sdmx.readers.json_tree import artefacts_of, message_of
from kafka_replica.sdmx.reading import kind_of, opened_json
from kafka_replica.sdmx.urn import Urn


class Part(NamedTuple):
    """One artefact: its URN, a message of it alone, and that message's media type."""

    urn: Urn
    value: bytes
    content_type: str


def split_message(data: bytes, content_type: str | None = None) -> list[Part]:
    """One message for each maintainable artefact, of every class, in order; header and format stay.

    Cuts every format that is read, plain or in gzip; parts are plain, in UTF-8 (those of SDMX-EDI in the
    characters of the whole). The URN is made of the artefact's own class, agency, id and version, whatever URN
    it carries. Availability constraints (3.1) are left out: they have no URN, so nothing could be their key.

    Raises:
        MessageError: damaged, hostile, not a structure message, or one artefact is in it twice.
        UnreadableContentError: a format of SDMX that this version does not cut.
    """
    kind, plain = kind_of(data, content_type)
    cut: Iterable[tuple[Urn, bytes]]
    if kind == "xml":
        format_, cut = markup.cut_message(plain)
    elif kind == "edi":
        format_, cut = edi.cut_message(plain)
    elif kind == "xlsx":
        format_, cut = Format.XLSX, xlsx.cut_message(plain)
    else:
        message = opened_json(plain, content_type)
        format_ = message.format
        cut = ((artefact.urn, message_of(message, artefact)) for artefact in artefacts_of(message))
    return _parts(format_, cut)


def _parts(format_: Format, cut: Iterable[tuple[Urn, bytes]]) -> list[Part]:
    parts: dict[Urn, Part] = {}
    for urn, value in cut:
        if urn in parts:
            raise twice(urn)
        parts[urn] = Part(urn, value, str(format_))
    return list(parts.values())
