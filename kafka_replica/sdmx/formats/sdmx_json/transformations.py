"""Schemes of the Validation and Transformation Language (VTL) of SDMX-JSON 2.x."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from kafka_replica.sdmx.formats.json_shared.values import item_urn, reference, references
from kafka_replica.sdmx.formats.sdmx_json.references import fail, item_scheme, nested
from kafka_replica.sdmx.formats.sdmx_json.transformations_wire import WireMethod, WireVtlItem, WireVtlScheme
from kafka_replica.sdmx.formats.sdmx_json.values import Context
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
    VtlDefinitionScheme,
    VtlMapping,
    VtlMappingScheme,
    VtlMethod,
)
from kafka_replica.sdmx.urn import Urn


class _Kind(NamedTuple):
    """The parts of one class of scheme: list of items, their class and fields, and the schemes it refers to."""

    scheme: type[VtlDefinitionScheme]
    items: str
    item: type[Any]
    fields: tuple[str, ...]
    schemes: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()


_KINDS: Final = {
    kind.scheme.__name__: kind
    for kind in (
        _Kind(
            TransformationScheme,
            "transformations",
            Transformation,
            ("expression", "result"),
            ("vtl_mapping_scheme", "name_personalisation_scheme", "custom_type_scheme"),
            ("ruleset_schemes", "user_defined_operator_schemes"),
        ),
        _Kind(
            RulesetScheme,
            "rulesets",
            Ruleset,
            ("ruleset_definition", "ruleset_type", "ruleset_scope"),
            ("vtl_mapping_scheme",),
        ),
        _Kind(
            UserDefinedOperatorScheme,
            "user_defined_operators",
            UserDefinedOperator,
            ("operator_definition",),
            ("vtl_mapping_scheme",),
            ("ruleset_schemes",),
        ),
        _Kind(
            CustomTypeScheme,
            "custom_types",
            CustomType,
            ("vtl_scalar_type", "data_type", "vtl_literal_format", "output_format", "null_value"),
        ),
        _Kind(
            NamePersonalisationScheme,
            "name_personalisations",
            NamePersonalisation,
            ("vtl_artefact", "vtl_default_name", "personalised_name"),
        ),
    )
}


def definition_scheme(urn: Urn, wire: WireVtlScheme, context: Context) -> VtlDefinitionScheme:
    """Build a scheme of transformations, rulesets, operators, custom types or names."""
    kind = _KINDS[urn.cls]

    def item(own: Urn, one: WireVtlItem) -> Any:
        return _item(kind, own, one, context)

    found = nested(urn, kind.item.__name__, getattr(wire, kind.items), item)
    arguments: dict[str, Any] = {kind.scheme.items_field: item_scheme(urn, wire, found)}
    arguments |= {name: reference(getattr(wire, name), urn) for name in kind.schemes}
    arguments |= {name: references(getattr(wire, name), urn) for name in kind.lists}
    return kind.scheme(urn=urn, vtl_version=wire.vtl_version, **arguments, **context.maintained(wire))


def _item(kind: _Kind, urn: Urn, wire: WireVtlItem, context: Context) -> Any:
    arguments: dict[str, Any] = {name: getattr(wire, name) for name in kind.fields}
    if kind.item is Transformation:
        arguments["is_persistent"] = bool(wire.is_persistent)
    return kind.item(urn=urn, **arguments, **context.named(wire))


def mapping_scheme(urn: Urn, wire: WireVtlScheme, context: Context) -> VtlMappingScheme:
    """Build a VtlMappingScheme."""
    found: dict[str, VtlMapping] = {}
    for one in wire.vtl_mappings or ():
        found[one.id or ""] = _mapping(urn, one, context, found)
    return VtlMappingScheme(urn=urn, mappings=item_scheme(urn, wire, found), **context.maintained(wire))


def _mapping(urn: Urn, wire: WireVtlItem, context: Context, taken: dict[str, VtlMapping]) -> VtlMapping:
    if wire.codelist is not None:
        class_ = "VtlCodelistMapping"
    elif wire.concept is not None:
        class_ = "VtlConceptMapping"
    elif wire.dataflow is not None or wire.generic_dataflow is not None:
        class_ = "VtlDataflowMapping"
    else:
        fail(urn, f"the VTL mapping {(wire.id or '')[:80]!r} says neither dataflow, codelist nor concept")
    return VtlMapping(
        urn=item_urn(urn, class_, wire.id, taken),
        alias=wire.alias,
        mapped=reference(wire.codelist or wire.concept or wire.dataflow, urn),
        to_vtl=_method(wire.to_vtl_mapping),
        from_vtl=_method(wire.from_vtl_mapping),
        **context.named(wire),
    )


def _method(wire: WireMethod | None) -> VtlMethod | None:
    if wire is None:
        return None
    space = wire.to_vtl_sub_space or wire.from_vtl_super_space
    return VtlMethod(method=wire.method, space_keys=tuple(space.keys or ()) if space else ())
