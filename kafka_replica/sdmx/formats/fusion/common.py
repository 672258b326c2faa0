"""Shared parts of the converters of Fusion-JSON: names, annotations, validity, references, representations."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString, written_texts
from kafka_replica.sdmx.errors import MessageError, UrnError
from kafka_replica.sdmx.formats.fusion.wire import (
    Text,
    WireAnnotation,
    WireFormat,
    WireIdentifiable,
    WireLink,
    WireMaintainable,
    WireNameable,
    WireRepresentation,
)
from kafka_replica.sdmx.formats.json_shared.values import cached_text_format, enumerated, facets, reference
from kafka_replica.sdmx.model import Annotation, Link
from kafka_replica.sdmx.representation import Representation, TextFormat
from kafka_replica.sdmx.urn import Urn

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def texts_of(texts: list[Text] | None) -> InternationalString:
    """Return texts by language."""
    return written_texts(texts) if texts else NO_TEXT


def annotations_of(wires: list[WireAnnotation]) -> tuple[Annotation, ...]:
    """Build annotations."""
    return (annotation(wires[0]),) if len(wires) == 1 else tuple([annotation(one) for one in wires])


def annotation(wire: WireAnnotation) -> Annotation:
    """Build an annotation."""
    texts, url = wire.text, wire.uri or wire.url
    if not url and wire.value is None:  # skip empty fields
        return Annotation(id=wire.id, title=wire.title, type=wire.type, text=written_texts(texts) if texts else NO_TEXT)
    return Annotation(
        id=wire.id,
        title=wire.title,
        type=wire.type,
        value=wire.value,
        urls=InternationalString([("en", url)]) if url else NO_TEXT,
        text=written_texts(texts) if texts else NO_TEXT,
    )


def links_of(wires: list[WireLink]) -> tuple[Link, ...]:
    """Build links."""
    return tuple([Link(rel=link.rel, url=link.href, urn=link.urn, type=link.type) for link in wires])


def identified(wire: WireIdentifiable) -> dict[str, Any]:
    """Return annotations, links and uri as arguments, without empty fields."""
    arguments: dict[str, Any] = {}
    if wire.annotations:
        arguments["annotations"] = annotations_of(wire.annotations)
    if wire.links:
        arguments["links"] = links_of(wire.links)
    if wire.uri is not None:
        arguments["uri"] = wire.uri
    return arguments


def named(wire: WireNameable) -> dict[str, Any]:
    """Return names and descriptions in addition to ``identified``."""
    arguments = identified(wire)
    if wire.names:
        arguments["names"] = texts_of(wire.names)
    if wire.descriptions:
        arguments["descriptions"] = texts_of(wire.descriptions)
    return arguments


def maintained(wire: WireMaintainable) -> dict[str, Any]:
    """Return the arguments that every maintainable artefact has, except its URN."""
    arguments: dict[str, Any] = {"is_external_reference": bool(wire.is_external_reference)}
    if wire.annotations or wire.links or wire.uri is not None:
        arguments |= identified(wire)
    if wire.names:
        arguments["names"] = written_texts(wire.names)
    if wire.descriptions:
        arguments["descriptions"] = written_texts(wire.descriptions)
    start = wire.start_date if wire.valid_from is None else wire.valid_from
    if start is not None:
        arguments["valid_from"] = when(start)
    end = wire.end_date if wire.valid_to is None else wire.valid_to
    if end is not None:
        arguments["valid_to"] = when(end)
    if wire.is_final:
        arguments["is_final"] = True
    if wire.is_partial:
        arguments["is_partial"] = True
    if wire.service_url is not None:
        arguments["service_url"] = wire.service_url
    if wire.structure_url is not None:
        arguments["structure_url"] = wire.structure_url
    return arguments


def when(value: str | int | None) -> str | None:
    """Return a date as text. Milliseconds since 1970 become text without a zone, as registries write elsewhere."""
    if not isinstance(value, int):
        return value
    try:
        found = _EPOCH + timedelta(milliseconds=value)
    except OverflowError:
        raise MessageError(f"reading Fusion-JSON: {value} milliseconds since 1970 is no date") from None
    return found.replace(tzinfo=None).isoformat()


def representation(wire: WireRepresentation | None, where: Urn) -> Representation | None:
    """Build a representation, if there is one. Raises MessageError."""
    if wire is None:
        return None
    most = wire.max_occurs
    if wire.representation and wire.text_format is None and most is None and wire.min_occurs is None:
        try:
            return enumerated(wire.representation)
        except UrnError:
            pass  # the error is raised below, with the place
    if isinstance(most, str) and most != "unbounded":
        raise MessageError(f"reading {where}: maxOccurs {most[:80]!r} is neither a number nor 'unbounded'")
    return Representation(
        enumeration=reference(wire.representation, where),
        format=text_format(wire.text_format, where) if wire.text_format else None,
        min_occurs=wire.min_occurs,
        max_occurs="unbounded" if isinstance(most, str) else most,
    )


def text_format(wire: WireFormat, where: Urn) -> TextFormat:
    """Build a text format. Raises MessageError."""
    if wire.text_type is not None and len(wire.text_type) < _LONG_TYPE:
        alone, made = _of_type(wire.text_type)
        if wire == alone:
            return made
    return cached_text_format(wire, where, _text_format, is_whole=True)


def _text_format(wire: WireFormat, where: Urn) -> TextFormat:
    return TextFormat(
        text_type=wire.text_type,
        is_sequence=wire.is_sequence if wire.is_sequence is not None else wire.sequence,
        is_multi_lingual=wire.is_multi_lingual if wire.is_multi_lingual is not None else wire.is_multilingual,
        **facets(wire, where),
    )


_LONG_TYPE: Final = 64


@lru_cache(maxsize=64)
def _of_type(text_type: str) -> tuple[WireFormat, TextFormat]:
    """Return a format that has a type and nothing else, as written and as built."""
    return WireFormat(text_type=text_type), TextFormat(text_type=text_type)
