"""Schemes with flat lists of items, in both directions: codes, concepts, organisations, VTL definitions."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from kafka_replica.sdmx.containers import items_of
from kafka_replica.sdmx.exchange.sdmx1.item_parts import EXTRAS_FROM, EXTRAS_TO
from kafka_replica.sdmx.exchange.sdmx1.library import sdmx1
from kafka_replica.sdmx.exchange.sdmx1.shared_parts import (
    Edition,
    class_named,
    fields_from,
    fields_to,
    maintained,
    maintenance,
    named,
    naming,
    our_name,
    urn_of,
)
from kafka_replica.sdmx.exchange.sdmx1.vtl import scheme_fields_from, scheme_fields_to
from kafka_replica.sdmx.model import (
    ARTEFACTS,
    Agency,
    Code,
    Concept,
    CustomType,
    DataConsumer,
    DataProvider,
    GeoFeatureSetCode,
    GeoGridCode,
    ItemScheme,
    MetadataProvider,
    NamePersonalisation,
    Ruleset,
    Transformation,
    UserDefinedOperator,
    VtlMapping,
)
from kafka_replica.sdmx.urns.urn import Urn


class ItemConversion(NamedTuple):
    """The conversion of a scheme's items: their struct, and fields that are plain values (ours -> theirs)."""

    item: Any
    fields: dict[str, str]
    has_parents: bool = False


KINDS: Final[dict[str, ItemConversion]] = {
    "AgencyScheme": ItemConversion(Agency, {}),
    "DataProviderScheme": ItemConversion(DataProvider, {}),
    "DataConsumerScheme": ItemConversion(DataConsumer, {}),
    "MetadataProviderScheme": ItemConversion(MetadataProvider, {}),
    "Codelist": ItemConversion(Code, {}, has_parents=True),
    "GeographicCodelist": ItemConversion(GeoFeatureSetCode, {"value": "value"}, has_parents=True),
    "GeoGridCodelist": ItemConversion(GeoGridCode, {"geo_cell": "geo_cell"}, has_parents=True),
    "ConceptScheme": ItemConversion(Concept, {}, has_parents=True),
    "CustomTypeScheme": ItemConversion(
        CustomType,
        {name: name for name in ("vtl_scalar_type", "data_type", "vtl_literal_format", "output_format", "null_value")},
    ),
    "NamePersonalisationScheme": ItemConversion(NamePersonalisation, {"vtl_default_name": "vtl_default_name"}),
    "RulesetScheme": ItemConversion(
        Ruleset, {"ruleset_definition": "definition", "ruleset_scope": "scope", "ruleset_type": "type"}
    ),
    "TransformationScheme": ItemConversion(Transformation, {"expression": "expression", "result": "result"}),
    "UserDefinedOperatorScheme": ItemConversion(UserDefinedOperator, {"operator_definition": "definition"}),
    "VtlMappingScheme": ItemConversion(VtlMapping, {}),
}
"""Class of a scheme -> the conversion of its items."""


def scheme_to(artefact: ItemScheme, edition: Edition) -> Any:
    """Convert a scheme with its items and their parents."""
    kind = KINDS[artefact.urn.cls]
    scheme = class_named(artefact.urn.cls, edition)(
        **maintained(artefact, partial=True), **scheme_fields_to(artefact, edition)
    )
    if artefact.items.is_stub:
        return scheme
    made = {}
    for item_id, item in artefact.items.items():
        theirs = class_named(item.urn.cls, edition) or scheme._Item  # noqa: SLF001 - the only name it has
        own = theirs(**named(item) | {"id": item_id}, **fields_to(item, kind.fields))
        for field, convert in EXTRAS_TO.get(type(own).__name__, {}).items():
            setattr(own, field, convert(item, edition))
        scheme.items[item_id] = made[item_id] = own
    for item_id, item in artefact.items.items():
        own, parent = made[item_id], getattr(item, "parent", None)
        if parent is None:
            own.parent = scheme
        else:
            # A partial list may leave the parent out: then a placeholder replaces the parent.
            own.parent = made.get(parent) or scheme._Item(id=parent)  # noqa: SLF001
            own.parent.child.append(own)
    return scheme


def scheme_from(obj: Any) -> ItemScheme:
    """Build a scheme, with its items in the order of sdmx1."""
    urn = urn_of(obj)
    kind = KINDS[urn.cls]
    struct: Any = ARTEFACTS[urn.cls]
    items = {item.id: _item_from(item, urn, kind) for item in obj.items.values()}
    base = maintenance(obj, urn)
    found = items_of(urn, items, is_stub=base["is_external_reference"])
    made: ItemScheme = struct(**base, **{struct.items_field: found}, **scheme_fields_from(obj, urn.cls))
    return made


def _item_from(item: Any, urn: Urn, kind: ItemConversion) -> Any:
    name = our_name(item)
    # Codes of older messages have ids that are invalid in URNs ("a:b"); they are kept as they are.
    own = (
        urn.with_item(name, item.id)
        if name != "Code"
        else Urn(urn.package, name, urn.agency, urn.id, urn.version, item.id)
    )
    extras = {field: convert(item) for field, convert in EXTRAS_FROM.get(type(item).__name__, {}).items()}
    if kind.has_parents and isinstance(item.parent, sdmx1().common.Item):
        extras["parent"] = item.parent.id
    return kind.item(**naming(item, own), **fields_from(item, kind.fields), **extras)
