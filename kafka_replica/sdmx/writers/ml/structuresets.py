"""Structure sets as SDMX-ML 2.1."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.model import ComponentMapInSet, ItemMap, SchemeMapInSet, StructureMapInSet, StructureSet
from kafka_replica.sdmx.readers.ml.structuresets import LISTS_OF_COMPONENTS
from kafka_replica.sdmx.writers.ml.edition import Edition
from kafka_replica.sdmx.writers.ml.values import annotations_of, artefact, item, parts, text_format
from kafka_replica.sdmx.writers.ml.xml import el, leaf, true

_ROWS: Final = {
    "CodelistMap": "str:CodeMap",
    "HybridCodelistMap": "str:HybridCodeMap",
    "ConceptSchemeMap": "str:ConceptMap",
    "CategorySchemeMap": "str:CategoryMap",
    "OrganisationSchemeMap": "str:OrganisationMap",
    "ReportingTaxonomyMap": "str:ReportingCategoryMap",
}


def structure_set(one: StructureSet, edition: Edition) -> str:
    """Write a <StructureSet>."""
    content = [
        edition.refs("str:RelatedStructure", parts(one.related_structures)),
        *[_scheme_map(each, edition) for each in parts(one.scheme_maps)],
        *[_structure_map(each, edition) for each in parts(one.structure_maps)],
    ]
    return artefact("str:StructureSet", one, edition, content)


def _scheme_map(one: SchemeMapInSet, edition: Edition) -> str:
    if one.alias is not None:
        raise UnwritableError("only SDMX-ML 2.0 has a place for the alias of a map")
    kind = one.urn.cls
    if kind not in _ROWS:
        raise UnwritableError(f"{one.urn} is no map between schemes")
    rows = [_item_map(_ROWS[kind], each, edition) for each in one.item_maps]
    ends = edition.ref("str:Source", one.source) + edition.ref("str:Target", one.target)
    return item(f"str:{kind}", one, edition, ends, *rows)


def _item_map(tag: str, one: ItemMap, edition: Edition) -> str:
    return el(
        tag,
        annotations_of(one.annotations, edition),
        edition.local("str:Source", one.source.value),
        edition.local("str:Target", one.target),
    )


def _structure_map(one: StructureMapInSet, edition: Edition) -> str:
    ends = edition.ref("str:Source", one.source) + edition.ref("str:Target", one.target)
    rows = [_component_map(each, edition) for each in one.component_maps]
    return item("str:StructureMap", one, edition, ends, *rows, isExtension=true(one.is_extension))


def _component_map(one: ComponentMapInSet, edition: Edition) -> str:
    mapping = [
        edition.local("str:CodelistMap", one.codelist_map),
        "" if one.to_text_format is None else text_format("str:ToTextFormat", one.to_text_format, edition),
        leaf("str:ToValueType", one.to_value_type),
        _value_map(one.value_mappings),
    ]
    return el(
        "str:ComponentMap",
        annotations_of(one.annotations, edition),
        _component("str:Source", one.source, one.source_class, one.source_list),
        _component("str:Target", one.target, one.target_class, one.target_list),
        el("str:RepresentationMapping", *mapping) if any(mapping) else "",
    )


def _component(tag: str, id_: str, class_: str | None, holder: str | None) -> str:
    container = holder or LISTS_OF_COMPONENTS.get(class_ or "")
    if class_ is None or container is None:
        raise UnwritableError(f"SDMX-ML 2.1 demands the class of the component {id_} that is mapped, and its list")
    package = "datastructure" if class_ in LISTS_OF_COMPONENTS else "metadatastructure"
    name = "Attribute" if class_ == "DataAttribute" else class_
    return el(tag, el("Ref", id=id_, containerID=container, package=package, **{"class": name}))


def _value_map(pairs: tuple[tuple[str, str], ...]) -> str:
    rows = [el("str:ValueMapping", source=source, target=target) for source, target in pairs]
    return el("str:ValueMap", *rows) if rows else ""
