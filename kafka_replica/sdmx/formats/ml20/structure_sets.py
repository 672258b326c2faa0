"""Structure sets of SDMX-ML 2.0. Source: SDMXStructure.xsd 2.0, StructureSetType and the maps in it."""

from __future__ import annotations

from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.containers import parts_of as parts_or_stub
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.reading.child_elements import first, known, pick
from kafka_replica.sdmx.formats.ml.reading.tree import fail
from kafka_replica.sdmx.formats.ml.reading.values import Item, boolean, text_of
from kafka_replica.sdmx.formats.ml.writing.values import write_texts
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf, true
from kafka_replica.sdmx.formats.ml20.reading.message_context import MessageContext
from kafka_replica.sdmx.formats.ml20.reading.references import CLASSES, parts_of, read_category_path, read_reference
from kafka_replica.sdmx.formats.ml20.reading.values import id_of, item_urn, read_maintained
from kafka_replica.sdmx.formats.ml20.writing.references import write_category_path, write_reference
from kafka_replica.sdmx.formats.ml20.writing.values import (
    Edition,
    write_annotations,
    write_maintained,
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
from kafka_replica.sdmx.model.earlier_editions import AliasedComponentMap, AliasedItemMap
from kafka_replica.sdmx.urns.urn import Urn

# Reading


# map -> the element of its rows, and the source and the target in a row
_SCHEME_MAPS: Final = {
    "CodelistMap": ("CodeMap", "MapCodeRef", "MapTargetCodeRef"),
    "CategorySchemeMap": ("CategoryMap", "CategoryID", "TargetCategoryID"),
    "ConceptSchemeMap": ("ConceptMap", "ConceptID", "TargetConceptID"),
    "OrganisationSchemeMap": ("OrganisationMap", "OrganisationID", "TargetOrganisationID"),
}

_ALIASES: Final = {
    "CodeMap": "CodeAlias",
    "CategoryMap": "categoryAlias",
    "ConceptMap": "conceptAlias",
    "OrganisationMap": "organisationAlias",
}


def read_structure_set(urn: Urn, elements: list[etree._Element], context: MessageContext) -> StructureSet:
    """Read a <StructureSet>."""
    base, rest = read_maintained(elements[0], context)
    related: list[Urn] = []
    schemes: list[SchemeMapInSet] = []
    structures: list[StructureMapInSet] = []
    taken: dict[str, dict[str, Any]] = {}
    for kind, element in rest:
        if kind == "RelatedStructures":
            related.extend(read_reference(child, context, word.removesuffix("Ref"), urn.agency)
                           for word, child in known(element, context.names)
                           if word.removesuffix("Ref") in CLASSES)  # fmt: skip
        elif kind in _SCHEME_MAPS or kind == "StructureMap":
            id_ = id_of(element, taken.setdefault(kind, {}))
            taken[kind][id_] = None
            item = Item(element, item_urn(urn, kind, element, id_), context.names)
            if kind == "StructureMap":
                structures.append(_read_structure_map(item, context))
            else:
                schemes.append(_read_scheme_map(item, context, *_SCHEME_MAPS[kind]))
    is_stub = base["is_external_reference"] and not (related or schemes or structures)
    return StructureSet(
        urn=urn,
        related_structures=parts_or_stub(urn, related, is_stub=is_stub),
        scheme_maps=parts_or_stub(urn, schemes, is_stub=is_stub),
        structure_maps=parts_or_stub(urn, structures, is_stub=is_stub),
        **base,
    )


def _ends(item: Item, context: MessageContext) -> dict[str, Any]:
    """Return source and target, such as <KeyFamilyRef> and <TargetKeyFamilyRef>."""
    found: dict[str, Any] = {}
    for kind, element in item.rest:
        word = kind.removesuffix("Ref")
        end = "target" if word.startswith("Target") else "source"
        word = word.removeprefix("Target")
        if kind.endswith("Ref") and word in CLASSES:
            found[end] = read_reference(element, context, word, item.urn.agency)
    return found


def _read_scheme_map(item: Item, context: MessageContext, row: str, from_: str, to: str) -> SchemeMapInSet:
    maps: list[ItemMap] = []
    for element in pick(item.rest, row):
        start, end = MappedValue(value=_item_id(element, context, from_)), _item_id(element, context, to)
        alias = element.get(_ALIASES[row])
        maps.append(
            AliasedItemMap(source=start, target=end, alias=alias) if alias else ItemMap(source=start, target=end)
        )
    arguments = _ends(item, context) | item.arguments
    return SchemeMapInSet(urn=item.urn, item_maps=tuple(maps), **arguments)


def _item_id(element: etree._Element, context: MessageContext, kind: str) -> str:
    child = first(known(element, context.names), kind)
    if child is None:
        fail(element, f"it has no {kind}")
    if kind.endswith("CategoryID"):
        return read_category_path(child, context) or fail(element, "it names no category")
    return text_of(child).strip()


def _read_structure_map(item: Item, context: MessageContext) -> StructureMapInSet:
    arguments = _ends(item, context) | item.arguments
    return StructureMapInSet(
        urn=item.urn,
        component_maps=tuple(_read_component_map(element, context) for element in pick(item.rest, "ComponentMap")),
        is_extension=boolean(item.element, "isExtension") or False,
        **arguments,
    )


def _read_component_map(element: etree._Element, context: MessageContext) -> ComponentMapInSet:
    children = known(element, context.names)
    parts = parts_of(element, context)
    representation, written = first(children, "RepresentationMapRef"), first(children, "ToTextFormat")
    used = {} if representation is None else parts_of(representation, context)
    stated = {"alias": element.get("componentAlias"), "preferred_language": element.get("preferredLanguage")}
    own: dict[str, Any] = {name: value for name, value in stated.items() if value is not None}
    return (AliasedComponentMap if own else ComponentMapInSet)(
        source=parts.get("MapConceptRef") or fail(element, "it has no MapConceptRef"),
        target=parts.get("MapTargetConceptRef") or fail(element, "it has no MapTargetConceptRef"),
        codelist_map=used.get("RepresentationMapID") or None,
        to_text_format=None if written is None else context.edition.text_format(written, context.names),
        to_value_type=parts.get("ToValueType") or None,
        **own,
    )


# Writing


# map -> its rows, source and target in a row, the alias of a row
_MAPS: Final = {
    "CodelistMap": ("CodeMap", "MapCodeRef", "MapTargetCodeRef", "CodeAlias"),
    "CategorySchemeMap": ("CategoryMap", "CategoryID", "TargetCategoryID", "categoryAlias"),
    "ConceptSchemeMap": ("ConceptMap", "ConceptID", "TargetConceptID", "conceptAlias"),
    "OrganisationSchemeMap": ("OrganisationMap", "OrganisationID", "TargetOrganisationID", "organisationAlias"),
}
_WORDS: Final = {"DataStructure": "KeyFamily"}
_RELATED: Final = (
    "DataStructure", "MetadataStructure", "ConceptScheme", "CategoryScheme", "OrganisationScheme",
    "HierarchicalCodelist",
)  # fmt: skip
"""The order of the schema."""


def write_structure_set(structure_set: StructureSet, edition: Edition) -> str:
    """Write a <StructureSet>, with one map of each kind."""
    if structure_set.is_stub:
        return write_maintained("str:StructureSet", structure_set, edition)
    related = sorted(
        structure_set.related_structures, key=lambda urn: _RELATED.index(urn.cls) if urn.cls in _RELATED else -1
    )
    structures = [_write_structure_map(each, edition) for each in structure_set.structure_maps]
    by_kind = {kind: [each for each in structure_set.scheme_maps if each.urn.cls == kind] for kind in _MAPS}
    if sum(map(len, by_kind.values())) != len(structure_set.scheme_maps):
        raise UnwritableError("SDMX-ML 2.0 cannot represent some of its maps: it maps lists, categories, concepts and "
                              "organisations")  # fmt: skip
    return write_maintained(
        "str:StructureSet",
        structure_set,
        edition,
        el("str:RelatedStructures", *[_end("", each) for each in related]) if related else "",
        *structures,
        *[_write_scheme_map(each) for found in by_kind.values() for each in found],
    )


def _end(side: str, urn: Urn | None) -> str:
    return "" if urn is None else write_reference(f"str:{side}{_WORDS.get(urn.cls, urn.cls)}Ref", urn)


def _write_scheme_map(scheme_map_in_set: SchemeMapInSet) -> str:
    row, context, target, alias = _MAPS[scheme_map_in_set.urn.cls]
    return el(
        f"str:{scheme_map_in_set.urn.cls}",
        write_texts("str:Name", scheme_map_in_set.names),
        write_texts("str:Description", scheme_map_in_set.descriptions),
        _end("", scheme_map_in_set.source),
        _end("Target", scheme_map_in_set.target),
        *[_row(each, row, context, target, alias) for each in scheme_map_in_set.item_maps],
        write_annotations(scheme_map_in_set.annotations),
        id=scheme_map_in_set.id,
    )


def _row(item_map: ItemMap, row: str, source: str, target: str, alias: str) -> str:
    own = {alias: item_map.alias} if isinstance(item_map, AliasedItemMap) else {}
    if row == "CategoryMap":
        ends = write_category_path(f"str:{source}", item_map.source.value) + write_category_path(
            f"str:{target}", item_map.target or ""
        )
    else:
        ends = leaf(f"str:{source}", item_map.source.value) + leaf(f"str:{target}", item_map.target)
    return el(f"str:{row}", ends, **own)


def _write_structure_map(structure_map_in_set: StructureMapInSet, edition: Edition) -> str:
    return el(
        "str:StructureMap",
        write_texts("str:Name", structure_map_in_set.names),
        write_texts("str:Description", structure_map_in_set.descriptions),
        _end("", structure_map_in_set.source),
        _end("Target", structure_map_in_set.target),
        *[
            _write_component_map(each, structure_map_in_set.urn.agency, edition)
            for each in structure_map_in_set.component_maps
        ],
        write_annotations(structure_map_in_set.annotations),
        isExtension=true(structure_map_in_set.is_extension),
        id=structure_map_in_set.id,
    )


def _write_component_map(component_map_in_set: ComponentMapInSet, agency: str, edition: Edition) -> str:
    by_map = ""
    if component_map_in_set.codelist_map is not None:
        # The map is in the same set, so it has the same agency.
        parts = leaf("str:RepresentationMapAgencyID", agency) + leaf(
            "str:RepresentationMapID", component_map_in_set.codelist_map
        )
        by_map = el("str:RepresentationMapRef", parts)
    elif component_map_in_set.to_text_format is not None:
        by_map = write_text_format("str:ToTextFormat", component_map_in_set.to_text_format, edition) + leaf(
            "str:ToValueType", component_map_in_set.to_value_type
        )
    own = {}
    if isinstance(component_map_in_set, AliasedComponentMap):
        own = {
            "componentAlias": component_map_in_set.alias,
            "preferredLanguage": component_map_in_set.preferred_language,
        }
    ends = leaf("str:MapConceptRef", component_map_in_set.source) + leaf(
        "str:MapTargetConceptRef", component_map_in_set.target
    )
    return el("str:ComponentMap", ends, by_map, **own)
