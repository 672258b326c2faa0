"""Read a structure message of SDMX-JSON into the model."""

from __future__ import annotations

from functools import partial

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.json_shared.names import refuse_repeated
from kafka_replica.sdmx.formats.json_shared.tree import (
    WITHOUT_URN,
    JsonMessage,
    RawArtefact,
    artefacts_of,
    decoded,
    message_of,
)
from kafka_replica.sdmx.formats.sdmx_json.classes import AVAILABILITY, META, OPAQUE, READERS
from kafka_replica.sdmx.formats.sdmx_json.constraints import availability_constraint
from kafka_replica.sdmx.formats.sdmx_json.constraints_wire import WireAvailability
from kafka_replica.sdmx.formats.sdmx_json.values import Context
from kafka_replica.sdmx.formats.sdmx_json.wire import WireMeta
from kafka_replica.sdmx.formats.shared.reading.collecting import NO_IDENTITY, STRICT, ErrorCollector, unreadable
from kafka_replica.sdmx.message import Header, Message
from kafka_replica.sdmx.model import Artefact, AvailabilityConstraint, OpaqueArtefact


def read_message(message: JsonMessage, collector: ErrorCollector = STRICT) -> Message:
    """Return the message with these outermost levels. Raises MessageError."""
    header, context = Header(), Context()
    if message.meta is not None and bytes(message.meta).strip() != b"null":
        meta: WireMeta = decoded(META, message.meta, f"the meta of {message.format.title}")
        sender = meta.sender.id if meta.sender else None
        header = Header(id=meta.id, sender=sender, prepared=meta.prepared, test=bool(meta.test))
        context = Context((meta.content_languages or ["en"])[0] or "en")
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
        found: list[WireAvailability] = decoded(AVAILABILITY, written, f"the {WITHOUT_URN} of SDMX-JSON") or []
        return [availability_constraint(wire, context) for wire in found]

    return collector.attempt(read, partial(unreadable, "AvailabilityConstraint", NO_IDENTITY, WITHOUT_URN)) or []


def _artefact(message: JsonMessage, artefact: RawArtefact, context: Context) -> Artefact:
    urn = artefact.urn
    known = READERS.get(urn.cls)
    if known is not None:
        decoder, convert = known
        wire = decoded(decoder, artefact.raw, str(urn))
        try:
            return convert(urn, wire, context)
        except RecursionError:
            raise MessageError(f"reading {urn}: it is nested too deep to be a structure") from None
    wire = decoded(OPAQUE, artefact.raw, str(urn))
    return OpaqueArtefact(
        urn=urn, content=message_of(message, artefact), content_type=message.format, **context.maintained(wire)
    )
