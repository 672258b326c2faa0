"""Structure sets of SDMX-ML 2.1."""

from __future__ import annotations

from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.containers import parts_of
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.maps import read_notes
from kafka_replica.sdmx.formats.ml.reading.child_elements import first, known, pick, ref, refs
from kafka_replica.sdmx.formats.ml.reading.items import id_of, item_urn
from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.formats.ml.reading.values import (
    CLASSES_IN_REFS,
    Child,
    Item,
    boolean,
    local_id,
    read_text_format,
    text_of,
)
from kafka_replica.sdmx.formats.ml.writing.edition import Edition, class_in_ref, container_and_id
from kafka_replica.sdmx.formats.ml.writing.values import artefact, item, parts, write_annotations, write_text_format
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf, true
from kafka_replica.sdmx.model import (
    ComponentMapInSet,
    ItemMap,
    MappedValue,
    SchemeMapInSet,
    StructureMapInSet,
    StructureSet,
)
from kafka_replica.sdmx.urns.urn import Urn

# Reading


# map -> the class of the mapped schemes if the reference states none, and the element of its rows
_SCHEME_MAPS: Final = {
    "CodelistMap": ("Codelist", "CodeMap"),
    "HybridCodelistMap": ("Codelist", "HybridCodeMap"),
    "ConceptSchemeMap": ("ConceptScheme", "ConceptMap"),
    "CategorySchemeMap": ("CategoryScheme", "CategoryMap"),
    "OrganisationSchemeMap": ("OrganisationUnitScheme", "OrganisationMap"),
    "ReportingTaxonomyMap": ("ReportingTaxonomy", "ReportingCategoryMap"),
}

LISTS_OF_COMPONENTS: Final = {
    "Dimension": "DimensionDescriptor",
    "MeasureDimension": "DimensionDescriptor",
    "TimeDimension": "DimensionDescriptor",
    "DataAttribute": "AttributeDescriptor",
    "ReportingYearStartDay": "AttributeDescriptor",
    "PrimaryMeasure": "MeasureDescriptor",
}
"""The ids of the lists that hold the components of a data structure, by class."""


def read_structure_set(item: Item) -> StructureSet:
    """Read a <StructureSet>; ids must be unique for each kind of map."""
    urn, base, rest, names = item.parts
    taken: dict[str, dict[str, Any]] = {}
    schemes: list[SchemeMapInSet] = []
    structures: list[StructureMapInSet] = []
    for kind, element in rest:
        if kind in _SCHEME_MAPS or kind == "StructureMap":
            ids = taken.setdefault(kind, {})
            id_ = id_of(element, ids)
            ids[id_] = None
            one = Item(element, item_urn(_mapping(urn), kind, element, id_), names)
            if kind == "StructureMap":
                structures.append(_read_structure_map(one))
            else:
                schemes.append(_read_scheme_map(one, *_SCHEME_MAPS[kind]))
    is_stub = base["is_external_reference"] and not rest
    return StructureSet(
        urn=urn,
        related_structures=parts_of(urn, refs(rest, "RelatedStructure", names, "DataStructure"), is_stub=is_stub),
        scheme_maps=parts_of(urn, schemes, is_stub=is_stub),
        structure_maps=parts_of(urn, structures, is_stub=is_stub),
        **base,
    )


def _mapping(urn: Urn) -> Urn:
    return Urn("mapping", urn.cls, urn.agency, urn.id, urn.version)


def _read_scheme_map(item: Item, mapped: str, row: str) -> SchemeMapInSet:
    names = item.names
    return SchemeMapInSet(
        urn=item.urn,
        source=ref(item.rest, "Source", names, mapped),
        target=ref(item.rest, "Target", names, mapped),
        item_maps=tuple(
            ItemMap(
                source=MappedValue(value=_mapped_item(one, "Source", names)),
                target=_mapped_item(one, "Target", names),
                annotations=read_notes(one, names),
            )
            for one in pick(item.rest, row)
        ),
        **item.arguments,
    )


