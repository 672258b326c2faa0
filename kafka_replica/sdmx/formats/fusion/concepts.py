"""Concept schemes of Fusion-JSON."""

from __future__ import annotations

from kafka_replica.sdmx.containers import NO_TEXT, Items, LazyItems, items_of, stored_items, with_ids, written_texts
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.fusion.values import (
    WireMaintainable,
    WireNameable,
    WireRepresentation,
    read_maintained,
    read_named,
    read_representation,
    write_maintained,
    write_named,
    write_representation,
)
from kafka_replica.sdmx.formats.json_shared.items import item_urn
from kafka_replica.sdmx.formats.json_shared.values import Json, obj
from kafka_replica.sdmx.model import Concept, ConceptScheme
from kafka_replica.sdmx.model.representation import Representation
from kafka_replica.sdmx.urns.urn import Urn


class WireConcept(WireNameable, gc=False):
    """A concept."""

    parent_concept: str | None = None
    representation: WireRepresentation | None = None


class WireConceptScheme(WireMaintainable, gc=False):
    """A concept scheme."""

    items: list[WireConcept] | None = None


def read_concept_scheme(urn: Urn, wire: WireConceptScheme) -> ConceptScheme:
    """Build a ConceptScheme."""
    base = read_maintained(wire)
    concepts = _read_lazy_concepts(urn, wire.items) if wire.items else None
    if concepts is None:
        found: dict[str, Concept] = {}
        for item in wire.items or ():
            own = item_urn(urn, "Concept", item.id, found)
            found[item.id or ""] = _read_concept(own, item, read_representation(item.representation, own))
        concepts = items_of(urn, found, is_stub=base["is_external_reference"])
    return ConceptScheme(urn=urn, concepts=concepts, **base)


def _read_lazy_concepts(urn: Urn, wires: list[WireConcept]) -> Items[Concept] | None:
    """Build the concepts, reading ids and references at once; return None if any of them is invalid."""
    try:
        read = {
            each.id: (
                each,
                None if each.representation is None else read_representation(each.representation, urn),
            )
            for each in wires
        }
    except MessageError:
        return None
    written = with_ids(read, len(wires))
    if written is None:
        return None
    package, agency, scheme, version = urn.package, urn.agency, urn.id, urn.version

    def concept(id_: str, one: tuple[WireConcept, Representation | None]) -> Concept:
        wire, core = one
        own, names = Urn(package, "Concept", agency, scheme, version, id_), wire.names
        if not wire.annotations and not wire.links and wire.uri is None and not wire.descriptions:
            return Concept(
                urn=own,
                names=written_texts(names) if names else NO_TEXT,
                parent=wire.parent_concept,
                core_representation=core,
            )
        return _read_concept(own, wire, core)

    return LazyItems(written, concept, tuple)


def _read_concept(own: Urn, wire: WireConcept, core: Representation | None) -> Concept:
    return Concept(urn=own, parent=wire.parent_concept, core_representation=core, **read_named(wire))


def write_concept_scheme(concept_scheme: ConceptScheme) -> Json:
    """Write a concept scheme."""
    found = [
        obj(write_named(each), parentConcept=each.parent, representation=write_representation(each.core_representation))
        for each in stored_items(concept_scheme.concepts)
    ]
    return obj(write_maintained(concept_scheme), items=found)
