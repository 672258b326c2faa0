"""Concept schemes of SDMX-JSON."""

from __future__ import annotations

import msgspec

from kafka_replica.sdmx.containers import Items, LazyItems, stored_items, with_ids
from kafka_replica.sdmx.errors import MessageError, UnwritableError
from kafka_replica.sdmx.formats.json_shared.items import item_urn
from kafka_replica.sdmx.formats.json_shared.values import Json, obj, read_reference
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.items import item_scheme, local_id, written_id
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.formats.sdmx_json.values.wire import Wire, WireMaintainable, WireNameable, WireRepresentation
from kafka_replica.sdmx.formats.sdmx_json.values.writing import write_maintained, write_named, write_representation
from kafka_replica.sdmx.model import Concept, ConceptScheme
from kafka_replica.sdmx.model.representation import ItemReference, Representation
from kafka_replica.sdmx.urns.urn import Urn


class WireIsoConcept(Wire, gc=False):
    """A concept of ISO 11179."""

    concept_agency: str | None = None
    concept_scheme_id: str | None = msgspec.field(name="conceptSchemeID", default=None)
    concept_id: str | None = msgspec.field(name="conceptID", default=None)


class WireConcept(WireNameable, gc=False):
    """A concept; in 1.0 its parent and its ISO concept are URNs."""

    parent: str | None = None
    core_representation: WireRepresentation | None = None
    iso_concept_reference: WireIsoConcept | str | None = None


class WireConceptScheme(WireMaintainable, gc=False):
    """A concept scheme."""

    concepts: list[WireConcept] | None = None


def read_concept_scheme(urn: Urn, wire: WireConceptScheme, context: Context) -> ConceptScheme:
    """Build a ConceptScheme."""
    concepts: Items[Concept] | None = _read_lazy_concepts(urn, wire.concepts, context) if wire.concepts else None
    if concepts is None:
        found: dict[str, Concept] = {}
        for item in wire.concepts or ():
            own = item_urn(urn, "Concept", item.id, found)
            core = context.representation(item.core_representation, own)
            found[item.id or ""] = _read_concept(own, item, core, context)
        concepts = item_scheme(urn, wire, found)
    return ConceptScheme(urn=urn, concepts=concepts, **context.maintained(wire))


def _read_lazy_concepts(urn: Urn, wires: list[WireConcept], context: Context) -> Items[Concept] | None:
    """Build the concepts, reading ids and references at once; return None if any of them may be invalid."""
    read: dict[str | None, tuple[WireConcept, Representation | None]] = {}
    try:
        for wire in wires:
            if wire.iso_concept_reference:
                return None
            core = wire.core_representation
            read[wire.id] = wire, None if core is None else context.representation(core, urn)
    except MessageError:
        return None
    written = with_ids(read, len(wires))
    if written is None:
        return None
    package, agency, id_, version = urn.package, urn.agency, urn.id, urn.version

    def concept(item: str, one: tuple[WireConcept, Representation | None]) -> Concept:
        return _read_concept(Urn(package, "Concept", agency, id_, version, item), *one, context)

    return LazyItems(written, concept, tuple)


def _read_concept(own: Urn, wire: WireConcept, core: Representation | None, context: Context) -> Concept:
    return Concept(
        urn=own,
        parent=None if wire.parent is None else local_id(wire.parent),
        core_representation=core,
        iso_concept=_read_iso_concept(wire, own) if wire.iso_concept_reference is not None else None,
        **context.named(wire),
    )


def _read_iso_concept(wire: WireConcept, where: Urn) -> ItemReference | None:
    written = wire.iso_concept_reference
    if isinstance(written, str):
        urn = read_reference(written, where)
        return ItemReference(agency=urn.agency, scheme=urn.id, id=urn.item or "") if urn else None
    if written is None:
        return None
    return ItemReference(
        agency=written.concept_agency or "", scheme=written.concept_scheme_id or "", id=written.concept_id or ""
    )


def write_concept_scheme(concept_scheme: ConceptScheme, edition: Edition) -> Json:
    """Write a concept scheme."""
    found = [_write_concept(concept_scheme.urn, each, edition) for each in stored_items(concept_scheme.concepts)]
    return obj(write_maintained(concept_scheme, edition), concepts=found)


def _write_concept(scheme: Urn, concept: Concept, edition: Edition) -> Json:
    return obj(
        write_named(concept, edition),
        parent=written_id(scheme, "Concept", concept.parent, edition),
        coreRepresentation=write_representation(concept.core_representation, edition),
        isoConceptReference=_write_iso_concept(concept.iso_concept, edition),
    )


def _write_iso_concept(item_reference: ItemReference | None, edition: Edition) -> Json | str | None:
    if item_reference is None:
        return None
    if edition.is_10:
        raise UnwritableError("SDMX-JSON 1.0 cannot represent a concept of ISO 11179 without a version")
    return {
        "conceptAgency": item_reference.agency,
        "conceptSchemeID": item_reference.scheme,
        "conceptID": item_reference.id,
    }