def _side(element: etree._Element, side: str, names: Names) -> etree._Element:
    found = first(known(element, names), side)
    return fail(element, f"it has no {side}") if found is None else found


def _mapped_item(element: etree._Element, side: str, names: Names) -> str:
    """Return the path of a mapped item, as in its URN: that of a hierarchical code begins with its hierarchy."""
    found = _side(element, side, names)
    for kind, child in known(found, names):
        if kind == "Ref" and (id_ := child.get("id")):
            container = child.get("containerID")
            return f"{container}.{id_}" if container else id_
        if kind == "URN":
            return text_of(child).strip().rpartition(").")[2]
    return local_id(found, names)


def _read_structure_map(item: Item) -> StructureMapInSet:
    return StructureMapInSet(
        urn=item.urn,
        source=ref(item.rest, "Source", item.names, "DataStructure"),
        target=ref(item.rest, "Target", item.names, "DataStructure"),
        component_maps=tuple(
            _read_component_map(component_map, item.names) for component_map in pick(item.rest, "ComponentMap")
        ),
        is_extension=boolean(item.element, "isExtension") or False,
        **item.arguments,
    )


def _read_component_map(element: etree._Element, names: Names) -> ComponentMapInSet:
    mapping = first(known(element, names), "RepresentationMapping")
    return ComponentMapInSet(
        **_read_component(element, "Source", names),
        **_read_component(element, "Target", names),
        annotations=read_notes(element, names),
        **({} if mapping is None else _representation(known(mapping, names), names)),
    )


def _read_component(element: etree._Element, side: str, names: Names) -> dict[str, Any]:
    """Return the id of a component as an argument, with its class and its list if the reference states them."""
    name, end = side.lower(), first(known(element, names), side)
    ref = None if end is None else first(known(end, names), "Ref")
    class_ = None if ref is None else CLASSES_IN_REFS.get(ref.get("class", ""), ref.get("class"))
    holder = None if ref is None else ref.get("containerID")
    return {
        name: local_id(_side(element, side, names), names),
        f"{name}_class": class_,
        f"{name}_list": None if holder == LISTS_OF_COMPONENTS.get(class_ or "") else holder,
    }


def _representation(rest: list[Child], names: Names) -> dict[str, Any]:
    by_map, to_format, to_type = first(rest, "CodelistMap"), first(rest, "ToTextFormat"), first(rest, "ToValueType")
    rows = [
        value_mapping
        for values in pick(rest, "ValueMap")
        for value_mapping in pick(known(values, names), "ValueMapping")
    ]
    return {
        "codelist_map": None if by_map is None else local_id(by_map, names),
        "to_text_format": None if to_format is None else read_text_format(to_format, names),
        "to_value_type": None if to_type is None else text_of(to_type).strip(),
        "value_mappings": tuple((_value(row, "source"), _value(row, "target")) for row in rows),
    }


def _value(element: etree._Element, attribute: str) -> str:
    found = element.get(attribute)
    return fail(element, f"it has no {attribute}") if found is None else found


# Writing

_ROWS: Final = {
    "CodelistMap": "str:CodeMap",
    "HybridCodelistMap": "str:HybridCodeMap",
    "ConceptSchemeMap": "str:ConceptMap",
    "CategorySchemeMap": "str:CategoryMap",
    "OrganisationSchemeMap": "str:OrganisationMap",
    "ReportingTaxonomyMap": "str:ReportingCategoryMap",
}


def write_structure_set(structure_set: StructureSet, edition: Edition) -> str:
    """Write a <StructureSet>."""
    content = [
        edition.refs("str:RelatedStructure", parts(structure_set.related_structures)),
        *[_write_scheme_map(each, edition) for each in parts(structure_set.scheme_maps)],
        *[_write_structure_map(each, edition) for each in parts(structure_set.structure_maps)],
    ]
    return artefact("str:StructureSet", structure_set, edition, content)


