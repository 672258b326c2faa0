"""Schemes of the Validation and Transformation Language (VTL) of SDMX-JSON 2.x."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.containers import stored_items
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.json_shared.items import item_urn, read_items
from kafka_replica.sdmx.formats.json_shared.transformations import SCHEME_CLASSES, camel
from kafka_replica.sdmx.formats.json_shared.values import (
    Json,
    fail,
    obj,
    read_reference,
)
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.items import item_scheme
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.formats.sdmx_json.values.wire import Wire, WireMaintainable, WireNameable
from kafka_replica.sdmx.formats.sdmx_json.values.writing import write_maintained, write_named
from kafka_replica.sdmx.model import (
    VtlDefinitionScheme,
    VtlMapping,
    VtlMappingScheme,
    VtlMethod,
)
from kafka_replica.sdmx.urns.urn import Urn


class WireSpace(Wire, gc=False):
    """Dimensions."""

    keys: list[str] | None = None


class WireMethod(Wire, gc=False):
    """The method of mapping to or from VTL."""

    method: str | None = None
    to_vtl_sub_space: WireSpace | None = None
    from_vtl_super_space: WireSpace | None = None


class WireVtlItem(WireNameable, gc=False):
    """An item of any of the schemes."""

    expression: str | None = None
    result: str | None = None
    is_persistent: bool | None = None
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
    dataflow: str | None = None
    generic_dataflow: dict[str, Any] | None = None
    codelist: str | None = None
    concept: str | None = None
    to_vtl_mapping: WireMethod | None = None
    from_vtl_mapping: WireMethod | None = None


class WireVtlScheme(WireMaintainable, gc=False):
    """A scheme of any kind."""

    vtl_version: str | None = None
    vtl_mapping_scheme: str | None = None
    name_personalisation_scheme: str | None = None
    custom_type_scheme: str | None = None
    ruleset_schemes: list[str] | None = None
    user_defined_operator_schemes: list[str] | None = None
    transformations: list[WireVtlItem] | None = None
    rulesets: list[WireVtlItem] | None = None
    user_defined_operators: list[WireVtlItem] | None = None
    custom_types: list[WireVtlItem] | None = None
    name_personalisations: list[WireVtlItem] | None = None
    vtl_mappings: list[WireVtlItem] | None = None


def read_definition_scheme(urn: Urn, wire: WireVtlScheme, context: Context) -> VtlDefinitionScheme:
    """Build a scheme of transformations, rulesets, operators, custom types or names."""
    class_ = SCHEME_CLASSES[urn.cls]

    def item(own: Urn, vtl_item: WireVtlItem) -> Any:
        return class_.read_item(own, vtl_item, context.named(vtl_item))

    found = read_items(urn, class_.item.__name__, getattr(wire, class_.items), item)
    arguments = {class_.scheme.items_field: item_scheme(urn, wire, found), **class_.read_schemes(urn, wire)}
    return class_.scheme(urn=urn, vtl_version=wire.vtl_version, **arguments, **context.maintained(wire))


def read_mapping_scheme(urn: Urn, wire: WireVtlScheme, context: Context) -> VtlMappingScheme:
    """Build a VtlMappingScheme."""
    found: dict[str, VtlMapping] = {}
    for vtl_mapping in wire.vtl_mappings or ():
        found[vtl_mapping.id or ""] = _read_mapping(urn, vtl_mapping, context, found)
    return VtlMappingScheme(urn=urn, mappings=item_scheme(urn, wire, found), **context.maintained(wire))


def _read_mapping(urn: Urn, wire: WireVtlItem, context: Context, taken: dict[str, VtlMapping]) -> VtlMapping:
    if wire.codelist is not None:
        class_ = "VtlCodelistMapping"
    elif wire.concept is not None:
        class_ = "VtlConceptMapping"
    elif wire.dataflow is not None or wire.generic_dataflow is not None:
        class_ = "VtlDataflowMapping"
    else:
        fail(urn, f"the VTL mapping {(wire.id or '')[:80]!r} names neither a dataflow, codelist nor concept")
    return VtlMapping(
        urn=item_urn(urn, class_, wire.id, taken),
        alias=wire.alias,
        mapped=read_reference(wire.codelist or wire.concept or wire.dataflow, urn),
        to_vtl=_read_method(wire.to_vtl_mapping),
        from_vtl=_read_method(wire.from_vtl_mapping),
        **context.named(wire),
    )


def _read_method(wire: WireMethod | None) -> VtlMethod | None:
    if wire is None:
        return None
    space = wire.to_vtl_sub_space or wire.from_vtl_super_space
    return VtlMethod(method=wire.method, space_keys=tuple(space.keys or ()) if space else ())


def write_definition_scheme(vtl_definition_scheme: VtlDefinitionScheme, edition: Edition) -> Json:
    """Write a scheme of transformations, rulesets, operators, custom types or names."""
    class_ = SCHEME_CLASSES[vtl_definition_scheme.urn.cls]
    items = class_.write_items(vtl_definition_scheme, lambda each: write_named(each, edition))
    return obj(
        write_maintained(vtl_definition_scheme, edition),
        {camel(class_.items): items},
        class_.write_schemes(vtl_definition_scheme),
        vtlVersion=vtl_definition_scheme.vtl_version,
    )


def write_mapping_scheme(vtl_mapping_scheme: VtlMappingScheme, edition: Edition) -> Json:
    """Write a scheme of VTL mappings."""
    return obj(
        write_maintained(vtl_mapping_scheme, edition),
        vtlMappings=[_write_mapping(each, edition) for each in stored_items(vtl_mapping_scheme.mappings)],
    )


def _write_mapping(vtl_mapping: VtlMapping, edition: Edition) -> Json:
    if vtl_mapping.mapped is None:
        mapped: dict[str, Any] = {"genericDataflow": {}}
    elif vtl_mapping.mapped.cls in {"Dataflow", "Codelist", "Concept"}:
        mapped = {vtl_mapping.mapped.cls.lower(): str(vtl_mapping.mapped)}
    else:
        raise UnwritableError(f"{edition.format.title} cannot represent a VTL mapping of a {vtl_mapping.mapped.cls}")
    return obj(
        write_named(vtl_mapping, edition),
        mapped,
        alias=vtl_mapping.alias,
        toVtlMapping=_write_method(vtl_mapping.to_vtl, "toVtlSubSpace"),
        fromVtlMapping=_write_method(vtl_mapping.from_vtl, "fromVtlSuperSpace"),
    )


def _write_method(vtl_method: VtlMethod | None, space: str) -> Json | None:
    if vtl_method is None:
        return None
    return obj(
        {space: {"keys": list(vtl_method.space_keys)} if vtl_method.space_keys else None}, method=vtl_method.method
    )
