"""Codelists, value lists and concept schemes of Fusion-JSON."""

from __future__ import annotations

from kafka_replica.errors import MessageError
from kafka_replica.sdmx.containers import NO_TEXT, LazyItems, items_of, numbered
from kafka_replica.sdmx.fusion.common import maintained, named, representation, texts_of
from kafka_replica.sdmx.fusion.wire import WireItem, WireScheme
from kafka_replica.sdmx.json_parts import item_urn
from kafka_replica.sdmx.model import Code, Codelist, Concept, ConceptScheme, ValueItem, ValueList
from kafka_replica.sdmx.urn import Urn


def codelist(urn: Urn, wire: WireScheme) -> Codelist:
    """A Codelist; its codes are made when they are asked for, for nothing can be wrong with one but its id."""
    wires = wire.items or []
    base = maintained(wire)
    numbers = numbered([one.id or "" for one in wires]) if wires else None
    if numbers is not None:
        return Codelist(urn=urn, codes=LazyItems(numbers, lambda id_, number: _code(urn, id_, wires[number])), **base)
    codes: dict[str, Code] = {}
    for one in wires:
        own = item_urn(urn, "Code", one.id, codes)
        codes[own.item or ""] = _code(urn, own.item or "", one)
    return Codelist(urn=urn, codes=items_of(urn, codes, is_stub=base["is_external_reference"]), **base)


def _code(urn: Urn, id_: str, wire: WireItem) -> Code:
    own = Urn(urn.package, "Code", urn.agency, urn.id, urn.version, id_)
    if wire.annotations or wire.links or wire.uri or wire.descriptions:
        return Code(urn=own, parent=wire.parent_code, **named(wire))
    return Code(urn=own, parent=wire.parent_code, names=texts_of(wire.names))


def value_list(urn: Urn, wire: WireScheme) -> ValueList:
    """A ValueList."""
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
    """A ConceptScheme."""
    concepts: dict[str, Concept] = {}
    for item in wire.items or ():
        concept_urn = item_urn(urn, "Concept", item.id, concepts)
        concepts[item.id or ""] = Concept(
            urn=concept_urn,
            parent=item.parent_concept,
            core_representation=representation(item.representation, concept_urn),
            **named(item),
        )
    base = maintained(wire)
    return ConceptScheme(urn=urn, concepts=items_of(urn, concepts, is_stub=base["is_external_reference"]), **base)
