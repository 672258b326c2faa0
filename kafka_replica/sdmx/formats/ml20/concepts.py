"""Concepts of SDMX-ML 1.0 and 2.0."""

from __future__ import annotations

from typing import Any

from lxml import etree

from kafka_replica.sdmx.containers import Items, items_of
from kafka_replica.sdmx.formats.ml.reading.values import Child, named
from kafka_replica.sdmx.formats.ml.writing.values import write_texts
from kafka_replica.sdmx.formats.ml.writing.xml import el
from kafka_replica.sdmx.formats.ml20.reading.message_context import MessageContext, stated
from kafka_replica.sdmx.formats.ml20.reading.references import made
from kafka_replica.sdmx.formats.ml20.reading.values import RepeatedItems, id_of, item_urn, read_maintained
from kafka_replica.sdmx.formats.ml20.writing.values import (
    Edition,
    write_annotations,
    write_maintained,
    write_representation,
)
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.formats.shared.reading.standalone_items import STANDALONE_CONCEPTS, synthetic_name
from kafka_replica.sdmx.model import Concept, ConceptScheme
from kafka_replica.sdmx.model.earlier_editions import VersionedConcept
from kafka_replica.sdmx.model.representation import Representation
from kafka_replica.sdmx.urns.urn import Urn

# Reading


def read_concept_scheme(urn: Urn, elements: list[etree._Element], context: MessageContext) -> ConceptScheme:
    """Read a <ConceptScheme>, or all standalone <Concept>s of an agency."""
    if context.names[elements[0].tag] == "Concept":
        repeated = RepeatedItems[Concept]()
        for element in elements:
            id_ = id_of(element, {})
            repeated.add(id_, _read_concept(urn, element, id_, context))
        return ConceptScheme(urn=urn, names=synthetic_name(urn), concepts=Items(repeated.united()))
    base, rest = read_maintained(elements[0], context)
    concepts: dict[str, Concept] = {}
    for element in (element for kind, element in rest if kind == "Concept"):
        id_ = id_of(element, {})
        concept = _read_concept(urn, element, id_, context)
        # A repeated concept is ambiguous only if it differs.
        if concepts.setdefault(id_, concept) != concept:
            id_of(element, concepts)
    return ConceptScheme(urn=urn, concepts=items_of(urn, concepts, is_stub=base["is_external_reference"]), **base)


def _read_concept(urn: Urn, element: etree._Element, id_: str, context: MessageContext) -> Concept:
    arguments, rest = named(element, context.names)
    parent = stated(element, "parent")
    if parent:
        arguments["parent"] = parent
    core = _core_representation(element, rest, context, urn.agency)
    if core is not None:
        arguments["core_representation"] = core
    own = item_urn(urn, "Concept", element, id_)
    version = stated(element, "version") or DEFAULT_VERSION
    if version == DEFAULT_VERSION:
        return Concept(urn=own, **arguments)
    return VersionedConcept(urn=own, version=version, **arguments)


def _core_representation(
    element: etree._Element, rest: list[Child], context: MessageContext, agency: str
) -> Representation | None:
    id_ = stated(element, "coreRepresentation")
    own = stated(element, "coreRepresentationAgency") or agency
    version = stated(element, "coreRepresentationVersion") or DEFAULT_VERSION
    enumeration = made(element, "Codelist", own, id_, version) if id_ else None
    formats: list[Any] = [
        context.edition.text_format(child, context.names) for kind, child in rest if kind == "TextFormat"
    ]
    if enumeration is None and not formats:
        return None
    return Representation(enumeration=enumeration, format=formats[0] if formats else None)


# Writing


def write_concept_scheme(concept_scheme: ConceptScheme, edition: Edition) -> str:
    """Write a <ConceptScheme>, or standalone concepts, which are the only kind in 1.0."""
    concepts = (
        []
        if concept_scheme.concepts.is_stub
        else [_concept(each, concept_scheme.urn, edition) for each in concept_scheme.concepts.values()]
    )
    if concept_scheme.id == STANDALONE_CONCEPTS and concept_scheme.version == DEFAULT_VERSION:
        return "".join(concepts)
    edition.since_20(True, "concept schemes: its concepts are not in schemes")
    return write_maintained("str:ConceptScheme", concept_scheme, edition, *concepts)


def _concept(concept: Concept, scheme: Urn, edition: Edition) -> str:
    edition.since_20(
        concept.parent is not None or concept.core_representation, "parents or representations of concepts"
    )
    core, content = concept.core_representation, ""
    attributes: dict[str, str | None] = {}
    if core is not None:
        _, content = write_representation(core, edition)
        list_ = core.enumeration
        if list_ is not None:
            attributes = {"coreRepresentation": list_.id, "coreRepresentationAgency": list_.agency}
    is_alone = scheme.id == STANDALONE_CONCEPTS and scheme.version == DEFAULT_VERSION
    return el(
        "str:Concept",
        write_texts("str:Name", concept.names),
        write_texts("str:Description", concept.descriptions),
        content,
        write_annotations(concept.annotations),
        id=concept.id,
        **({edition.agency: scheme.agency} if is_alone else {}),
        uri=concept.uri,
        version=concept.version if isinstance(concept, VersionedConcept) else None,
        parent=concept.parent,
        **attributes,
    )
