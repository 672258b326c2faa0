"""The short way for SDMX-JSON: see ``json_short``. Lists named as the schemas do, classes of the model only."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import msgspec

from kafka_replica.sdmx.formats import Format
from kafka_replica.sdmx.message import Header, Message
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.readers.identity import artefact_urn
from kafka_replica.sdmx.readers.json_short import (
    DeclinedError,
    is_small,
    list_of,
    list_written,
    must_be_all,
    template_of,
)
from kafka_replica.sdmx.readers.json_tree import collection_of, sdmx_json_format
from kafka_replica.sdmx.readers.sdmx_json.classes import READERS
from kafka_replica.sdmx.readers.sdmx_json.values import Context, context_of
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
    context = context_of((meta.content_languages or ["en"])[0] or "en")
    header = Header(
        id=meta.id, sender=meta.sender.id if meta.sender else None, prepared=meta.prepared, test=bool(meta.test)
    )
    artefacts = [
        _artefact(_CLASSES[name], wire, context) for name in outline.data for wire in getattr(whole.data, name)
    ]
    return Message(sdmx_json_format(outline.meta, None, claimed), header, artefacts)


def _must_be_whole(data: bytes, outline: _Outline) -> None:
    """Raises DeclinedError unless every name down to those in the artefacts comes once."""
    if len(outline.data) == 1 and is_small(data):
        ((name, objects),) = outline.data.items()
        if len(objects) == 1:
            must_be_all(data, _template(name, tuple(objects[0])) % (outline.meta, *objects[0].values()))
            return
    pieces: list[Any] = [b'{"meta": ', outline.meta, b', "data": ']
    mark = b"{"
    for name, objects in outline.data.items():
        pieces += (b'%b"%b": ' % (mark, name.encode()), *list_written(objects))
        mark = b", "
    must_be_all(data, b"".join([*pieces, b"}}" if outline.data else b"{}}"]))


@lru_cache(maxsize=256)
def _template(name: str, members: tuple[str, ...]) -> bytes:
    """A message of one artefact: of small ones the names are the same again and again."""
    return b'{"meta": %%b, "data": {"%b": [%b]}}' % (name.encode(), template_of(members))


def _artefact(class_: str, wire: Any, context: Context) -> Artefact:
    urn = artefact_urn(class_, wire.agency_id or wire.agency_upper, wire.id, wire.version, None, "")
    return READERS[class_][1](urn, wire, context)
