"""Read structure messages of Fusion-JSON into the model.

``read_short`` is the fast path (see ``json_shared.short``) for messages with only a header and lists of classes of the
model. ``read_message`` reads all others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

import msgspec

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.fusion import codelists
from kafka_replica.sdmx.formats.fusion.classes import CLASSES, READERS
from kafka_replica.sdmx.formats.fusion.values import Wire, WireMaintainable, read_maintained
from kafka_replica.sdmx.formats.json_shared.short import SMALL, DeclinedError, list_of, objects_of
from kafka_replica.sdmx.formats.json_shared.tree import JsonMessage, RawArtefact, artefacts_of, decoded, message_of
from kafka_replica.sdmx.formats.shared.reading.collecting import STRICT, ErrorCollector
from kafka_replica.sdmx.formats.shared.reading.identity import artefact_urn
from kafka_replica.sdmx.message import Header, Message
from kafka_replica.sdmx.message_format import Format
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica.sdmx.urn import Urn


class WireParty(Wire, gc=False):
    """A sender."""

    id: str | None = None


class WireMeta(Wire, gc=False):
    """The header."""

    id: str | None = None
    test: bool = False
    prepared: str | None = None
    sender: WireParty | None = None


_META: Final = msgspec.json.Decoder(WireMeta, strict=False)
_MEMBERS: Final = msgspec.json.Decoder(dict[str, Any])
_OPAQUE: Final = msgspec.json.Decoder(WireMaintainable, strict=False)

# Classes for which an unknown part would change the meaning of the rest: such an artefact is kept as it is.
_WHOLE: Final = frozenset({"Codelist", "DataConstraint", "StructureMap"})
_OWN_KEYS: Final = frozenset({"urn", "agencyId", "version", "validityType"})

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


def read_message(message: JsonMessage, collector: ErrorCollector = STRICT) -> Message:
    """Return the message with these outermost levels. Raises MessageError."""
    header = Header()
    if message.meta is not None:
        header = _header(decoded(_META, message.meta, "the meta of Fusion-JSON"))
    artefacts = collector.read_all(
        artefacts_of(message, collector), partial(_artefact, message), RawArtefact.unreadable
    )
    return Message(message.format, header, artefacts, errors=collector.errors)


def _artefact(message: JsonMessage, artefact: RawArtefact) -> Artefact:
    urn = artefact.urn
    known = READERS.get(urn.cls)
    if known is not None:
        decoder, convert = known
        try:
            if not _is_of_unknown(artefact):
                return convert(urn, decoded(decoder, artefact.raw, str(urn)))
        except RecursionError:
            raise MessageError(f"reading {urn}: it is nested too deep to be a structure message") from None
        except MessageError as error:
            if urn.cls not in _WHOLE or "unknown field" not in str(error):
                raise
    wire = decoded(_OPAQUE, artefact.raw, str(urn))
    return OpaqueArtefact(
        urn=urn, content=message_of(message, artefact), content_type=message.format, **read_maintained(wire)
    )


def _is_of_unknown(artefact: RawArtefact) -> bool:
    class_ = artefact.urn.cls
    return class_ in _WHOLE and _has_unknown(class_, decoded(_MEMBERS, artefact.raw, str(artefact.urn)))


@cache
def _known_members(class_: str) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(CLASSES[class_][0])) | _OWN_KEYS


def _has_unknown(class_: str, members: dict[str, Any]) -> bool:
    """Return True if an artefact of one of the classes in ``_WHOLE`` has an unknown member."""
    known = _known_members(class_)
    if known.issuperset(members):
        return False
    unknown = [name for name, value in members.items() if name not in known and not _says_nothing(value)]
    # Any other unknown member of a codelist may be left out.
    return any(map(codelists.speaks_of_extension, unknown)) if class_ == "Codelist" else bool(unknown)


def _says_nothing(value: Any) -> bool:
    return value is None or value is False or value in ("", [], {})


def _header(meta: WireMeta) -> Header:
    """Return the header."""
    return Header(id=meta.id, sender=meta.sender.id if meta.sender else None, prepared=meta.prepared, test=meta.test)


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
        _from_short(name, READERS[name][1], members, wire)
        for name, objects in lists.items()
        for members, wire in zip(objects, getattr(whole, name), strict=True)
    ]
    return Message(Format.FUSION_JSON, _header(whole.meta) if whole.meta else Header(), artefacts)


def _single(data: bytes, name: str, members: dict[str, Any]) -> Message:
    """Read a header and one artefact, the usual kind of message."""
    decode, convert = _single_reader(name)
    whole: Any = decode(data)
    artefact = _from_short(name, convert, members, whole.artefacts[0])
    return Message(Format.FUSION_JSON, _header(whole.meta), (artefact,))


@cache
def _single_reader(name: str) -> tuple[Callable[[bytes], Any], Callable[[Urn, Any], Artefact]]:
    """Return the decoder of a message with one artefact of a class, and the function that converts it to the model."""
    decoder, convert = READERS[name]
    # Building a struct with a field for each class takes longer than reading a small artefact.
    fields = [("meta", WireMeta), ("artefacts", list_of(decoder))]
    whole = msgspec.defstruct("_Single", fields, rename={"artefacts": name}, gc=False)
    return msgspec.json.Decoder(whole, strict=False).decode, convert


def _from_short(class_: str, convert: Callable[[Urn, Any], Artefact], members: dict[str, Any], wire: Any) -> Artefact:
    if class_ in _WHOLE and _has_unknown(class_, members):
        raise DeclinedError(class_)
    agency, id_, version = wire.agency_id or wire.agency_upper, wire.id, wire.version
    is_whole = agency and id_ and version
    urn = Urn.of(class_, agency, id_, version) if is_whole else artefact_urn(class_, agency, id_, version, None, "")
    return convert(urn, wire)
