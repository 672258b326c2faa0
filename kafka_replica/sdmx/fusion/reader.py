"""Reading a structure message of Fusion-JSON into the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from kafka_replica.sdmx.fusion.convert import codelist, concept_scheme, data_structure, dataflow, maintained, value_list
from kafka_replica.sdmx.fusion.wire import WireDataflow, WireDataStructure, WireMaintainable, WireMeta, WireScheme
from kafka_replica.sdmx.json_tree import JsonMessage, RawArtefact, artefacts_of, decoded, message_of
from kafka_replica.sdmx.message import Header, Message
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica.sdmx.urn import Urn

_SCHEME: Final = msgspec.json.Decoder(WireScheme, strict=False)
_META: Final = msgspec.json.Decoder(WireMeta, strict=False)
_OPAQUE: Final = msgspec.json.Decoder(WireMaintainable, strict=False)
_READERS: Final[dict[str, tuple[msgspec.json.Decoder[Any], Callable[[Urn, Any], Artefact]]]] = {
    "Codelist": (_SCHEME, codelist),
    "ValueList": (_SCHEME, value_list),
    "ConceptScheme": (_SCHEME, concept_scheme),
    "DataStructure": (msgspec.json.Decoder(WireDataStructure, strict=False), data_structure),
    "Dataflow": (msgspec.json.Decoder(WireDataflow, strict=False), dataflow),
}


def read_message(message: JsonMessage) -> Message:
    """The message whose outermost levels these are. Raises MessageError."""
    header = Header()
    if message.meta is not None:
        meta = decoded(_META, message.meta, "the meta of Fusion-JSON")
        sender = meta.sender.id if meta.sender else None
        header = Header(id=meta.id, sender=sender, prepared=meta.prepared, test=meta.test)
    return Message(message.format, header, [_artefact(message, raw) for raw in artefacts_of(message)])


def _artefact(message: JsonMessage, artefact: RawArtefact) -> Artefact:
    urn = artefact.urn
    known = _READERS.get(urn.cls)
    if known is not None:
        decoder, convert = known
        return convert(urn, decoded(decoder, artefact.raw, str(urn)))
    wire = decoded(_OPAQUE, artefact.raw, str(urn))
    return OpaqueArtefact(
        urn=urn, content=message_of(message, artefact), content_type=message.format, **maintained(wire)
    )
