"""The short way for Fusion-JSON: see ``json_short``. A header and lists of classes of the model, nothing else."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from kafka_replica.sdmx.formats import Format
from kafka_replica.sdmx.message import Header, Message
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.readers.fusion.reader import READERS, WHOLE, has_unknown, header_of
from kafka_replica.sdmx.readers.fusion.wire import WireMeta
from kafka_replica.sdmx.readers.identity import artefact_urn
from kafka_replica.sdmx.readers.json_short import DeclinedError, Written, head_of, list_of, text_of

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
    written = Written(data)
    mark = "{"
    for name, objects in outline.items():
        if (name == "meta") is not isinstance(objects, dict) or (name != "meta" and name not in READERS):
            raise DeclinedError(name)
        written.pieces.append(head_of(name, mark))
        if name == "meta":
            written.members(objects)
        else:
            written.objects(objects)
        mark = ", "
    written.pieces.append(b"}")
    written.must_be_all()


def _artefact(class_: str, members: dict[str, msgspec.Raw], wire: Any) -> Artefact:
    if class_ in WHOLE and has_unknown(class_, members):
        raise DeclinedError(class_)
    text_of(members, "urn")
    agency = text_of(members, "agencyId") or text_of(members, "agencyID")
    urn = artefact_urn(class_, agency, wire.id, text_of(members, "version"), None, "")
    return READERS[class_][1](urn, wire)
