"""Write structure messages of Fusion-JSON: a list for each class, with the name of the class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.fusion.classes import WRITERS
from kafka_replica.sdmx.formats.json_shared.encoding import JsonEncoder
from kafka_replica.sdmx.formats.json_shared.values import Json, obj
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Header
from kafka_replica.sdmx.model import Artefact

_ENCODER: Final = JsonEncoder("string")

encode_element: Final = _ENCODER.encode_element
"""Return an element whose JSON is encoded, and its size in bytes. Raises UnwritableError."""


def element_of(artefact: Artefact, format_: Format) -> tuple[str, Json]:
    """Return the list that holds an artefact, and its JSON. Raises UnwritableError."""
    kind = artefact.urn.cls
    if kind not in WRITERS:
        raise UnwritableError(f"{format_.title} has no known form of a {kind}")
    return kind, WRITERS[kind](artefact)


def message_of(elements: Iterable[tuple[str, Json | msgspec.Raw]], header: Header, _: Format) -> bytes:
    """Return the message of these artefacts."""
    found: dict[str, list[Json | msgspec.Raw]] = {}
    for kind, element in elements:
        found.setdefault(kind, []).append(element)
    sender = None if header.sender is None else {"id": header.sender}
    meta = obj(id=header.id, test=header.test, prepared=header.prepared, sender=sender)
    return _ENCODER.encode({"meta": meta, **found})
