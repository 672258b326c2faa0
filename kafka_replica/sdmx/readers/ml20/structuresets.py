"""Structure sets of SDMX-ML 2.0. Source: SDMXStructure.xsd 2.0, StructureSetType and the maps in it."""

from __future__ import annotations

from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.containers import parts_of as parts_or_stub
from kafka_replica.sdmx.earlier import AliasedComponentMap, AliasedItemMap
from kafka_replica.sdmx.formats.ml.reading.parts import first, known, pick
from kafka_replica.sdmx.formats.ml.reading.tree import fail
from kafka_replica.sdmx.formats.ml.reading.values import Item, boolean, text_of
from kafka_replica.sdmx.model import (
    ComponentMapInSet,
    ItemMap,
    MappedValue,
    SchemeMapInSet,
    StructureMapInSet,
    StructureSet,
)
from kafka_replica.sdmx.readers.ml20.edition import Source
from kafka_replica.sdmx.readers.ml20.references import CLASSES, category_path, parts_of, reference
from kafka_replica.sdmx.readers.ml20.values import id_of, item_urn, maintained
from kafka_replica.sdmx.urn import Urn

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


def structure_set(urn: Urn, elements: list[etree._Element], source: Source) -> StructureSet:
    """Read a <StructureSet>."""
    base, rest = maintained(elements[0], source)
    related: list[Urn] = []
    schemes: list[SchemeMapInSet] = []
    structures: list[StructureMapInSet] = []
    taken: dict[str, dict[str, Any]] = {}
    for kind, element in rest:
        if kind == "RelatedStructures":
            related.extend(reference(child, source, word.removesuffix("Ref"), urn.agency)
                           for word, child in known(element, source.names)
                           if word.removesuffix("Ref") in CLASSES)  # fmt: skip
        elif kind in _SCHEME_MAPS or kind == "StructureMap":
            id_ = id_of(element, taken.setdefault(kind, {}))
            taken[kind][id_] = None
            item = Item(element, item_urn(urn, kind, element, id_), source.names)
            if kind == "StructureMap":
                structures.append(_structure_map(item, source))
            else:
                schemes.append(_scheme_map(item, source, *_SCHEME_MAPS[kind]))
    is_stub = base["is_external_reference"] and not (related or schemes or structures)
    return StructureSet(
        urn=urn,
        related_structures=parts_or_stub(urn, related, is_stub=is_stub),
        scheme_maps=parts_or_stub(urn, schemes, is_stub=is_stub),
        structure_maps=parts_or_stub(urn, structures, is_stub=is_stub),
        **base,
    )


def _ends(item: Item, source: Source) -> dict[str, Any]:
    """Return source and target, such as <KeyFamilyRef> and <TargetKeyFamilyRef>."""
    found: dict[str, Any] = {}
    for kind, element in item.rest:
        word = kind.removesuffix("Ref")
        end = "target" if word.startswith("Target") else "source"
        word = word.removeprefix("Target")
        if kind.endswith("Ref") and word in CLASSES:
            found[end] = reference(element, source, word, item.urn.agency)
    return found


def _scheme_map(item: Item, source: Source, row: str, from_: str, to: str) -> SchemeMapInSet:
    maps: list[ItemMap] = []
    for element in pick(item.rest, row):
        start, end = MappedValue(value=_item_id(element, source, from_)), _item_id(element, source, to)
        alias = element.get(_ALIASES[row])
        maps.append(
            AliasedItemMap(source=start, target=end, alias=alias) if alias else ItemMap(source=start, target=end)
        )
    arguments = _ends(item, source) | item.arguments
    return SchemeMapInSet(urn=item.urn, item_maps=tuple(maps), **arguments)


def _item_id(element: etree._Element, source: Source, kind: str) -> str:
    child = first(known(element, source.names), kind)
    if child is None:
        fail(element, f"it has no {kind}")
    if kind.endswith("CategoryID"):
        return category_path(child, source) or fail(element, "it names no category")
    return text_of(child).strip()


def _structure_map(item: Item, source: Source) -> StructureMapInSet:
    arguments = _ends(item, source) | item.arguments
    return StructureMapInSet(
        urn=item.urn,
        component_maps=tuple(_component_map(element, source) for element in pick(item.rest, "ComponentMap")),
        is_extension=boolean(item.element, "isExtension") or False,
        **arguments,
    )


def _component_map(element: etree._Element, source: Source) -> ComponentMapInSet:
    children = known(element, source.names)
    parts = parts_of(element, source)
    representation, written = first(children, "RepresentationMapRef"), first(children, "ToTextFormat")
    used = {} if representation is None else parts_of(representation, source)
    said = {"alias": element.get("componentAlias"), "preferred_language": element.get("preferredLanguage")}
    own: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
    return (AliasedComponentMap if own else ComponentMapInSet)(
        source=parts.get("MapConceptRef") or fail(element, "it has no MapConceptRef"),
        target=parts.get("MapTargetConceptRef") or fail(element, "it has no MapTargetConceptRef"),
        codelist_map=used.get("RepresentationMapID") or None,
        to_text_format=None if written is None else source.edition.text_format(written, source.names),
        to_value_type=parts.get("ToValueType") or None,
        **own,
    )
