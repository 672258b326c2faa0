"""The parts that many artefacts of Fusion-JSON share: names, annotations, links, validity, representations.

Fusion-JSON has no published schema; the structs follow the messages that registries send, with both spellings of some
flags. Keys that are not listed are not part of the model. The writer uses the keys that registries send.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

import msgspec

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString, written_texts
from kafka_replica.sdmx.errors import MessageError, UrnError
from kafka_replica.sdmx.formats.json_shared.values import (
    Json,
    WireFacets,
    cached_text_format,
    enumerated,
    obj,
    occurs,
    read_facets,
    read_reference,
    true,
    write_facets,
    write_urn,
)
from kafka_replica.sdmx.formats.shared.writing.times import milliseconds
from kafka_replica.sdmx.model import Annotation, Identifiable, Link, Maintainable, Nameable
from kafka_replica.sdmx.model.representation import Representation, TextFormat
from kafka_replica.sdmx.urns.urn import Urn


class Wire(msgspec.Struct, rename="camel", gc=False, omit_defaults=True):
    """The base struct, with camelCase names."""


class Text(Wire, gc=False):
    """A text in a language."""

    value: str = ""
    locale: str = "en"
    is_html: Any = None


class WireAnnotation(Wire, gc=False):
    """An annotation."""

    id: str | None = None
    title: str | None = None
    type: str | None = None
    value: str | None = None
    uri: str | None = None
    url: str | None = None
    text: list[Text] | None = None


class WireLink(Wire, gc=False):
    """A link."""

    rel: str | None = None
    href: str | None = None
    urn: str | None = None
    type: str | None = None


class WireIdentifiable(Wire, gc=False):
    """An object with an id. The URN of an item is not needed, but a known member is read faster."""

    id: str | None = None
    urn: Any = None
    uri: str | None = None
    annotations: list[WireAnnotation] | None = None
    links: list[WireLink] | None = None


class WireNameable(WireIdentifiable, gc=False):
    """An object with names."""

    names: list[Text] | None = None
    descriptions: list[Text] | None = None


class WireMaintainable(WireNameable, gc=False):
    """An object with an agency."""

    agency_id: str | None = None
    agency_upper: str | None = msgspec.field(name="agencyID", default=None)
    version: str | None = None
    urn: str | None = None
    validity_type: Any = None
    is_final: bool | None = None
    is_partial: bool | None = None
    is_external_reference: bool | None = None
    start_date: str | int | None = None
    end_date: str | int | None = None
    valid_from: str | int | None = None
    valid_to: str | int | None = None
    service_url: str | None = msgspec.field(name="serviceURL", default=None)
    structure_url: str | None = msgspec.field(name="structureURL", default=None)


class WireFormat(WireFacets, gc=False):
    """A text format."""

    is_sequence: bool | None = None
    sequence: bool | None = None
    is_multi_lingual: bool | None = None
    is_multilingual: bool | None = None


class WireRepresentation(Wire, gc=False):
    """A representation; ``representation`` is the URN of the list of values."""

    representation: str | None = None
    text_format: WireFormat | None = None
    min_occurs: int | None = None
    max_occurs: int | str | None = None


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def read_texts(texts: list[Text] | None) -> InternationalString:
    """Return texts by language."""
    return written_texts(texts) if texts else NO_TEXT


def read_annotations(wires: list[WireAnnotation]) -> tuple[Annotation, ...]:
    """Build annotations."""
    return (read_annotation(wires[0]),) if len(wires) == 1 else tuple([read_annotation(wire) for wire in wires])


def read_annotation(wire: WireAnnotation) -> Annotation:
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


def read_links(wires: list[WireLink]) -> tuple[Link, ...]:
    """Build links."""
    return tuple([Link(rel=link.rel, url=link.href, urn=link.urn, type=link.type) for link in wires])


def read_identified(wire: WireIdentifiable) -> dict[str, Any]:
    """Return annotations, links and uri as arguments, without empty fields."""
    arguments: dict[str, Any] = {}
    if wire.annotations:
        arguments["annotations"] = read_annotations(wire.annotations)
    if wire.links:
        arguments["links"] = read_links(wire.links)
    if wire.uri is not None:
        arguments["uri"] = wire.uri
    return arguments


def read_named(wire: WireNameable) -> dict[str, Any]:
    """Return names and descriptions in addition to ``identified``."""
    arguments = read_identified(wire)
    if wire.names:
        arguments["names"] = read_texts(wire.names)
    if wire.descriptions:
        arguments["descriptions"] = read_texts(wire.descriptions)
    return arguments


def read_maintained(wire: WireMaintainable) -> dict[str, Any]:
    """Return the arguments that every maintainable artefact has, except its URN."""
    arguments: dict[str, Any] = {"is_external_reference": bool(wire.is_external_reference)}
    if wire.annotations or wire.links or wire.uri is not None:
        arguments |= read_identified(wire)
    if wire.names:
        arguments["names"] = written_texts(wire.names)
    if wire.descriptions:
        arguments["descriptions"] = written_texts(wire.descriptions)
    start = wire.start_date if wire.valid_from is None else wire.valid_from
    if start is not None:
        arguments["valid_from"] = read_time(start)
    end = wire.end_date if wire.valid_to is None else wire.valid_to
    if end is not None:
        arguments["valid_to"] = read_time(end)
    if wire.is_final:
        arguments["is_final"] = True
    if wire.is_partial:
        arguments["is_partial"] = True
    if wire.service_url is not None:
        arguments["service_url"] = wire.service_url
    if wire.structure_url is not None:
        arguments["structure_url"] = wire.structure_url
    return arguments


def read_time(value: str | int | None) -> str | None:
    """Return a date as text. Milliseconds since 1970 become text without a zone, as registries write elsewhere."""
    if not isinstance(value, int):
        return value
    try:
        found = _EPOCH + timedelta(milliseconds=value)
    except OverflowError:
        raise MessageError(f"reading Fusion-JSON: {value} milliseconds since 1970 is not a valid date") from None
    return found.replace(tzinfo=None).isoformat()


def read_representation(wire: WireRepresentation | None, where: Urn) -> Representation | None:
    """Build a representation; None if there is none, or an empty one. Raises MessageError."""
    if wire is None:
        return None
    most = wire.max_occurs
    if wire.representation and wire.text_format is None and most is None and wire.min_occurs is None:
        try:
            return enumerated(wire.representation)
        except UrnError:
            pass  # the error is raised below, with the place
    if wire.text_format is None and wire.representation is None and most is None and wire.min_occurs is None:
        return None
    return Representation(
        enumeration=read_reference(wire.representation, where),
        format=read_text_format(wire.text_format, where) if wire.text_format else None,
        min_occurs=wire.min_occurs,
        max_occurs=occurs(most, where),
    )


def read_text_format(wire: WireFormat, where: Urn) -> TextFormat:
    """Build a text format. Raises MessageError."""
    if wire.text_type is not None and len(wire.text_type) < _LONG_TYPE:
        alone, made = _format_of_type(wire.text_type)
        if wire == alone:
            return made
    return cached_text_format(wire, where, _read_text_format, is_whole=True)


def _read_text_format(wire: WireFormat, where: Urn) -> TextFormat:
    return TextFormat(
        text_type=wire.text_type,
        is_sequence=wire.is_sequence if wire.is_sequence is not None else wire.sequence,
        is_multi_lingual=wire.is_multi_lingual if wire.is_multi_lingual is not None else wire.is_multilingual,
        **read_facets(wire, where),
    )


_LONG_TYPE: Final = 64


@lru_cache(maxsize=64)
def _format_of_type(text_type: str) -> tuple[WireFormat, TextFormat]:
    """Return a format that has a type and nothing else, as written and as built."""
    return WireFormat(text_type=text_type), TextFormat(text_type=text_type)


def write_texts(found: InternationalString) -> list[Json]:
    """Write a text in each language."""
    return [{"locale": language, "value": text} for language, text in found.texts]


def write_annotations(found: Iterable[Annotation]) -> list[Json]:
    """Write annotations."""
    return [
        obj(id=one.id, title=one.title, type=one.type, value=one.value, uri=one.url, text=write_texts(one.text))
        for one in found
    ]


def _write_link(link: Link) -> Json:
    return obj(rel=link.rel, href=link.url, urn=link.urn, type=link.type)


def write_identified(identifiable: Identifiable) -> Json:
    """Write id, URN, annotations and links."""
    found: Json = {"id": identifiable.id, "urn": str(identifiable.urn)}
    if identifiable.annotations or identifiable.links or identifiable.uri is not None:
        found |= obj(
            uri=identifiable.uri,
            annotations=write_annotations(identifiable.annotations),
            links=[_write_link(each) for each in identifiable.links],
        )
    return found


def write_named(nameable: Nameable) -> Json:
    """Write names and descriptions in addition to ``identified``."""
    found = write_identified(nameable)
    if nameable.names.texts:
        found["names"] = write_texts(nameable.names)
    if nameable.descriptions.texts:
        found["descriptions"] = write_texts(nameable.descriptions)
    return found


def write_maintained(maintainable: Maintainable) -> Json:
    """Write the parts that every artefact has."""
    return obj(
        write_named(maintainable),
        agencyId=maintainable.agency,
        version=maintainable.version,
        isFinal=true(maintainable.is_final),
        isPartial=true(maintainable.is_partial),
        isExternalReference=true(maintainable.is_external_reference),
        startDate=milliseconds(maintainable.valid_from),
        endDate=milliseconds(maintainable.valid_to),
        serviceURL=maintainable.service_url,
        structureURL=maintainable.structure_url,
    )


def write_representation(representation: Representation | None) -> Json | None:
    """Write a representation; ``representation`` is the URN of the list."""
    if representation is None:
        return None
    return obj(
        textFormat=None if representation.format is None else _write_text_format(representation.format),
        representation=write_urn(representation.enumeration),
        minOccurs=representation.min_occurs,
        maxOccurs=representation.max_occurs,
    )


def _write_text_format(text_format: TextFormat) -> Json:
    found = write_facets(text_format)
    multilingual = found.pop("isMultiLingual", None)
    return obj({"textType": text_format.text_type}, found, isMultilingual=multilingual)
