"""Read structure messages of Fusion-JSON into the model.

``read_short`` is the fast path (see ``json_shared.short``) for messages with only a header and lists of classes of the
model. ``read_message`` reads all others.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any, Final

import msgspec

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.fusion import codelists
from kafka_replica.sdmx.formats.fusion.classes import CLASSES, READERS
from kafka_replica.sdmx.formats.fusion.values import Wire, WireMaintainable, read_maintained
from kafka_replica.sdmx.formats.json_shared.short import DeclinedError, plain, unless_whole
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

_OUTLINE: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIST: Final = msgspec.json.Decoder(list[msgspec.Raw])


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


def read_short(data: bytes, _: Format | None) -> Message:
    """Return the message. Raises DeclinedError or any decoding error if the slow path has to read it."""
    outline = _OUTLINE.decode(data)
    raw_meta = outline.get("meta")
    parts = [] if raw_meta is None else [plain(raw_meta)]
    wires: list[tuple[str, int, Any]] = []
    for class_, raw_list in outline.items():
        if class_ == "meta":
            continue
        if class_ not in READERS:
            raise DeclinedError("another list")
        decode = READERS[class_][0].decode
        wires += [(class_, at, decode(raw)) for at, raw in enumerate(_LIST.decode(raw_list))]
    if not wires:
        raise DeclinedError("no artefacts")
    parts += [wire for _, _, wire in wires]
    tree = unless_whole(data, parts, len(outline))
    artefacts = [_from_short(class_, wire, tree and tree[class_][at]) for class_, at, wire in wires]
    return Message(Format.FUSION_JSON, Header() if raw_meta is None else _header(_META.decode(raw_meta)), artefacts)


def _from_short(class_: str, wire: Any, members: dict[str, Any] | None) -> Artefact:
    """Return an artefact; ``members`` are None if all of them are known."""
    if members is not None and class_ in _WHOLE and _has_unknown(class_, members):
        raise DeclinedError(class_)
    agency, id_, version = wire.agency_id or wire.agency_upper, wire.id, wire.version
    is_whole = agency and id_ and version
    urn = Urn.of(class_, agency, id_, version) if is_whole else artefact_urn(class_, agency, id_, version, None, "")
    return READERS[class_][1](urn, wire)
