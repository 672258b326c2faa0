"""The short way for Fusion-JSON: see ``json_short``. A header and lists of classes of the model, nothing else."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Final

import msgspec

from kafka_replica.sdmx.formats import Format
from kafka_replica.sdmx.message import Header, Message
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.readers.fusion.reader import READERS, WHOLE, has_unknown, header_of
from kafka_replica.sdmx.readers.fusion.wire import WireMeta
from kafka_replica.sdmx.readers.identity import artefact_urn
from kafka_replica.sdmx.readers.json_short import (
    SMALL,
    DeclinedError,
    joined,
    list_of,
    list_written,
    must_be_all,
    must_be_filled,
    object_written,
    template_of,
)
from kafka_replica.sdmx.urn import Urn

_OUTLINE: Final = msgspec.json.Decoder(dict[str, list[dict[str, msgspec.Raw]] | dict[str, msgspec.Raw]])
_WHOLE_MESSAGE: Final = msgspec.json.Decoder(
    msgspec.defstruct(
        "_Whole",
        [
            ("meta", WireMeta | None, None),
            *((name, list_of(decoder), ()) for name, (decoder, _) in READERS.items()),
        ],
        gc=False,
    ),
    strict=False,
)


def read_short(data: bytes, _: Format | None) -> Message:
    """The message. Raises DeclinedError or any error of decoding where the long way has to look."""
    outline: dict[str, Any] = _OUTLINE.decode(data)
    if len(outline) == 2 and len(data) < SMALL:
        (first, meta), (name, objects) = outline.items()
        is_usual = first == "meta" and type(meta) is dict and type(objects) is list
        if is_usual and len(objects) == 1 and name in READERS:
            return _single(data, meta, name, objects[0])
    _must_be_whole(data, outline)
    whole: Any = _WHOLE_MESSAGE.decode(data)
    artefacts = [
        _artefact(name, READERS[name][1], members, wire)
        for name, objects in outline.items()
        if name != "meta"
        for members, wire in zip(objects, getattr(whole, name), strict=True)
    ]
    if not artefacts:
        raise DeclinedError("no artefacts")
    return Message(Format.FUSION_JSON, header_of(whole.meta) if whole.meta else Header(), artefacts)


def _single(data: bytes, meta: dict[str, msgspec.Raw], name: str, members: dict[str, msgspec.Raw]) -> Message:
    """A header and one artefact, as most messages are."""
    template = _template(tuple(meta), name, tuple(members))
    must_be_filled(data, template, (*meta.values(), *members.values()))
    decode, convert = _single_reader(name)
    whole: Any = decode(data)
    return Message(Format.FUSION_JSON, header_of(whole.meta), (_artefact(name, convert, members, whole.artefacts[0]),))


@cache
def _single_reader(name: str) -> tuple[Callable[[bytes], Any], Callable[[Urn, Any], Artefact]]:
    """What decodes a message with one artefact of a class, and what makes the model of that."""
    decoder, convert = READERS[name]
    # A struct with a field for each class takes longer to make than a small artefact to read.
    fields = [("meta", WireMeta), ("artefacts", list_of(decoder))]
    whole = msgspec.defstruct("_Single", fields, rename={"artefacts": name}, gc=False)
    return msgspec.json.Decoder(whole, strict=False).decode, convert


def _must_be_whole(data: bytes, outline: dict[str, Any]) -> None:
    """Raises DeclinedError unless every name down to those in the artefacts comes once, and all is known."""
    for name, objects in outline.items():
        if (name == "meta") is not isinstance(objects, dict) or (name != "meta" and name not in READERS):
            raise DeclinedError(name)
    pieces: list[Any] = []
    mark = b"{"
    for name, objects in outline.items():
        written = object_written(objects) if name == "meta" else list_written(objects)
        pieces += (b'%b"%b": ' % (mark, name.encode()), *written)
        mark = b", "
    must_be_all(data, [*pieces, b"}"])


@lru_cache(maxsize=256)
def _template(meta: tuple[str, ...], name: str, members: tuple[str, ...]) -> list[bytes]:
    """A message of one artefact: of small ones the names are the same again and again."""
    return joined(b'{"meta": ', template_of(meta), f', "{name}": ['.encode(), template_of(members), b"]}")


def _artefact(
    class_: str, convert: Callable[[Urn, Any], Artefact], members: dict[str, msgspec.Raw], wire: Any
) -> Artefact:
    if class_ in WHOLE and has_unknown(class_, members):
        raise DeclinedError(class_)
    agency, id_, version = wire.agency_id or wire.agency_upper, wire.id, wire.version
    is_whole = agency and id_ and version
    urn = Urn.of(class_, agency, id_, version) if is_whole else artefact_urn(class_, agency, id_, version, None, "")
    return convert(urn, wire)
