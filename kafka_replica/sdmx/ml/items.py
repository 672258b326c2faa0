"""Codelists, value lists and concept schemes of SDMX-ML."""

from __future__ import annotations

from typing import Any

from lxml import etree

from kafka_replica.errors import UrnError
from kafka_replica.sdmx.containers import NO_TEXT, Items, StubItems
from kafka_replica.sdmx.ml.tree import Names, fail
from kafka_replica.sdmx.ml.values import Child, local_id, named, reference, representation, text_of
from kafka_replica.sdmx.model import (
    Code,
    Codelist,
    CodelistExtension,
    Concept,
    ConceptScheme,
    MemberValue,
    ValueItem,
    ValueList,
)
from kafka_replica.sdmx.representation import ItemReference
from kafka_replica.sdmx.urn import Urn


def id_of(element: etree._Element, taken: dict[str, Any]) -> str:
    """The id of an item; it must have one that no other has. Raises MessageError."""
    found = element.get("id")
    if found is None:
        fail(element, "it has no id")
    if found in taken:
        fail(element, f"the id {found[:80]!r} comes twice, and which one counts cannot be known")
    return found


def item_urn(scheme: Urn, class_: str, element: etree._Element, item: str) -> Urn:
    """The URN of an item. Raises MessageError with its line."""
    try:
        return scheme.with_item(class_, item)
    except UrnError as error:
        fail(element, str(error))


def codelist(urn: Urn, base: dict[str, Any], rest: list[Child], names: Names) -> Codelist:
    """A <Codelist>."""
    codes: dict[str, Code] = {}
    extensions: list[CodelistExtension] = []
    for kind, element in rest:
        if kind == "Code":
            code_id = id_of(element, codes)
            arguments, others = named(element, names)
            for other, child in others:
                if other == "Parent":
                    arguments["parent"] = local_id(child, names)
            codes[code_id] = Code(urn=item_urn(urn, "Code", element, code_id), **arguments)
        elif kind == "CodelistExtension":
            extensions.append(_extension(element, names))
    is_stub = base["is_external_reference"] and not codes
    return Codelist(urn=urn, codes=StubItems(urn) if is_stub else Items(codes), extensions=tuple(extensions), **base)


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


def value_list(urn: Urn, base: dict[str, Any], rest: list[Child], names: Names) -> ValueList:
    """A <ValueList>."""
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


def concept_scheme(urn: Urn, base: dict[str, Any], rest: list[Child], names: Names) -> ConceptScheme:
    """A <ConceptScheme>."""
    concepts: dict[str, Concept] = {}
    for kind, element in rest:
        if kind == "Concept":
            concept_id = id_of(element, concepts)
            arguments, others = named(element, names)
            for other, child in others:
                if other == "Parent":
                    arguments["parent"] = local_id(child, names)
                elif other == "CoreRepresentation":
                    arguments["core_representation"] = representation(child, names)
                elif other == "ISOConceptReference":
                    arguments["iso_concept"] = _iso_concept(child, names)
            concepts[concept_id] = Concept(urn=item_urn(urn, "Concept", element, concept_id), **arguments)
    is_stub = base["is_external_reference"] and not concepts
    return ConceptScheme(urn=urn, concepts=StubItems(urn) if is_stub else Items(concepts), **base)


def _iso_concept(element: etree._Element, names: Names) -> ItemReference:
    parts = {names[child.tag]: text_of(child) for child in element}
    return ItemReference(
        agency=parts.get("ConceptAgency", ""),
        scheme=parts.get("ConceptSchemeID", ""),
        id=parts.get("ConceptID", ""),
    )