def _write_scheme_map(scheme_map_in_set: SchemeMapInSet, edition: Edition) -> str:
    if scheme_map_in_set.alias is not None:
        raise UnwritableError("only SDMX-ML 2.0 has a place for the alias of a map")
    kind = scheme_map_in_set.urn.cls
    if kind not in _ROWS:
        raise UnwritableError(f"{scheme_map_in_set.urn} is not a map between schemes")
    rows = [_item_map(_ROWS[kind], each, scheme_map_in_set, edition) for each in scheme_map_in_set.item_maps]
    ends = edition.ref("str:Source", scheme_map_in_set.source) + edition.ref("str:Target", scheme_map_in_set.target)
    return item(f"str:{kind}", scheme_map_in_set, edition, ends, *rows)


def _item_map(tag: str, item_map: ItemMap, map_: SchemeMapInSet, edition: Edition) -> str:
    return el(
        tag,
        write_annotations(item_map.annotations, edition),
        _write_mapped_item("str:Source", map_.source, item_map.source.value, edition),
        _write_mapped_item("str:Target", map_.target, item_map.target, edition),
    )


def _write_mapped_item(tag: str, scheme: Urn | None, path: str | None, edition: Edition) -> str:
    """Write a mapped item; a hierarchical code as its id, and the id of its hierarchy."""
    class_ = "HierarchicalCode"
    if path is not None and scheme is not None and scheme.cls == "HierarchicalCodelist":
        hierarchy, id_ = container_and_id(class_, path)
        if hierarchy is not None:
            return el(tag, el("Ref", containerID=hierarchy, id=id_, package="codelist", **{"class": class_}))
    return edition.local(tag, path)


def _write_structure_map(structure_map_in_set: StructureMapInSet, edition: Edition) -> str:
    ends = edition.ref("str:Source", structure_map_in_set.source) + edition.ref(
        "str:Target", structure_map_in_set.target
    )
    rows = [_write_component_map(each, edition) for each in structure_map_in_set.component_maps]
    return item(
        "str:StructureMap",
        structure_map_in_set,
        edition,
        ends,
        *rows,
        isExtension=true(structure_map_in_set.is_extension),
    )


def _write_component_map(component_map_in_set: ComponentMapInSet, edition: Edition) -> str:
    mapping = [
        edition.local("str:CodelistMap", component_map_in_set.codelist_map),
        ""
        if component_map_in_set.to_text_format is None
        else write_text_format("str:ToTextFormat", component_map_in_set.to_text_format, edition),
        leaf("str:ToValueType", component_map_in_set.to_value_type),
        _value_map(component_map_in_set.value_mappings),
    ]
    return el(
        "str:ComponentMap",
        write_annotations(component_map_in_set.annotations, edition),
        _write_component(
            "str:Source",
            component_map_in_set.source,
            component_map_in_set.source_class,
            component_map_in_set.source_list,
        ),
        _write_component(
            "str:Target",
            component_map_in_set.target,
            component_map_in_set.target_class,
            component_map_in_set.target_list,
        ),
        el("str:RepresentationMapping", *mapping) if any(mapping) else "",
    )


def _write_component(tag: str, id_: str, class_: str | None, holder: str | None) -> str:
    container = holder or LISTS_OF_COMPONENTS.get(class_ or "")
    if class_ is None or container is None:
        raise UnwritableError(f"SDMX-ML 2.1 requires the class of the mapped component {id_}, and its list")
    package = "datastructure" if class_ in LISTS_OF_COMPONENTS else "metadatastructure"
    return el(tag, el("Ref", id=id_, containerID=container, package=package, **{"class": class_in_ref(class_)}))


def _value_map(pairs: tuple[tuple[str, str], ...]) -> str:
    rows = [el("str:ValueMapping", source=source, target=target) for source, target in pairs]
    return el("str:ValueMap", *rows) if rows else ""
