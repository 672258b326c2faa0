"""The short way for SDMX-JSON: see ``json_short``. Lists named as the schemas do, classes of the model only."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from kafka_replica.sdmx.formats import Format
from kafka_replica.sdmx.message import Header, Message
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.readers.identity import artefact_urn
from kafka_replica.sdmx.readers.json_short import DeclinedError, Written, head_of, list_of, text_of
from kafka_replica.sdmx.readers.json_tree import collection_of, sdmx_json_format
from kafka_replica.sdmx.readers.sdmx_json.classes import READERS
from kafka_replica.sdmx.readers.sdmx_json.values import Context
from kafka_replica.sdmx.readers.sdmx_json.wire import WireMeta

_CLASSES: Final = {collection_of(name): name for name in READERS} | {"valuelists": "ValueList"}
"""List, as the schemas name it (and registries) -> class."""


class _Outline(msgspec.Struct, forbid_unknown_fields=True):
    """The outer levels, what is in an artefact left as bytes."""

    data: dict[str, list[dict[str, msgspec.Raw]]]
    meta: msgspec.Raw


class _Whole(msgspec.Struct):
    """The same, decoded."""

    data: Any
    meta: WireMeta


_Data = msgspec.defstruct(
    "_Data",
    [(name, list_of(READERS[class_][0]), ()) for name, class_ in _CLASSES.items()],
    gc=False,
)
_OUTLINE: Final = msgspec.json.Decoder(_Outline)
_WHOLE: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(
    msgspec.defstruct("_Read", [("data", _Data), ("meta", WireMeta)], bases=(_Whole,)), strict=False
)


def read_short(data: bytes, claimed: Format | None) -> Message:
    """The message. Raises DeclinedError or any error of decoding where the long way has to look."""
    outline = _OUTLINE.decode(data)
    for name in outline.data:
        if name not in _CLASSES:
            raise DeclinedError(name)
    _must_be_whole(data, outline)
    whole = _WHOLE.decode(data)
    meta = whole.meta
    context = Context((meta.content_languages or ["en"])[0] or "en")
    header = Header(
        id=meta.id, sender=meta.sender.id if meta.sender else None, prepared=meta.prepared, test=bool(meta.test)
    )
    artefacts = [
        _artefact(_CLASSES[name], members, wire, context)
        for name, objects in outline.data.items()
        for members, wire in zip(objects, getattr(whole.data, name), strict=True)
    ]
    return Message(sdmx_json_format(outline.meta, None, claimed), header, artefacts)


def _must_be_whole(data: bytes, outline: _Outline) -> None:
    """Raises DeclinedError unless every name down to those in the artefacts comes once."""
    written = Written(data)
    written.pieces += (b'{"meta": ', outline.meta, b', "data": ')
    mark = "{"
    for name, artefacts in outline.data.items():
        written.pieces.append(head_of(name, mark))
        written.objects(artefacts)
        mark = ", "
    written.pieces.append(b"}}" if outline.data else b"{}}")
    written.must_be_all()


def _artefact(class_: str, members: dict[str, msgspec.Raw], wire: Any, context: Context) -> Artefact:
    agency = text_of(members, "agencyID")
    if "agencyId" in members:
        agency = text_of(members, "agencyId") or agency
    if "urn" in members:
        text_of(members, "urn")
    urn = artefact_urn(class_, agency, wire.id, text_of(members, "version"), None, "")
    return READERS[class_][1](urn, wire, context)
