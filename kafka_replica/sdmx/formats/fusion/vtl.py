"""VTL schemes of Fusion-JSON: their structs, and their conversion to the model."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.containers import Items, items_of
from kafka_replica.sdmx.formats.fusion.common import maintained, named
from kafka_replica.sdmx.formats.fusion.schemes import read_items
from kafka_replica.sdmx.formats.fusion.wire import WireMaintainable, WireNameable
from kafka_replica.sdmx.formats.json_shared.values import reference, references
from kafka_replica.sdmx.model import (
    CustomType,
    CustomTypeScheme,
    NamePersonalisation,
    NamePersonalisationScheme,
    Ruleset,
    RulesetScheme,
    Transformation,
    TransformationScheme,
    UserDefinedOperator,
    UserDefinedOperatorScheme,
    VtlMapping,
    VtlMappingScheme,
    VtlMethod,
)
from kafka_replica.sdmx.urn import Urn


class WireVtlItem(WireNameable, gc=False):
    """An item of any VTL scheme: each class uses some of the keys."""

    expression: str | None = None
    result: str | None = None
    is_persistent: bool = False
    ruleset_definition: str | None = None
    ruleset_type: str | None = None
    ruleset_scope: str | None = None
    operator_definition: str | None = None
    vtl_scalar_type: str | None = None
    data_type: str | None = None
    vtl_literal_format: str | None = None
    output_format: str | None = None
    null_value: str | None = None
    vtl_artefact: str | None = None
    vtl_default_name: str | None = None
    personalised_name: str | None = None
    alias: str | None = None
    mapped: str | None = None
    to_vtl_method: str | None = None
    to_vtl_sub_space: list[str] | None = None
    from_vtl_method: str | None = None
    from_vtl_super_space: list[str] | None = None


class WireVtlScheme(WireMaintainable, gc=False):
    """A VTL scheme of any kind."""

    vtl_version: str | None = None
    items: list[WireVtlItem] | None = None
    vtl_mapping_scheme: str | None = None
    name_personalisation_scheme: str | None = None
    custom_type_scheme: str | None = None
    ruleset_schemes: list[str] | None = None
    user_defined_operator_scheme: list[str] | None = None
    user_defined_operator_schemes: list[str] | None = None


def _fields(wire: WireVtlItem, *names: str) -> dict[str, Any]:
    return named(wire) | {name: getattr(wire, name) for name in names}


def _scheme(urn: Urn, wire: WireVtlScheme) -> dict[str, Any]:
    return {"urn": urn, "vtl_version": wire.vtl_version, **maintained(wire)}


def _items(urn: Urn, wire: WireVtlScheme, class_: str, make: Any) -> Items[Any]:
    return items_of(urn, read_items(urn, class_, wire.items, make), is_stub=bool(wire.is_external_reference))


def transformation_scheme(urn: Urn, wire: WireVtlScheme) -> TransformationScheme:
    """Build a TransformationScheme."""
    return TransformationScheme(
        transformations=_items(
            urn,
            wire,
            "Transformation",
            lambda own, one: Transformation(urn=own, **_fields(one, "expression", "result", "is_persistent")),
        ),
        vtl_mapping_scheme=reference(wire.vtl_mapping_scheme, urn),
        name_personalisation_scheme=reference(wire.name_personalisation_scheme, urn),
        custom_type_scheme=reference(wire.custom_type_scheme, urn),
        ruleset_schemes=references(wire.ruleset_schemes, urn),
        user_defined_operator_schemes=references(
            wire.user_defined_operator_scheme or wire.user_defined_operator_schemes, urn
        ),
        **_scheme(urn, wire),
    )


def ruleset_scheme(urn: Urn, wire: WireVtlScheme) -> RulesetScheme:
    """Build a RulesetScheme."""
    return RulesetScheme(
        rulesets=_items(
            urn,
            wire,
            "Ruleset",
            lambda own, one: Ruleset(urn=own, **_fields(one, "ruleset_definition", "ruleset_type", "ruleset_scope")),
        ),
        vtl_mapping_scheme=reference(wire.vtl_mapping_scheme, urn),
        **_scheme(urn, wire),
    )


def user_defined_operator_scheme(urn: Urn, wire: WireVtlScheme) -> UserDefinedOperatorScheme:
    """Build a UserDefinedOperatorScheme."""
    return UserDefinedOperatorScheme(
        operators=_items(
            urn,
            wire,
            "UserDefinedOperator",
            lambda own, one: UserDefinedOperator(urn=own, **_fields(one, "operator_definition")),
        ),
        vtl_mapping_scheme=reference(wire.vtl_mapping_scheme, urn),
        ruleset_schemes=references(wire.ruleset_schemes, urn),
        **_scheme(urn, wire),
    )


def custom_type_scheme(urn: Urn, wire: WireVtlScheme) -> CustomTypeScheme:
    """Build a CustomTypeScheme."""
    fields = ("vtl_scalar_type", "data_type", "vtl_literal_format", "output_format", "null_value")
    return CustomTypeScheme(
        custom_types=_items(urn, wire, "CustomType", lambda own, one: CustomType(urn=own, **_fields(one, *fields))),
        **_scheme(urn, wire),
    )


def name_personalisation_scheme(urn: Urn, wire: WireVtlScheme) -> NamePersonalisationScheme:
    """Build a NamePersonalisationScheme."""
    fields = ("vtl_artefact", "vtl_default_name", "personalised_name")
    return NamePersonalisationScheme(
        name_personalisations=_items(
            urn, wire, "NamePersonalisation", lambda own, one: NamePersonalisation(urn=own, **_fields(one, *fields))
        ),
        **_scheme(urn, wire),
    )


def vtl_mapping_scheme(urn: Urn, wire: WireVtlScheme) -> VtlMappingScheme:
    """Build a VtlMappingScheme; the class of each mapping follows from the mapped artefact."""
    return VtlMappingScheme(urn=urn, mappings=_items(urn, wire, "VtlDataflowMapping", _mapping), **maintained(wire))


def _mapping(own: Urn, wire: WireVtlItem) -> VtlMapping:
    mapped = reference(wire.mapped, own)
    class_ = f"Vtl{mapped.cls.removesuffix('Scheme')}Mapping" if mapped else own.cls
    return VtlMapping(
        urn=own.with_item(class_, own.item or ""),
        alias=wire.alias,
        mapped=mapped,
        to_vtl=_method(wire.to_vtl_method, wire.to_vtl_sub_space),
        from_vtl=_method(wire.from_vtl_method, wire.from_vtl_super_space),
        **named(wire),
    )


def _method(method: str | None, keys: list[str] | None) -> VtlMethod | None:
    if method is None and keys is None:
        return None
    return VtlMethod(method=method, space_keys=tuple(keys or ()))
