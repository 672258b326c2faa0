"""The fast path for Fusion-JSON (see ``json_short``): messages with only a header and lists of classes of the model."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

import msgspec

from kafka_replica.sdmx.formats.fusion.reader import READERS, WHOLE, has_unknown, header_of
from kafka_replica.sdmx.formats.fusion.wire import WireMeta
from kafka_replica.sdmx.formats.json_shared.short import (
    SMALL,
    DeclinedError,
    list_of,
    objects_of,
)
from kafka_replica.sdmx.formats.shared.reading.identity import artefact_urn
from kafka_replica.sdmx.message import Header, Message
from kafka_replica.sdmx.message_format import Format
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.urn import Urn

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


def read_short(data: bytes, tree: Any, _: Format | None) -> Message:
    """Return the message. Raises DeclinedError or any decoding error if the slow path has to read it."""
    if type(tree) is not dict:
        raise DeclinedError("no object, or a name twice")
    meta = tree.pop("meta", None)
    lists = objects_of(tree)
    if not READERS.keys() >= lists.keys() or not any(lists.values()):
        raise DeclinedError("another list, or no artefacts")
    if len(lists) == 1 and len(data) < SMALL and meta is not None:
        ((name, objects),) = lists.items()
        if len(objects) == 1:
            return _single(data, name, objects[0])
    whole: Any = _WHOLE_MESSAGE.decode(data)
    artefacts = [
        _artefact(name, READERS[name][1], members, wire)
        for name, objects in lists.items()
        for members, wire in zip(objects, getattr(whole, name), strict=True)
    ]
    return Message(Format.FUSION_JSON, header_of(whole.meta) if whole.meta else Header(), artefacts)


def _single(data: bytes, name: str, members: dict[str, Any]) -> Message:
    """Read a header and one artefact, the usual kind of message."""
    decode, convert = _single_reader(name)
    whole: Any = decode(data)
    return Message(Format.FUSION_JSON, header_of(whole.meta), (_artefact(name, convert, members, whole.artefacts[0]),))


@cache
def _single_reader(name: str) -> tuple[Callable[[bytes], Any], Callable[[Urn, Any], Artefact]]:
    """Return the decoder of a message with one artefact of a class, and the function that converts it to the model."""
    decoder, convert = READERS[name]
    # Building a struct with a field for each class takes longer than reading a small artefact.
    fields = [("meta", WireMeta), ("artefacts", list_of(decoder))]
    whole = msgspec.defstruct("_Single", fields, rename={"artefacts": name}, gc=False)
    return msgspec.json.Decoder(whole, strict=False).decode, convert


def _artefact(class_: str, convert: Callable[[Urn, Any], Artefact], members: dict[str, Any], wire: Any) -> Artefact:
    if class_ in WHOLE and has_unknown(class_, members):
        raise DeclinedError(class_)
    agency, id_, version = wire.agency_id or wire.agency_upper, wire.id, wire.version
    is_whole = agency and id_ and version
    urn = Urn.of(class_, agency, id_, version) if is_whole else artefact_urn(class_, agency, id_, version, None, "")
    return convert(urn, wire)
