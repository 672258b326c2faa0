"""Write structure messages of Fusion-JSON: a list for each class, with the name of the class."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.fusion.classes import WRITERS
from kafka_replica.sdmx.formats.json_shared.values import Json, obj
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Header
from kafka_replica.sdmx.model import Artefact


def element_of(artefact: Artefact, format_: Format) -> tuple[str, Json]:
    """Return the list that holds an artefact, and its JSON. Raises UnwritableError."""
    kind = artefact.urn.cls
    if kind not in WRITERS:
        raise UnwritableError(f"{format_.title} has no known form of a {kind}")
    return kind, WRITERS[kind](artefact)


def encoded(element: tuple[str, Json]) -> tuple[tuple[str, msgspec.Raw], int]:
    """Return an element whose JSON is encoded, and its size in bytes. Raises UnwritableError."""
    kind, value = element
    data = _encoded(value)
    return (kind, msgspec.Raw(data)), len(data)


def message_of(elements: Iterable[tuple[str, Json | msgspec.Raw]], header: Header, _: Format) -> bytes:
    """Return the message of these artefacts."""
    found: dict[str, list[Json | msgspec.Raw]] = {}
    for kind, element in elements:
        found.setdefault(kind, []).append(element)
    sender = None if header.sender is None else {"id": header.sender}
    meta = obj(id=header.id, test=header.test, prepared=header.prepared, sender=sender)
    return _encoded({"meta": meta, **found})


def _encoded(value: object) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        raise UnwritableError("a text in it contains half of a surrogate pair, which UTF-8 cannot represent") from None
