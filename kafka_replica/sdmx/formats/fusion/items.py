"""Codelists, value lists and concept schemes of Fusion-JSON."""

from __future__ import annotations

from kafka_replica.sdmx.containers import NO_TEXT, Items, LazyItems, items_of, with_ids, written_texts
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.fusion.common import (
    annotation,
    annotations_of,
    maintained,
    named,
    representation,
)
from kafka_replica.sdmx.formats.fusion.wire import WireItem, WireScheme
from kafka_replica.sdmx.formats.json_shared.values import item_urn
from kafka_replica.sdmx.model import Code, Codelist, Concept, ConceptScheme, ValueItem, ValueList
from kafka_replica.sdmx.representation import Representation
from kafka_replica.sdmx.urn import Urn


def codelist(urn: Urn, wire: WireScheme) -> Codelist:
    """Build a Codelist; its codes are built on first access, because only a code's id can be invalid."""
    wires = wire.items or []
    base = maintained(wire)
    package, agency, scheme, version = urn.package, urn.agency, urn.id, urn.version

    def code(id_: str, one: WireItem) -> Code:
        names, notes = one.names, one.annotations
        if one.links or one.uri is not None or one.descriptions:
            return Code(urn=Urn(package, "Code", agency, scheme, version, id_), parent=one.parent_code, **named(one))
        return Code(
            urn=Urn(package, "Code", agency, scheme, version, id_),
            annotations=() if not notes else (annotation(notes[0]),) if len(notes) == 1 else annotations_of(notes),
            names=written_texts(names) if names else NO_TEXT,
            parent=one.parent_code,
        )

    written = with_ids({one.id: one for one in wires}, len(wires)) if wires else None
    if written is not None:
        return Codelist(urn=urn, codes=LazyItems(written, code, WireItem), **base)
    codes: dict[str, Code] = {}
    for one in wires:
        own_id = item_urn(urn, "Code", one.id, codes).item or ""
        codes[own_id] = code(own_id, one)
    return Codelist(urn=urn, codes=items_of(urn, codes, is_stub=base["is_external_reference"]), **base)


def value_list(urn: Urn, wire: WireScheme) -> ValueList:
    """Build a ValueList."""
    values = [_value(urn, item) for item in wire.items or ()]
    return ValueList(urn=urn, value_items=tuple(values), **maintained(wire))


def _value(urn: Urn, item: WireItem) -> ValueItem:
    if item.id is None:
        raise MessageError(f"reading {urn}: one of its values has no id")
    arguments = named(item)
    return ValueItem(
        id=item.id,
        names=arguments.get("names", NO_TEXT),
        descriptions=arguments.get("descriptions", NO_TEXT),
        annotations=arguments.get("annotations", ()),
    )


def concept_scheme(urn: Urn, wire: WireScheme) -> ConceptScheme:
    """Build a ConceptScheme."""
    base = maintained(wire)
    concepts = _lazy_concepts(urn, wire.items) if wire.items else None
    if concepts is None:
        found: dict[str, Concept] = {}
        for item in wire.items or ():
            own = item_urn(urn, "Concept", item.id, found)
            found[item.id or ""] = _concept(own, item, representation(item.representation, own))
        concepts = items_of(urn, found, is_stub=base["is_external_reference"])
    return ConceptScheme(urn=urn, concepts=concepts, **base)


def _lazy_concepts(urn: Urn, wires: list[WireItem]) -> Items[Concept] | None:
    """Build the concepts, reading ids and references at once; return None if any of them is invalid."""
    try:
        read = {
            one.id: (one, None if one.representation is None else representation(one.representation, urn))
            for one in wires
        }
    except MessageError:
        return None
    written = with_ids(read, len(wires))
    if written is None:
        return None
    package, agency, scheme, version = urn.package, urn.agency, urn.id, urn.version

    def concept(id_: str, one: tuple[WireItem, Representation | None]) -> Concept:
        wire, core = one
        own, names = Urn(package, "Concept", agency, scheme, version, id_), wire.names
        if not wire.annotations and not wire.links and wire.uri is None and not wire.descriptions:
            return Concept(
                urn=own,
                names=written_texts(names) if names else NO_TEXT,
                parent=wire.parent_concept,
                core_representation=core,
            )
        return _concept(own, wire, core)

    return LazyItems(written, concept, tuple)


def _concept(own: Urn, wire: WireItem, core: Representation | None) -> Concept:
    return Concept(urn=own, parent=wire.parent_concept, core_representation=core, **named(wire))
