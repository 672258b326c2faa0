"""Read structure messages of SDMX-JSON into the model.

``read_fast`` is the fast path (see ``json_shared.fast_path``). It reads messages whose lists have the names of the
schemas and hold only classes of the model; ``read_message`` reads all others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import Any, Final

import msgspec

from kafka_replica.common.json_decoders import json_decoder
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.json_shared.collection_names import WITHOUT_URN, collection_of
from kafka_replica.sdmx.formats.json_shared.fast_path import unless_whole
from kafka_replica.sdmx.formats.json_shared.format_detection import JsonMessage, sdmx_json_format
from kafka_replica.sdmx.formats.json_shared.parsing import decoded_artefact, decoded_header, is_null
from kafka_replica.sdmx.formats.json_shared.repeated_names import refuse_repeated
from kafka_replica.sdmx.formats.json_shared.splitting import RawArtefact, artefacts_of, message_of
from kafka_replica.sdmx.formats.sdmx_json.classes import CLASSES, READERS, decoder_of
from kafka_replica.sdmx.formats.sdmx_json.constraints.reading import read_availability_constraint
from kafka_replica.sdmx.formats.sdmx_json.constraints.wire import WireAvailability
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context, context_of
from kafka_replica.sdmx.formats.sdmx_json.values.wire import Wire, WireMaintainable
from kafka_replica.sdmx.formats.shared.reading.error_collector import NO_IDENTITY, STRICT, ErrorCollector, unreadable
from kafka_replica.sdmx.formats.shared.reading.identity import artefact_urn
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Header, Message
from kafka_replica.sdmx.model import Artefact, AvailabilityConstraint, OpaqueArtefact
from kafka_replica.sdmx.urns.urn import Urn


class WireParty(Wire, gc=False):
    """A sender."""

    id: str | None = None


class WireMeta(Wire, gc=False):
    """The header."""

    id: str | None = None
    test: bool | None = None
    prepared: str | None = None
    schema: str | None = None
    content_languages: list[str] | str | None = None
    sender: WireParty | None = None


_AVAILABILITY: Final = decoder_of(list[WireAvailability] | None)
_META: Final = decoder_of(WireMeta)
_OPAQUE: Final = decoder_of(WireMaintainable)
_CLASSES: Final = {collection_of(name): name for name in READERS} | {"valuelists": "ValueList"}
"""The name of a list, as the schemas (and registries) write it -> class."""
_LONG_ADDRESS: Final = 300
_OUTER: Final = {"data", "meta"}


_Lists = msgspec.defstruct(
    "_Lists",
    [(name, list[CLASSES[class_][0]] | None, None) for name, class_ in _CLASSES.items()],  # type: ignore[misc]
    forbid_unknown_fields=True,
    gc=False,
)  # fmt: skip


class _Outline(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A message that has nothing unusual around its lists."""

    data: _Lists  # type: ignore[valid-type]
    meta: msgspec.Raw


class _Order(msgspec.Struct, gc=False):
    """The names of the lists, in their order."""

    data: dict[str, msgspec.Raw]


@cache
def _outline() -> msgspec.json.Decoder[_Outline]:
    return decoder_of(_Outline)


_ORDER: Final = json_decoder(_Order)


def read_message(message: JsonMessage, collector: ErrorCollector = STRICT) -> Message:
    """Return the message with these outermost levels. Raises MessageError."""
    header, context = Header(), Context()
    if message.meta is not None and not is_null(message.meta):
        meta: WireMeta = decoded_header(_META, message.meta, f"the meta of {message.format.title}", collector)
        header, context = _header(meta), _context(meta)
    artefacts = collector.read_all(
        artefacts_of(message, collector), lambda raw: _artefact(message, raw, context), RawArtefact.unreadable
    )
    return Message(message.format, header, artefacts, _available(message, context, collector), collector.errors)


def _available(message: JsonMessage, context: Context, collector: ErrorCollector) -> list[AvailabilityConstraint]:
    written = message.collections.get(WITHOUT_URN)
    if written is None:
        return []

    def read() -> list[AvailabilityConstraint]:
        if message.has_repeated:
            refuse_repeated(bytes(written))
        found: list[WireAvailability] = (
            decoded_artefact(_AVAILABILITY, written, f"the {WITHOUT_URN} of SDMX-JSON") or []
        )
        return [read_availability_constraint(wire, context) for wire in found]

    return collector.attempt(read, partial(unreadable, "AvailabilityConstraint", NO_IDENTITY, WITHOUT_URN)) or []


def _artefact(message: JsonMessage, artefact: RawArtefact, context: Context) -> Artefact:
    urn = artefact.urn
    known = READERS.get(urn.cls)
    if known is not None:
        decoder, convert = known
        wire = decoded_artefact(decoder, artefact.raw, str(urn))
        try:
            return convert(urn, wire, context)
        except RecursionError:
            raise MessageError(f"reading {urn}: it is nested too deep to be a structure") from None
    wire = decoded_artefact(_OPAQUE, artefact.raw, str(urn))
    return OpaqueArtefact(
        urn=urn, content=message_of(message, artefact), content_type=message.format, **context.maintained(wire)
    )


def read_fast(data: bytes, claimed: Format | None) -> Message:
    """Return the message. Raises DeclinedError or any decoding error if the slow path has to read it."""
    outline = _outline().decode(data)
    meta = _META.decode(outline.meta)
    lists = [pair for pair in zip(_CLASSES, msgspec.structs.astuple(outline.data), strict=True) if pair[1] is not None]
    if len(lists) > 1:
        order = list(_ORDER.decode(data).data)
        lists.sort(key=lambda pair: order.index(pair[0]))
    wires = [(_CLASSES[name], wire) for name, held in lists for wire in held]
    unless_whole(data, (meta, outline.meta), [wire for _, wire in wires], len(_OUTER) + len(lists))
    context = _context(meta)
    artefacts = [_from_fast_path(class_, READERS[class_][1], wire, context) for class_, wire in wires]
    return Message(_format(meta.schema, claimed), _header(meta), artefacts)


@lru_cache(maxsize=64)
def _known_format(address: str | None, claimed: Format | None) -> Format:
    return sdmx_json_format(address, None, claimed)


def _format(address: str | None, claimed: Format | None) -> Format:
    if address is not None and len(address) > _LONG_ADDRESS:
        return sdmx_json_format(address, None, claimed)
    return _known_format(address, claimed)


def _context(meta: WireMeta) -> Context:
    languages = meta.content_languages
    if isinstance(languages, str):
        languages = [languages]
    return context_of((languages[0] or "en") if languages else "en")


def _header(meta: WireMeta) -> Header:
    sender = meta.sender.id if meta.sender else None
    return Header(id=meta.id, sender=sender, prepared=meta.prepared, test=bool(meta.test))


def _from_fast_path(
    class_: str, convert: Callable[[Urn, Any, Context], Artefact], wire: Any, context: Context
) -> Artefact:
    agency, id_, version = wire.agency_id or wire.agency_upper, wire.id, wire.version
    is_whole = agency and id_ and version
    urn = Urn.of(class_, agency, id_, version) if is_whole else artefact_urn(class_, agency, id_, version, None, "")
    return convert(urn, wire, context)
