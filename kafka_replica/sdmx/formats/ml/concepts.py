"""Concept schemes of SDMX-ML."""

from __future__ import annotations

from lxml import etree

from kafka_replica.sdmx.containers import NO_TEXT, international, items_of
from kafka_replica.sdmx.formats.ml.reading.items import id_of, item_urn
from kafka_replica.sdmx.formats.ml.reading.tree import Names
from kafka_replica.sdmx.formats.ml.reading.values import (
    XML_LANG,
    Item,
    address,
    local_id,
    named,
    read_representation,
    text_of,
)
from kafka_replica.sdmx.formats.ml.writing.edition import Edition
from kafka_replica.sdmx.formats.ml.writing.values import artefact, item, write_representation
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf
from kafka_replica.sdmx.model import Concept, ConceptScheme
from kafka_replica.sdmx.model.representation import ItemReference, Representation
from kafka_replica.sdmx.urns.urn import Urn

# Reading


def read_concept_scheme(item: Item) -> ConceptScheme:
    """Read a <ConceptScheme>."""
    urn, base, rest, names = item.parts
    concepts: dict[str, Concept] = {}
    for kind, element in rest:
        if kind == "Concept":
            concept_id = id_of(element, concepts)
            concepts[concept_id] = _read_concept(urn, element, concept_id, names)
    return ConceptScheme(urn=urn, concepts=items_of(urn, concepts, is_stub=base["is_external_reference"]), **base)


def _read_concept(scheme: Urn, element: etree._Element, id_: str, names: Names) -> Concept:
    texts: list[tuple[str, str]] = []
    core: Representation | None = None
    for child in element:
        kind = names[child.tag]
        if kind == "Name":
            texts.append((child.get(XML_LANG, "en").strip(), text_of(child)))
        elif kind == "CoreRepresentation":
            core = read_representation(child, names)
        elif kind:
            return _long_concept(scheme, element, id_, names)
    return Concept(
        urn=item_urn(scheme, "Concept", element, id_),
        names=international(tuple(texts)) if texts else NO_TEXT,
        core_representation=core,
        uri=address(element, "uri"),
    )


def _long_concept(scheme: Urn, element: etree._Element, id_: str, names: Names) -> Concept:
    """Read a concept that has more than the usual parts."""
    arguments, others = named(element, names)
    for other, child in others:
        if other == "Parent":
            arguments["parent"] = local_id(child, names)
        elif other == "CoreRepresentation":
            arguments["core_representation"] = read_representation(child, names)
        elif other == "ISOConceptReference":
            arguments["iso_concept"] = _read_iso_concept(child, names)
    return Concept(urn=item_urn(scheme, "Concept", element, id_), **arguments)


def _read_iso_concept(element: etree._Element, names: Names) -> ItemReference:
    parts = {names[child.tag]: text_of(child) for child in element}
    return ItemReference(
        agency=parts.get("ConceptAgency", ""),
        scheme=parts.get("ConceptSchemeID", ""),
        id=parts.get("ConceptID", ""),
    )


# Writing


def write_concept_scheme(concept_scheme: ConceptScheme, edition: Edition) -> str:
    """Write a <ConceptScheme>."""
    concepts = (
        []
        if concept_scheme.concepts.is_stub
        else [_write_concept(each, edition) for each in concept_scheme.concepts.values()]
    )
    return artefact("str:ConceptScheme", concept_scheme, edition, concepts)


def _write_concept(concept: Concept, edition: Edition) -> str:
    return item(
        "str:Concept",
        concept,
        edition,
        edition.local("str:Parent", concept.parent),
        write_representation("str:CoreRepresentation", concept.core_representation, edition),
        _write_iso_concept(concept.iso_concept),
    )


def _write_iso_concept(item_reference: ItemReference | None) -> str:
    if item_reference is None:
        return ""
    return el(
        "str:ISOConceptReference",
        leaf("str:ConceptAgency", item_reference.agency),
        leaf("str:ConceptSchemeID", item_reference.scheme),
        leaf("str:ConceptID", item_reference.id),
    )
