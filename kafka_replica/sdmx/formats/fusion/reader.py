"""Read structure messages of Fusion-JSON into the model.

``read_fast`` is the fast path (see ``json_shared.fast_path``) for messages with only a header and lists of classes of
the model. ``read_message`` reads all others.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any, Final

import msgspec

from kafka_replica.common.json_decoders import json_decoder
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.fusion import codelists
from kafka_replica.sdmx.formats.fusion.classes import CLASSES, READERS
from kafka_replica.sdmx.formats.fusion.values import Wire, WireMaintainable, read_maintained
from kafka_replica.sdmx.formats.json_shared.fast_path import DeclinedError, unless_whole
from kafka_replica.sdmx.formats.json_shared.format_detection import JsonMessage
from kafka_replica.sdmx.formats.json_shared.parsing import decoded, decoded_artefact, decoded_header, is_null
from kafka_replica.sdmx.formats.json_shared.splitting import RawArtefact, artefacts_of, message_of
from kafka_replica.sdmx.formats.shared.reading.error_collector import STRICT, ErrorCollector
from kafka_replica.sdmx.formats.shared.reading.identity import artefact_urn
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Header, Message
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica.sdmx.urns.urn import Urn


class WireParty(Wire, gc=False):
    """A sender."""

    id: str | None = None


class WireMeta(Wire, gc=False):
    """The header."""

    id: str | None = None
    test: bool | None = None
    prepared: str | None = None
    sender: WireParty | None = None


_META: Final = json_decoder(WireMeta, strict=False)
_MEMBERS: Final = json_decoder(dict[str, Any])
_OPAQUE: Final = json_decoder(WireMaintainable, strict=False)

# Classes for which an unknown part would change the meaning of the rest: such an artefact is kept as it is.
_WHOLE: Final = frozenset({"Codelist", "DataConstraint", "StructureMap"})
_OWN_KEYS: Final = frozenset({"urn", "agencyId", "version", "validityType"})

_ORDER: Final = json_decoder(dict[str, msgspec.Raw])


@cache
def _outline() -> msgspec.json.Decoder[Any]:
    """Return the decoder of messages that hold only a header and lists of classes of the model."""
    lists = [(class_, list[wire] | None, None) for class_, (wire, _, _) in CLASSES.items()]  # type: ignore[valid-type]
    fields = [("meta", msgspec.Raw, msgspec.Raw()), *lists]
    return json_decoder(msgspec.defstruct("_Outline", fields, forbid_unknown_fields=True, gc=False), strict=False)


def read_message(message: JsonMessage, collector: ErrorCollector = STRICT) -> Message:
    """Return the message with these outermost levels. Raises MessageError."""
    header = Header()
    if message.meta is not None and not is_null(message.meta):
        header = _header(decoded_header(_META, message.meta, "the meta of Fusion-JSON", collector))
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
                return convert(urn, decoded_artefact(decoder, artefact.raw, str(urn)))
        except RecursionError:
            raise MessageError(f"reading {urn}: it is nested too deep to be a structure message") from None
        except MessageError as error:
            if urn.cls not in _WHOLE or "unknown field" not in str(error):
                raise
    wire = decoded_artefact(_OPAQUE, artefact.raw, str(urn))
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
    return Header(
        id=meta.id, sender=meta.sender.id if meta.sender else None, prepared=meta.prepared, test=bool(meta.test)
    )


def read_fast(data: bytes, _: Format | None) -> Message:
    """Return the message. Raises DeclinedError or any decoding error if the slow path has to read it."""
    raw_meta, *held = msgspec.structs.astuple(_outline().decode(data))
    meta = (_META.decode(raw_meta), raw_meta) if raw_meta else None
    lists = [pair for pair in zip(CLASSES, held, strict=True) if pair[1] is not None]
    if len(lists) > 1:
        order = list(_ORDER.decode(data))
        lists.sort(key=lambda pair: order.index(pair[0]))
    wires = [(class_, at, wire) for class_, written in lists for at, wire in enumerate(written)]
    if not wires:
        raise DeclinedError("no artefacts")
    tree = unless_whole(data, meta, [wire for _, _, wire in wires], len(lists) + (meta is not None))
    artefacts = [_from_fast_path(class_, wire, tree and tree[class_][at]) for class_, at, wire in wires]
    return Message(Format.FUSION_JSON, Header() if meta is None else _header(meta[0]), artefacts)


def _from_fast_path(class_: str, wire: Any, members: dict[str, Any] | None) -> Artefact:
    """Return an artefact; ``members`` are None if all of them are known."""
    if members is not None and class_ in _WHOLE and _has_unknown(class_, members):
        raise DeclinedError(class_)
    agency, id_, version = wire.agency_id or wire.agency_upper, wire.id, wire.version
    is_whole = agency and id_ and version
    urn = Urn.of(class_, agency, id_, version) if is_whole else artefact_urn(class_, agency, id_, version, None, "")
    return READERS[class_][1](urn, wire)
