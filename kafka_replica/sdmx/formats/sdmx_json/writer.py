"""Write structure messages of SDMX-JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.json_shared.collection_names import collection_of
from kafka_replica.sdmx.formats.json_shared.encoding import JsonEncoder
from kafka_replica.sdmx.formats.json_shared.values import Json, obj
from kafka_replica.sdmx.formats.sdmx_json.classes import writer_of
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Header
from kafka_replica.sdmx.model import Artefact

_METADATA_SETS: Final = "metadataSets"
_OLD_SCHEMA: Final = "https://raw.githubusercontent.com/sdmx-twg/sdmx-json/master/{kind}-message/tools/schemas"
_SCHEMAS: Final = {
    Format.SDMX_JSON_1_0: f"{_OLD_SCHEMA}/1.0",
    Format.SDMX_JSON_2_0: f"{_OLD_SCHEMA}/2.0.0",
    Format.SDMX_JSON_2_1: "https://json.sdmx.org/2.1",
}
_ENCODER: Final = JsonEncoder("number")

encode_element: Final = _ENCODER.encode_element
"""Return an element whose JSON is encoded, and its size in bytes. Raises UnwritableError."""


def element_of(artefact: Artefact, format_: Format) -> tuple[str, Json]:
    """Return the list that holds an artefact, and its JSON. Raises UnwritableError."""
    edition = Edition(format_)
    write = writer_of(artefact.urn.cls, edition)
    if write is None:
        raise UnwritableError(f"{format_.title} has no class {artefact.urn.cls}")
    return collection_of(artefact.urn.cls), write(artefact, edition)


def message_of(elements: Iterable[tuple[str, Json | msgspec.Raw]], header: Header, format_: Format) -> bytes:
    """Return the message of these artefacts."""
    data: dict[str, list[Json | msgspec.Raw]] = {}
    for name, element in elements:
        data.setdefault(name, []).append(element)
    kind = "structure"
    if _METADATA_SETS in data:
        kind = "metadata"
        if len(data) > 1:
            raise UnwritableError("metadata sets need separate messages; write the other structures separately")
    meta = obj(
        schema=f"{_SCHEMAS[format_].format(kind=kind)}/sdmx-json-{kind}-schema.json",
        id=header.id,
        test=header.test,
        prepared=header.prepared,
        sender=None if header.sender is None else {"id": header.sender},
    )
    return _ENCODER.encode({"meta": meta, "data": data})
