"""The short way for Fusion-JSON: see ``json_short``. A header and lists of classes of the model, nothing else."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import msgspec

from kafka_replica.sdmx.formats import Format
from kafka_replica.sdmx.message import Header, Message
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.readers.fusion.reader import READERS, WHOLE, has_unknown, header_of
from kafka_replica.sdmx.readers.fusion.wire import WireMeta
from kafka_replica.sdmx.readers.identity import artefact_urn
from kafka_replica.sdmx.readers.json_short import (
    DeclinedError,
    is_small,
    list_of,
    list_written,
    must_be_all,
    object_written,
    template_of,
)

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
    _must_be_whole(data, outline)
    whole: Any = _WHOLE_MESSAGE.decode(data)
    artefacts = [
        _artefact(name, members, wire)
        for name, objects in outline.items()
        if name != "meta"
        for members, wire in zip(objects, getattr(whole, name), strict=True)
    ]
    if not artefacts:
        raise DeclinedError("no artefacts")
    return Message(Format.FUSION_JSON, header_of(whole.meta) if whole.meta else Header(), artefacts)


def _must_be_whole(data: bytes, outline: dict[str, Any]) -> None:
    """Raises DeclinedError unless every name down to those in the artefacts comes once, and all is known."""
    for name, objects in outline.items():
        if (name == "meta") is not isinstance(objects, dict) or (name != "meta" and name not in READERS):
            raise DeclinedError(name)
    names = tuple(outline)
    if len(names) == 2 and names[0] == "meta" and len(outline[names[1]]) == 1 and is_small(data):
        meta, (artefact,) = outline.values()
        template = _template(tuple(meta), names[1], tuple(artefact))
        must_be_all(data, template % (*meta.values(), *artefact.values()))
        return
    pieces: list[Any] = []
    mark = b"{"
    for name, objects in outline.items():
        written = object_written(objects) if name == "meta" else list_written(objects)
        pieces += (b'%b"%b": ' % (mark, name.encode()), *written)
        mark = b", "
    must_be_all(data, b"".join([*pieces, b"}"]))


@lru_cache(maxsize=256)
def _template(meta: tuple[str, ...], name: str, members: tuple[str, ...]) -> bytes:
    """A message of one artefact: of small ones the names are the same again and again."""
    return b'{"meta": %b, "%b": [%b]}' % (template_of(meta), name.encode(), template_of(members))


def _artefact(class_: str, members: dict[str, msgspec.Raw], wire: Any) -> Artefact:
    if class_ in WHOLE and has_unknown(class_, members):
        raise DeclinedError(class_)
    urn = artefact_urn(class_, wire.agency_id or wire.agency_upper, wire.id, wire.version, None, "")
    return READERS[class_][1](urn, wire)
