"""Structure sets of SDMX-JSON 1.0, which map URNs."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.sdmx.containers import stored_parts
from kafka_replica.sdmx.errors import UnwritableError, UrnError
from kafka_replica.sdmx.formats.json_shared.items import item_urn
from kafka_replica.sdmx.formats.json_shared.values import (
    Json,
    fail,
    obj,
    read_reference,
    read_references,
    true,
    write_urn,
    write_urns,
)
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.items import local_id, parts
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.formats.sdmx_json.values.wire import (
    Wire,
    WireAnnotable,
    WireFormat,
    WireMaintainable,
    WireNameable,
)
from kafka_replica.sdmx.formats.sdmx_json.values.writing import (
    write_annotations,
    write_maintained,
    write_named,
    write_text_format,
)
from kafka_replica.sdmx.model import (
    ComponentMapInSet,
    ItemMap,
    MappedValue,
    SchemeMapInSet,
    StructureMapInSet,
    StructureSet,
)
from kafka_replica.sdmx.urns.urn import Urn


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
_READ_MAPS: Final = (
    ("CodelistMap", "codelist_maps", "code_maps"),
    ("HybridCodelistMap", "hybrid_codelist_maps", "hybrid_code_maps"),
    ("CategorySchemeMap", "category_scheme_maps", "category_maps"),
    ("ConceptSchemeMap", "concept_scheme_maps", "concept_maps"),
    ("OrganisationSchemeMap", "organisation_scheme_maps", "organisation_maps"),
    ("ReportingTaxonomyMap", "reporting_taxonomy_maps", "reporting_category_maps"),
)


def read_structure_set(urn: Urn, wire: WireStructureSet, context: Context) -> StructureSet:
    """Build a StructureSet."""
    schemes = [
        _read_scheme_map(urn, class_, one, getattr(one, pairs), context)
        for class_, maps, pairs in _READ_MAPS
        for one in getattr(wire, maps) or ()
    ]
    structures = [_read_structure_map(urn, structure_map, context) for structure_map in wire.structure_maps or ()]
    return StructureSet(
        urn=urn,
        related_structures=parts(urn, wire, read_references(wire.related_structures, urn)),
        scheme_maps=parts(urn, wire, schemes),
        structure_maps=parts(urn, wire, structures),
        **context.maintained(wire),
    )


def _read_scheme_map(
    urn: Urn, class_: str, wire: WireSchemeMapInSet, pairs: list[WirePair] | None, context: Context
) -> SchemeMapInSet:
    return SchemeMapInSet(
        urn=item_urn(urn, class_, wire.id, {}),
        source=read_reference(wire.source, urn),
        target=read_reference(wire.target, urn),
        item_maps=tuple(
            ItemMap(
                source=MappedValue(value=local_id(pair.source or fail(urn, f"an item of a {class_} has no source"))),
                target=None if pair.target is None else local_id(pair.target),
                annotations=context.annotated(pair).get("annotations", ()),
            )
            for pair in pairs or ()
        ),
        **context.named(wire),
    )


def _read_structure_map(urn: Urn, wire: WireStructureMapInSet, context: Context) -> StructureMapInSet:
    return StructureMapInSet(
        urn=item_urn(urn, "StructureMap", wire.id, {}),
        source=read_reference(wire.source, urn),
        target=read_reference(wire.target, urn),
        is_extension=bool(wire.is_extension),
        component_maps=tuple(
            _read_component_map(urn, component_map, context) for component_map in wire.component_maps or ()
        ),
        **context.named(wire),
    )


def _class_of(text: str) -> str | None:
    try:
        return Urn.parse(text).cls
    except UrnError:
        return None


def _read_component_map(urn: Urn, wire: WireComponentMapInSet, context: Context) -> ComponentMapInSet:
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
        value_mappings=tuple((pair.source or "", pair.target or "") for pair in pairs),
        annotations=context.annotated(wire).get("annotations", ()),
    )


# class of the map -> its list, the list of its pairs, the class of an item
_WRITTEN_MAPS: Final = {
    "CodelistMap": ("codelistMaps", "codeMaps", "Code"),
    "HybridCodelistMap": ("hybridCodelistMaps", "hybridCodeMaps", "Code"),
    "CategorySchemeMap": ("categorySchemeMaps", "categoryMaps", "Category"),
    "ConceptSchemeMap": ("conceptSchemeMaps", "conceptMaps", "Concept"),
    "OrganisationSchemeMap": ("organisationSchemeMaps", "organisationMaps", ""),
    "ReportingTaxonomyMap": ("reportingTaxonomyMaps", "reportingCategoryMaps", "ReportingCategory"),
}


def write_structure_set(structure_set: StructureSet, edition: Edition) -> Json:
    """Write a structure set."""
    maps: dict[str, list[Json]] = {}
    for each in stored_parts(structure_set.scheme_maps):
        if each.urn.cls not in _WRITTEN_MAPS:
            raise UnwritableError(f"{each.urn} is not a map between schemes")
        maps.setdefault(_WRITTEN_MAPS[each.urn.cls][0], []).append(_write_scheme_map(each, edition))
    return obj(
        write_maintained(structure_set, edition),
        maps,
        relatedStructures=write_urns(stored_parts(structure_set.related_structures)),
        structureMaps=[
            _write_structure_map(each, structure_set.urn, edition)
            for each in stored_parts(structure_set.structure_maps)
        ],
    )


def _write_scheme_map(scheme_map_in_set: SchemeMapInSet, edition: Edition) -> Json:
    if scheme_map_in_set.alias is not None:
        raise UnwritableError("only SDMX-ML 2.0 has a place for the alias of a map")
    _, pairs, item = _WRITTEN_MAPS[scheme_map_in_set.urn.cls]
    rows = [_write_pair(each, scheme_map_in_set, item, edition) for each in scheme_map_in_set.item_maps]
    return obj(
        write_named(scheme_map_in_set, edition),
        {pairs: rows},
        source=write_urn(scheme_map_in_set.source),
        target=write_urn(scheme_map_in_set.target),
    )


def _write_pair(item_map: ItemMap, map_: SchemeMapInSet, item: str, edition: Edition) -> Json:
    target = None if item_map.target is None else _write_item(map_.target, item_map.target, item)
    notes = write_annotations(item_map.annotations, edition)
    return obj(source=_write_item(map_.source, item_map.source.value, item), target=target, annotations=notes)


def _write_item(scheme: Urn | None, id_: str, item: str) -> str:
    if scheme is None:
        raise UnwritableError("a map of items names no source or target, but SDMX-JSON 1.0 writes items as URNs")
    if scheme.cls == "HierarchicalCodelist":
        item = "HierarchicalCode"
    return str(scheme.with_item(item or scheme.cls.removesuffix("Scheme"), id_))


def _write_structure_map(structure_map_in_set: StructureMapInSet, set_: Urn, edition: Edition) -> Json:
    return obj(
        write_named(structure_map_in_set, edition),
        source=write_urn(structure_map_in_set.source),
        target=write_urn(structure_map_in_set.target),
        isExtension=true(structure_map_in_set.is_extension),
        componentMaps=[
            _write_component_map(each, structure_map_in_set, set_, edition)
            for each in structure_map_in_set.component_maps
        ],
    )


def _write_component_map(
    component_map_in_set: ComponentMapInSet, map_: StructureMapInSet, set_: Urn, edition: Edition
) -> Json:
    pairs: list[Any] = [{"source": source, "target": target} for source, target in component_map_in_set.value_mappings]
    codelist_map = None
    if component_map_in_set.codelist_map is not None:
        codelist_map = str(
            Urn("mapping", "CodelistMap", set_.agency, set_.id, set_.version, component_map_in_set.codelist_map)
        )
    mapping = obj(
        codelistMap=codelist_map,
        toTextFormat=None
        if component_map_in_set.to_text_format is None
        else write_text_format(component_map_in_set.to_text_format, edition),
        toValueType=component_map_in_set.to_value_type,
        valueMap={"valueMappings": pairs} if pairs else None,
    )
    return obj(
        source=_write_component(map_.source, component_map_in_set.source, component_map_in_set.source_class),
        target=_write_component(map_.target, component_map_in_set.target, component_map_in_set.target_class),
        annotations=write_annotations(component_map_in_set.annotations, edition),
        representationMapping=mapping or None,
    )


def _write_component(structure: Urn | None, id_: str, class_: str | None) -> str:
    if structure is None:
        raise UnwritableError("a structure map names no source or target, but SDMX-JSON 1.0 writes components as URNs")
    if class_ is None:
        raise UnwritableError(f"the class of the component {id_} is not known, but SDMX-JSON 1.0 has it in the URN")
    return str(structure.with_item(class_, id_))
