"""The structs of codelists, value lists and concept schemes in SDMX-JSON."""

from __future__ import annotations

import msgspec

from kafka_replica.sdmx.formats.sdmx_json.wire import Wire, WireMaintainable, WireNameable, WireRepresentation


class WireCode(WireNameable, gc=False):
    """A code; ``value`` is that of a geographic code, ``geoCell`` that of a code of a grid."""

    parent: str | None = None
    value: str | None = None
    geo_cell: str | None = None


class WireMember(Wire, gc=False):
    """A selected code."""

    value: str | None = None
    cascade_values: bool | str | None = None


class WireSelection(Wire, gc=False):
    """The codes that an extension includes or excludes; an id alone is a member without a statement on cascading."""

    wildcarded_member_values: list[str] | None = None
    member_values: list[WireMember | str] | None = None


class WireExtension(Wire, gc=False):
    """An extension of a codelist."""

    codelist: str | None = None
    prefix: str | None = None
    inclusive_code_selection: WireSelection | None = None
    exclusive_code_selection: WireSelection | None = None


class WireCodelist(WireMaintainable, gc=False):
    """A codelist of any kind; the name of its list of codes determines the kind."""

    codes: list[WireCode] | None = None
    geo_feature_set_codes: list[WireCode] | None = None
    geo_grid_codes: list[WireCode] | None = None
    grid_definition: str | None = None
    codelist_extensions: list[WireExtension] | None = None


class WireValueList(WireMaintainable, gc=False):
    """A value list."""

    value_items: list[WireNameable] | None = None


class WireIsoConcept(Wire, gc=False):
    """A concept of ISO 11179."""

    concept_agency: str | None = None
    concept_scheme_id: str | None = msgspec.field(name="conceptSchemeID", default=None)
    concept_id: str | None = msgspec.field(name="conceptID", default=None)


class WireConcept(WireNameable, gc=False):
    """A concept; in 1.0 its parent and its ISO concept are URNs."""

    parent: str | None = None
    core_representation: WireRepresentation | None = None
    iso_concept_reference: WireIsoConcept | str | None = None


class WireConceptScheme(WireMaintainable, gc=False):
    """A concept scheme."""

    concepts: list[WireConcept] | None = None
