"""The short way for SDMX-JSON: see ``json_short``. Lists named as the schemas do, classes of the model only."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Final

import msgspec

from kafka_replica.sdmx.formats import Format
from kafka_replica.sdmx.message import Header, Message
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.readers.identity import artefact_urn
from kafka_replica.sdmx.readers.json_short import (
    SMALL,
    DeclinedError,
    filled,
    joined,
    list_of,
    list_written,
    must_be_all,
    template_of,
)
from kafka_replica.sdmx.readers.json_tree import collection_of, sdmx_json_format
from kafka_replica.sdmx.readers.sdmx_json.classes import READERS
from kafka_replica.sdmx.readers.sdmx_json.values import Context, context_of
from kafka_replica.sdmx.readers.sdmx_json.wire import WireMeta
from kafka_replica.sdmx.urn import Urn

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
    found = _single(data, outline, claimed) if len(outline.data) == 1 and len(data) < SMALL else None
    if found is not None:
        return found
    for name in outline.data:
        if name not in _CLASSES:
            raise DeclinedError(name)
    _must_be_whole(data, outline)
    whole = _WHOLE.decode(data)
    context = _context(whole.meta)
    artefacts = [
        _artefact(_CLASSES[name], wire, context) for name in outline.data for wire in getattr(whole.data, name)
    ]
    return Message(_format(whole.meta, claimed), _header(whole.meta), artefacts)


def _single(data: bytes, outline: _Outline, claimed: Format | None) -> Message | None:
    """A header and one artefact, as most messages are; None where it is something else."""
    ((name, objects),) = outline.data.items()
    if len(objects) != 1 or name not in _CLASSES:
        return None
    (members,) = objects
    must_be_all(data, filled(_template(name, tuple(members)), (outline.meta, *members.values())))
    whole: Any = _single_decoder(name).decode(data)
    artefact = _artefact(_CLASSES[name], whole.data.artefacts[0], _context(whole.meta))
    return Message(_format(whole.meta, claimed), _header(whole.meta), (artefact,))


@cache
def _single_decoder(name: str) -> msgspec.json.Decoder[Any]:
    # A struct with a field for each class takes longer to make than a small artefact to read.
    held = [("artefacts", list_of(READERS[_CLASSES[name]][0]))]
    single = msgspec.defstruct("_Artefacts", held, rename={"artefacts": name}, gc=False)
    return msgspec.json.Decoder(
        msgspec.defstruct("_Single", [("data", single), ("meta", WireMeta)], gc=False), strict=False
    )


def _format(meta: WireMeta, claimed: Format | None) -> Format:
    return sdmx_json_format(meta.schema, None, claimed)


def _context(meta: WireMeta) -> Context:
    languages = meta.content_languages
    return context_of((languages[0] or "en") if languages else "en")


def _header(meta: WireMeta) -> Header:
    sender = meta.sender.id if meta.sender else None
    return Header(id=meta.id, sender=sender, prepared=meta.prepared, test=bool(meta.test))


def _must_be_whole(data: bytes, outline: _Outline) -> None:
    """Raises DeclinedError unless every name down to those in the artefacts comes once."""
    pieces: list[Any] = [b'{"meta": ', outline.meta, b', "data": ']
    mark = b"{"
    for name, objects in outline.data.items():
        pieces += (b'%b"%b": ' % (mark, name.encode()), *list_written(objects))
        mark = b", "
    must_be_all(data, b"".join([*pieces, b"}}" if outline.data else b"{}}"]))


@lru_cache(maxsize=256)
def _template(name: str, members: tuple[str, ...]) -> list[bytes]:
    """A message of one artefact: of small ones the names are the same again and again."""
    data = f', "data": {{"{name}": ['.encode()
    return joined([b'{"meta": ', data], template_of(members), b"]}}")


def _artefact(class_: str, wire: Any, context: Context) -> Artefact:
    agency, id_, version = wire.agency_id or wire.agency_upper, wire.id, wire.version
    is_whole = agency and id_ and version
    urn = Urn.of(class_, agency, id_, version) if is_whole else artefact_urn(class_, agency, id_, version, None, "")
    return READERS[class_][1](urn, wire, context)
