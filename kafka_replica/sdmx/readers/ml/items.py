"""Codelists, value lists and concept schemes of SDMX-ML."""

from __future__ import annotations

from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.containers import NO_TEXT, Items, LazyItems, international, items_of, numbered
from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.model import (
    Code,
    Codelist,
    CodelistExtension,
    Concept,
    ConceptScheme,
    GeoFeatureSetCode,
    GeographicCodelist,
    GeoGridCode,
    GeoGridCodelist,
    MemberValue,
    ValueItem,
    ValueList,
)
from kafka_replica.sdmx.readers.ml.codes import LongWay, lazy_codes
from kafka_replica.sdmx.readers.ml.plain import NotPlainError, is_plain
from kafka_replica.sdmx.readers.ml.tree import Names, fail
from kafka_replica.sdmx.readers.ml.values import (
    XML_LANG,
    Item,
    local_id,
    named,
    reference,
    representation,
    text_of,
)
from kafka_replica.sdmx.representation import ItemReference, Representation
from kafka_replica.sdmx.urn import Urn

_CODES: Final[dict[str, type[Code]]] = {
    "Code": Code,
    "GeoFeatureSetCode": GeoFeatureSetCode,
    "GeoGridCode": GeoGridCode,
}
_CODELISTS: Final[dict[str, type[Codelist]]] = {"Codelist": Codelist, "GeographicCodelist": GeographicCodelist}


def id_of(element: etree._Element, taken: dict[str, Any]) -> str:
    """Return the id of an item, which must have a unique id. Raises MessageError."""
    found = element.get("id", "").strip()
    if not found:
        fail(element, "it has no id")
    if found in taken:
        fail(element, f"the id {found[:80]!r} comes twice, and which one counts cannot be known")
    return found


def item_urn(scheme: Urn, class_: str, element: etree._Element, item: str) -> Urn:
    """Return the URN of an item. Raises MessageError with its line."""
    try:
        return scheme.with_item(class_, item)
    except UrnError as error:
        fail(element, str(error))


def codelist(item: Item) -> Codelist:
    """Read a <Codelist>, <GeographicCodelist> or <GeoGridCodelist>."""
    urn, base, rest, names = item.parts
    found: dict[str, Any] = {
        "codes": _codes(item),
        "extensions": tuple(_extension(element, names) for kind, element in rest if kind == "CodelistExtension"),
    }
    if urn.cls == "GeoGridCodelist":
        grid = [text_of(element) for kind, element in rest if kind == "GridDefinition"]
        return GeoGridCodelist(urn=urn, grid_definition=grid[0] if grid else None, **found, **base)
    return _CODELISTS[urn.cls](urn=urn, **found, **base)


def _codes(item: Item) -> Items[Code]:
    urn, base, rest, names = item.parts

    def long_way(element: etree._Element, id_: str) -> Code:
        return _code(urn, "Code", element, id_, names)

    codes = [(one, element) for one, element in rest if one in _CODES]
    if codes and codes[0][0] == "Code":
        if is_plain(item.element):
            return _plain_codes(item, len(codes), long_way)
        first = codes[0][1]
        lazy = lazy_codes(item.code_ids or [], first, urn, names, long_way) if len(codes) == 1 else None
        if lazy is not None:
            return lazy
        codes = [("Code", element) for element in (first, *first.itersiblings(first.tag))] + codes[1:]
    found: dict[str, Code] = {}
    for kind, element in codes:
        id_ = id_of(element, found)
        found[id_] = _code(urn, kind, element, id_, names)
    return items_of(urn, found, is_stub=base["is_external_reference"])


def _plain_codes(item: Item, kinds: int, long_way: LongWay) -> Items[Code]:
    """Return the codes of a document that was parsed by ``plain``, whose elements are already in memory."""
    numbers = numbered(item.code_ids or [])
    if numbers is None or kinds > 1:
        raise NotPlainError("codes out of the ordinary")
    elements = [one for one in item.element if item.names[one.tag] == "Code"]
    return LazyItems(numbers, lambda id_, number: long_way(elements[number], id_))


