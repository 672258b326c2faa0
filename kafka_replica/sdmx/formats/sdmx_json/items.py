"""Codelists, value lists and concept schemes of SDMX-JSON."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.containers import NO_TEXT, Items, LazyItems, with_ids
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.json_shared.values import item_urn, reference
from kafka_replica.sdmx.formats.sdmx_json.items_wire import (
    WireCode,
    WireCodelist,
    WireConcept,
    WireConceptScheme,
    WireExtension,
    WireMember,
    WireSelection,
    WireValueList,
)
from kafka_replica.sdmx.formats.sdmx_json.references import fail, item_scheme, local_id, nested
from kafka_replica.sdmx.formats.sdmx_json.values import Context
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
from kafka_replica.sdmx.representation import ItemReference, Representation
from kafka_replica.sdmx.urn import Urn


def codelist(urn: Urn, wire: WireCodelist, context: Context) -> Codelist:
    """Build a Codelist of any kind, including the geographic kinds."""
    arguments: dict[str, Any] = context.maintained(wire)
    if wire.codelist_extensions:
        arguments["extensions"] = tuple([_extension(urn, one) for one in wire.codelist_extensions])
    if urn.cls == "Codelist":
        return Codelist(urn=urn, codes=_codes(urn, wire, context), **arguments)
    if urn.cls == "GeographicCodelist":
        features = nested(
            urn,
            "GeoFeatureSetCode",
            wire.geo_feature_set_codes or wire.codes,
            lambda own, one: GeoFeatureSetCode(urn=own, parent=one.parent, value=one.value, **context.named(one)),
        )
        return GeographicCodelist(urn=urn, codes=item_scheme(urn, wire, features), **arguments)
    cells = nested(
        urn,
        "GeoGridCode",
        wire.geo_grid_codes or wire.codes,
        lambda own, one: GeoGridCode(urn=own, parent=one.parent, geo_cell=one.geo_cell, **context.named(one)),
    )
    return GeoGridCodelist(
        urn=urn, codes=item_scheme(urn, wire, cells), grid_definition=wire.grid_definition, **arguments
    )


def _codes(urn: Urn, wire: WireCodelist, context: Context) -> Items[Code]:
    def code(own: Urn, one: WireCode) -> Code:
        if not one.links and not one.annotations and not one.descriptions and one.description is None:
            return Code(urn=own, parent=one.parent, names=context.texts(one.name, one.names))
        return Code(urn=own, parent=one.parent, **context.named(one))

    wires = wire.codes or []
    written = with_ids({one.id: one for one in wires}, len(wires)) if wires else None
    if written is None:
        return item_scheme(urn, wire, nested(urn, "Code", wires, code))
    package, agency, id_, version = urn.package, urn.agency, urn.id, urn.version
    # Ids are checked, so building a code later cannot fail.
    return LazyItems(written, lambda item, one: code(Urn(package, "Code", agency, id_, version, item), one), WireCode)


def _extension(urn: Urn, wire: WireExtension) -> CodelistExtension:
    extended = reference(wire.codelist, urn)
    if extended is None:
        fail(urn, "an extension of it names no codelist to extend")
    return CodelistExtension(
        codelist=extended,
        prefix=wire.prefix,
        inclusive=_members(wire.inclusive_code_selection),
        exclusive=_members(wire.exclusive_code_selection),
    )


def _members(wire: WireSelection | None) -> tuple[MemberValue, ...]:
    if wire is None:
        return ()
    return (
        *(MemberValue(value) for value in wire.wildcarded_member_values or ()),
        *(_member(one) for one in wire.member_values or ()),
    )


def _member(wire: WireMember | str) -> MemberValue:
    if isinstance(wire, str):
        return MemberValue(wire)
    return MemberValue(wire.value or "", cascade(wire.cascade_values))


def cascade(value: bool | str | None) -> str | None:
    """Return ``cascadeValues`` as SDMX-ML writes it: true, false or excluderoot."""
    return str(value).lower() if isinstance(value, bool) else value


def value_list(urn: Urn, wire: WireValueList, context: Context) -> ValueList:
    """Build a ValueList."""
    values = []
    for item in wire.value_items or ():
        if item.id is None:
            fail(urn, "one of its values has no id")
        arguments = context.named(item)
        values.append(
            ValueItem(
                id=item.id,
                names=arguments.get("names", NO_TEXT),
                descriptions=arguments.get("descriptions", NO_TEXT),
                annotations=arguments.get("annotations", ()),
            )
        )
    return ValueList(urn=urn, value_items=tuple(values), **context.maintained(wire))


def concept_scheme(urn: Urn, wire: WireConceptScheme, context: Context) -> ConceptScheme:
    """Build a ConceptScheme."""
    concepts: Items[Concept] | None = _lazy_concepts(urn, wire.concepts, context) if wire.concepts else None
    if concepts is None:
        found: dict[str, Concept] = {}
        for item in wire.concepts or ():
            own = item_urn(urn, "Concept", item.id, found)
            core = context.representation(item.core_representation, own)
            found[item.id or ""] = _concept(own, item, core, context)
        concepts = item_scheme(urn, wire, found)
    return ConceptScheme(urn=urn, concepts=concepts, **context.maintained(wire))


def _lazy_concepts(urn: Urn, wires: list[WireConcept], context: Context) -> Items[Concept] | None:
    """Build the concepts, reading ids and references at once; return None if any of them may be invalid."""
    read: dict[str | None, tuple[WireConcept, Representation | None]] = {}
    try:
        for one in wires:
            if one.iso_concept_reference:
                return None
            core = one.core_representation
            read[one.id] = one, None if core is None else context.representation(core, urn)
    except MessageError:
        return None
    written = with_ids(read, len(wires))
    if written is None:
        return None
    package, agency, id_, version = urn.package, urn.agency, urn.id, urn.version

    def concept(item: str, one: tuple[WireConcept, Representation | None]) -> Concept:
        return _concept(Urn(package, "Concept", agency, id_, version, item), *one, context)

    return LazyItems(written, concept, tuple)


def _concept(own: Urn, wire: WireConcept, core: Representation | None, context: Context) -> Concept:
    return Concept(
        urn=own,
        parent=None if wire.parent is None else local_id(wire.parent),
        core_representation=core,
        iso_concept=_iso_concept(wire, own) if wire.iso_concept_reference is not None else None,
        **context.named(wire),
    )


def _iso_concept(wire: WireConcept, where: Urn) -> ItemReference | None:
    written = wire.iso_concept_reference
    if isinstance(written, str):
        urn = reference(written, where)
        return ItemReference(agency=urn.agency, scheme=urn.id, id=urn.item or "") if urn else None
    if written is None:
        return None
    return ItemReference(
        agency=written.concept_agency or "", scheme=written.concept_scheme_id or "", id=written.concept_id or ""
    )
