"""Structure sets of SDMX-JSON 1.0."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.formats.json_shared.values import item_urn, reference, references
from kafka_replica.sdmx.formats.sdmx_json.references import fail, local_id, parts
from kafka_replica.sdmx.formats.sdmx_json.values import Context
from kafka_replica.sdmx.formats.sdmx_json.wire import Wire, WireAnnotable, WireFormat, WireMaintainable, WireNameable
from kafka_replica.sdmx.model import (
    ComponentMapInSet,
    ItemMap,
    MappedValue,
    SchemeMapInSet,
    StructureMapInSet,
    StructureSet,
)
from kafka_replica.sdmx.urn import Urn


class WirePair(WireAnnotable, gc=False):
    """An item of the source and an item of the target, as URNs."""

    source: str | None = None
    target: str | None = None


class WireSchemeMapInSet(WireNameable, gc=False):
    """A map between schemes of any class; each class has its own name for the list of maps."""

    source: str | None = None
    target: str | None = None
    code_maps: list[WirePair] | None = None
    hybrid_code_maps: list[WirePair] | None = None
    category_maps: list[WirePair] | None = None
    concept_maps: list[WirePair] | None = None
    organisation_maps: list[WirePair] | None = None
    reporting_category_maps: list[WirePair] | None = None


class WireValueMap(Wire, gc=False):
    """Values and the values they are mapped to."""

    value_mappings: list[WirePair] | None = None


class WireRepresentationMapping(Wire, gc=False):
    """The mapping of the values of a component."""

    codelist_map: str | None = None
    to_text_format: WireFormat | None = None
    to_value_type: str | None = None
    value_map: WireValueMap | None = None


class WireComponentMapInSet(WirePair, gc=False):
    """A map of components."""

    representation_mapping: WireRepresentationMapping | None = None


class WireStructureMapInSet(WireNameable, gc=False):
    """A map of structures."""

    source: str | None = None
    target: str | None = None
    is_extension: bool | None = None
    component_maps: list[WireComponentMapInSet] | None = None


class WireStructureSet(WireMaintainable, gc=False):
    """A structure set."""

    related_structures: list[str] | None = None
    structure_maps: list[WireStructureMapInSet] | None = None
    codelist_maps: list[WireSchemeMapInSet] | None = None
    hybrid_codelist_maps: list[WireSchemeMapInSet] | None = None
    category_scheme_maps: list[WireSchemeMapInSet] | None = None
    concept_scheme_maps: list[WireSchemeMapInSet] | None = None
    organisation_scheme_maps: list[WireSchemeMapInSet] | None = None
    reporting_taxonomy_maps: list[WireSchemeMapInSet] | None = None


# In the order of the schema for SDMX-ML 2.1, because lists with different names have no order of their own.
_KINDS: Final = (
    ("CodelistMap", "codelist_maps", "code_maps"),
    ("HybridCodelistMap", "hybrid_codelist_maps", "hybrid_code_maps"),
    ("CategorySchemeMap", "category_scheme_maps", "category_maps"),
    ("ConceptSchemeMap", "concept_scheme_maps", "concept_maps"),
    ("OrganisationSchemeMap", "organisation_scheme_maps", "organisation_maps"),
    ("ReportingTaxonomyMap", "reporting_taxonomy_maps", "reporting_category_maps"),
)


def structure_set(urn: Urn, wire: WireStructureSet, context: Context) -> StructureSet:
    """Build a StructureSet."""
    schemes = [
        _scheme_map(urn, class_, one, getattr(one, pairs), context)
        for class_, maps, pairs in _KINDS
        for one in getattr(wire, maps) or ()
    ]
    structures = [_structure_map(urn, one, context) for one in wire.structure_maps or ()]
    return StructureSet(
        urn=urn,
        related_structures=parts(urn, wire, references(wire.related_structures, urn)),
        scheme_maps=parts(urn, wire, schemes),
        structure_maps=parts(urn, wire, structures),
        **context.maintained(wire),
    )


def _scheme_map(
    urn: Urn, class_: str, wire: WireSchemeMapInSet, pairs: list[WirePair] | None, context: Context
) -> SchemeMapInSet:
    return SchemeMapInSet(
        urn=item_urn(urn, class_, wire.id, {}),
        source=reference(wire.source, urn),
        target=reference(wire.target, urn),
        item_maps=tuple(
            ItemMap(
                source=MappedValue(value=local_id(one.source or fail(urn, f"an item of a {class_} has no source"))),
                target=None if one.target is None else local_id(one.target),
                annotations=context.annotated(one).get("annotations", ()),
            )
            for one in pairs or ()
        ),
        **context.named(wire),
    )


def _structure_map(urn: Urn, wire: WireStructureMapInSet, context: Context) -> StructureMapInSet:
    return StructureMapInSet(
        urn=item_urn(urn, "StructureMap", wire.id, {}),
        source=reference(wire.source, urn),
        target=reference(wire.target, urn),
        is_extension=bool(wire.is_extension),
        component_maps=tuple(_component_map(urn, one, context) for one in wire.component_maps or ()),
        **context.named(wire),
    )


def _class_of(text: str) -> str | None:
    try:
        return Urn.parse(text).cls
    except UrnError:
        return None


def _component_map(urn: Urn, wire: WireComponentMapInSet, context: Context) -> ComponentMapInSet:
    if not wire.source or not wire.target:
        fail(urn, "a map of components has no source or no target")
    written = wire.representation_mapping or WireRepresentationMapping()
    pairs = written.value_map.value_mappings or [] if written.value_map else []
    return ComponentMapInSet(
        source=local_id(wire.source),
        target=local_id(wire.target),
        source_class=_class_of(wire.source),
        target_class=_class_of(wire.target),
        codelist_map=None if written.codelist_map is None else local_id(written.codelist_map),
        to_text_format=context.text_format(written.to_text_format, urn) if written.to_text_format else None,
        to_value_type=written.to_value_type,
        value_mappings=tuple((one.source or "", one.target or "") for one in pairs),
        annotations=context.annotated(wire).get("annotations", ()),
    )