def _code(urn: Urn, kind: str, element: etree._Element, id_: str, names: Names) -> Code:
    arguments, others = named(element, names)
    for other, child in others:
        if other == "Parent":
            arguments["parent"] = _parent(child, names)
        elif other == "GeoCell" and kind == "GeoGridCode":
            arguments["geo_cell"] = text_of(child)
    if kind == "GeoFeatureSetCode":
        arguments["value"] = element.get("value")
    return _CODES[kind](urn=item_urn(urn, kind, element, id_), **arguments)


def _parent(element: etree._Element, names: Names) -> str | None:
    """Return the id of a parent. An empty reference means no parent: codes are read too late to raise an error."""
    return local_id(element, names) if any(one.get("id") for one in element) or text_of(element).strip() else None


def _extension(element: etree._Element, names: Names) -> CodelistExtension:
    extended: Urn | None = None
    selected: dict[str, tuple[MemberValue, ...]] = {}
    for child in element:
        kind = names[child.tag]
        if kind == "Codelist":
            extended = reference(child, names, "Codelist")
        elif kind in {"InclusiveCodeSelection", "ExclusiveCodeSelection"}:
            selected[kind] = tuple(
                MemberValue(text_of(member), member.get("cascadeValues"))
                for member in child
                if names[member.tag] == "MemberValue"
            )
    if extended is None:
        fail(element, "it names no codelist to extend")
    return CodelistExtension(
        codelist=extended,
        prefix=element.get("prefix"),
        inclusive=selected.get("InclusiveCodeSelection", ()),
        exclusive=selected.get("ExclusiveCodeSelection", ()),
    )


def value_list(item: Item) -> ValueList:
    """Read a <ValueList>."""
    urn, base, rest, names = item.parts
    values: list[ValueItem] = []
    for kind, element in rest:
        if kind != "ValueItem":
            continue
        arguments, _ = named(element, names)
        values.append(
            ValueItem(
                id=id_of(element, {}),
                names=arguments.get("names", NO_TEXT),
                descriptions=arguments.get("descriptions", NO_TEXT),
                annotations=arguments.get("annotations", ()),
            )
        )
    return ValueList(urn=urn, value_items=tuple(values), **base)


def concept_scheme(item: Item) -> ConceptScheme:
    """Read a <ConceptScheme>."""
    urn, base, rest, names = item.parts
    concepts: dict[str, Concept] = {}
    for kind, element in rest:
        if kind == "Concept":
            concept_id = id_of(element, concepts)
            concepts[concept_id] = _concept(urn, element, concept_id, names)
    return ConceptScheme(urn=urn, concepts=items_of(urn, concepts, is_stub=base["is_external_reference"]), **base)


def _concept(scheme: Urn, element: etree._Element, id_: str, names: Names) -> Concept:
    texts: list[tuple[str, str]] = []
    core: Representation | None = None
    for child in element:
        kind = names[child.tag]
        if kind == "Name":
            texts.append((child.get(XML_LANG, "en"), text_of(child)))
        elif kind == "CoreRepresentation":
            core = representation(child, names)
        elif kind:
            return _long_concept(scheme, element, id_, names)
    return Concept(
        urn=item_urn(scheme, "Concept", element, id_),
        names=international(tuple(texts)) if texts else NO_TEXT,
        core_representation=core,
        uri=element.get("uri"),
    )


def _long_concept(scheme: Urn, element: etree._Element, id_: str, names: Names) -> Concept:
    """Read a concept that has more than the usual parts."""
    arguments, others = named(element, names)
    for other, child in others:
        if other == "Parent":
            arguments["parent"] = local_id(child, names)
        elif other == "CoreRepresentation":
            arguments["core_representation"] = representation(child, names)
        elif other == "ISOConceptReference":
            arguments["iso_concept"] = _iso_concept(child, names)
    return Concept(urn=item_urn(scheme, "Concept", element, id_), **arguments)


def _iso_concept(element: etree._Element, names: Names) -> ItemReference:
    parts = {names[child.tag]: text_of(child) for child in element}
    return ItemReference(
        agency=parts.get("ConceptAgency", ""),
        scheme=parts.get("ConceptSchemeID", ""),
        id=parts.get("ConceptID", ""),
    )
