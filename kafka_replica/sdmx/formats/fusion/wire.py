"""The structs of Fusion-JSON, one for each kind of object, decoded by msgspec, which checks the types.

Fusion-JSON has no published schema; the structs follow the messages that registries send, with both spellings of some
flags. Keys that are not listed are not part of the model.
"""

from __future__ import annotations

import msgspec

from kafka_replica.sdmx.formats.json_shared.values import WireFacets


class Wire(msgspec.Struct, rename="camel", gc=False):
    """The base struct, with camelCase names."""


class Text(Wire, gc=False):
    """A text in a language."""

    value: str = ""
    locale: str = "en"


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
    """An object with an id."""

    id: str | None = None
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


class WireItem(WireNameable, gc=False):
    """A code, concept or value."""

    parent_code: str | None = None
    parent_concept: str | None = None
    representation: WireRepresentation | None = None


class WireScheme(WireMaintainable, gc=False):
    """A codelist, concept scheme or value list."""

    items: list[WireItem] | None = None


class WireComponent(WireIdentifiable, gc=False):
    """A dimension, measure or attribute."""

    concept: str | None = None
    representation: WireRepresentation | None = None
    concept_roles: list[str] | None = None
    concept_role: list[str] | None = None
    is_time_dimension: bool = False
    mandatory: bool = False
    position: int | None = None
    attachment_level: str | None = None
    attachment_group: str | None = None
    dimension_references: list[str] | None = None
    measure_references: list[str] | None = None


class WireDimensions(Wire, gc=False):
    """The list of dimensions."""

    dimensions: list[WireComponent] | None = None


class WireAttributes(Wire, gc=False):
    """The list of attributes."""

    attributes: list[WireComponent] | None = None


class WireGroup(WireIdentifiable, gc=False):
    """A group."""

    dimension_references: list[str] | None = None


class WireDataStructure(WireMaintainable, gc=False):
    """A data structure."""

    dimension_list: WireDimensions | None = None
    measures: list[WireComponent] | None = None
    attribute_list: WireAttributes | None = None
    groups: list[WireGroup] | None = None


class WireDataflow(WireMaintainable, gc=False):
    """A dataflow."""

    data_structure_ref: str | None = None


class WireParty(Wire, gc=False):
    """A sender."""

    id: str | None = None


class WireMeta(Wire, gc=False):
    """The header."""

    id: str | None = None
    test: bool = False
    prepared: str | None = None
    sender: WireParty | None = None
