"""Structure sets as SDMX-JSON 1.0, which maps URNs."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.model import ComponentMapInSet, ItemMap, SchemeMapInSet, StructureMapInSet, StructureSet
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.writers.json_parts import Json, obj, parts, true, urn, urns
from kafka_replica.sdmx.writers.sdmx_json.values import Edition, annotations_of, maintained, named, text_format

# class of the map -> its list, the list of its pairs, the class of an item
_KINDS: Final = {
    "CodelistMap": ("codelistMaps", "codeMaps", "Code"),
    "HybridCodelistMap": ("hybridCodelistMaps", "hybridCodeMaps", "Code"),
    "CategorySchemeMap": ("categorySchemeMaps", "categoryMaps", "Category"),
    "ConceptSchemeMap": ("conceptSchemeMaps", "conceptMaps", "Concept"),
    "OrganisationSchemeMap": ("organisationSchemeMaps", "organisationMaps", ""),
    "ReportingTaxonomyMap": ("reportingTaxonomyMaps", "reportingCategoryMaps", "ReportingCategory"),
}


def structure_set(one: StructureSet, edition: Edition) -> Json:
    """Write a structure set."""
    maps: dict[str, list[Json]] = {}
    for each in parts(one.scheme_maps):
        if each.urn.cls not in _KINDS:
            raise UnwritableError(f"{each.urn} is no map between schemes")
        maps.setdefault(_KINDS[each.urn.cls][0], []).append(_scheme_map(each, edition))
    return obj(
        maintained(one, edition),
        maps,
        relatedStructures=urns(parts(one.related_structures)),
        structureMaps=[_structure_map(each, one.urn, edition) for each in parts(one.structure_maps)],
    )


def _scheme_map(one: SchemeMapInSet, edition: Edition) -> Json:
    if one.alias is not None:
        raise UnwritableError("only SDMX-ML 2.0 has a place for the alias of a map")
    _, pairs, item = _KINDS[one.urn.cls]
    rows = [_pair(each, one, item, edition) for each in one.item_maps]
    return obj(named(one, edition), {pairs: rows}, source=urn(one.source), target=urn(one.target))


def _pair(one: ItemMap, map_: SchemeMapInSet, item: str, edition: Edition) -> Json:
    target = None if one.target is None else _item(map_.target, one.target, item)
    notes = annotations_of(one.annotations, edition)
    return obj(source=_item(map_.source, one.source.value, item), target=target, annotations=notes)


def _item(scheme: Urn | None, id_: str, item: str) -> str:
    if scheme is None:
        raise UnwritableError("a map of items names no source or target, and SDMX-JSON 1.0 writes items as URNs")
    return str(scheme.with_item(item or scheme.cls.removesuffix("Scheme"), id_))


def _structure_map(one: StructureMapInSet, set_: Urn, edition: Edition) -> Json:
    return obj(
        named(one, edition),
        source=urn(one.source),
        target=urn(one.target),
        isExtension=true(one.is_extension),
        componentMaps=[_component_map(each, one, set_, edition) for each in one.component_maps],
    )


def _component_map(one: ComponentMapInSet, map_: StructureMapInSet, set_: Urn, edition: Edition) -> Json:
    pairs: list[Any] = [{"source": source, "target": target} for source, target in one.value_mappings]
    codelist_map = None
    if one.codelist_map is not None:
        codelist_map = str(Urn("mapping", "CodelistMap", set_.agency, set_.id, set_.version, one.codelist_map))
    mapping = obj(
        codelistMap=codelist_map,
        toTextFormat=None if one.to_text_format is None else text_format(one.to_text_format, edition),
        toValueType=one.to_value_type,
        valueMap={"valueMappings": pairs} if pairs else None,
    )
    return obj(
        source=_component(map_.source, one.source, one.source_class),
        target=_component(map_.target, one.target, one.target_class),
        annotations=annotations_of(one.annotations, edition),
        representationMapping=mapping or None,
    )


def _component(structure: Urn | None, id_: str, class_: str | None) -> str:
    if structure is None:
        raise UnwritableError("a structure map names no source or target, and SDMX-JSON 1.0 writes components as URNs")
    if class_ is None:
        raise UnwritableError(f"the class of the component {id_} is not known, and SDMX-JSON 1.0 has it in the URN")
    return str(structure.with_item(class_, id_))
