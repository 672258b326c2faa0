"""Schemes of the Validation and Transformation Language (VTL) of Fusion-JSON."""

from __future__ import annotations

from kafka_replica.sdmx.containers import items_of, stored_items
from kafka_replica.sdmx.formats.fusion.values import (
    WireMaintainable,
    WireNameable,
    read_maintained,
    read_named,
    write_maintained,
    write_named,
)
from kafka_replica.sdmx.formats.json_shared.items import read_items
from kafka_replica.sdmx.formats.json_shared.transformations import SCHEME_CLASSES
from kafka_replica.sdmx.formats.json_shared.values import (
    Json,
    obj,
    read_reference,
    write_urn,
)
from kafka_replica.sdmx.model import (
    VtlDefinitionScheme,
    VtlMapping,
    VtlMappingScheme,
    VtlMethod,
)
from kafka_replica.sdmx.urns.urn import Urn


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


def read_definition_scheme(urn: Urn, wire: WireVtlScheme) -> VtlDefinitionScheme:
    """Build a scheme of transformations, rulesets, operators, custom types or names."""
    class_ = SCHEME_CLASSES[urn.cls]
    wire.user_defined_operator_schemes = wire.user_defined_operator_scheme or wire.user_defined_operator_schemes
    base = read_maintained(wire)
    found = read_items(
        urn, class_.item.__name__, wire.items, lambda own, one: class_.read_item(own, one, read_named(one))
    )
    items = items_of(urn, found, is_stub=base["is_external_reference"])
    arguments = {class_.scheme.items_field: items, **class_.read_schemes(urn, wire)}
    return class_.scheme(urn=urn, vtl_version=wire.vtl_version, **arguments, **base)


def read_mapping_scheme(urn: Urn, wire: WireVtlScheme) -> VtlMappingScheme:
    """Build a VtlMappingScheme; the class of each mapping follows from the mapped artefact."""
    base = read_maintained(wire)
    found = read_items(urn, "VtlDataflowMapping", wire.items, _read_mapping)
    return VtlMappingScheme(urn=urn, mappings=items_of(urn, found, is_stub=base["is_external_reference"]), **base)


def _read_mapping(own: Urn, wire: WireVtlItem) -> VtlMapping:
    mapped = read_reference(wire.mapped, own)
    class_ = f"Vtl{mapped.cls.removesuffix('Scheme')}Mapping" if mapped else own.cls
    return VtlMapping(
        urn=own.with_item(class_, own.item or ""),
        alias=wire.alias,
        mapped=mapped,
        to_vtl=_read_method(wire.to_vtl_method, wire.to_vtl_sub_space),
        from_vtl=_read_method(wire.from_vtl_method, wire.from_vtl_super_space),
        **read_named(wire),
    )


def _read_method(method: str | None, keys: list[str] | None) -> VtlMethod | None:
    if method is None and keys is None:
        return None
    return VtlMethod(method=method, space_keys=tuple(keys or ()))


def write_definition_scheme(vtl_definition_scheme: VtlDefinitionScheme) -> Json:
    """Write a scheme of transformations, rulesets, operators, custom types or names."""
    class_ = SCHEME_CLASSES[vtl_definition_scheme.urn.cls]
    schemes = class_.write_schemes(vtl_definition_scheme)
    if "userDefinedOperatorSchemes" in schemes:  # registries write this name in the singular
        schemes["userDefinedOperatorScheme"] = schemes.pop("userDefinedOperatorSchemes")
    return obj(
        write_maintained(vtl_definition_scheme),
        schemes,
        vtlVersion=vtl_definition_scheme.vtl_version,
        items=class_.write_items(vtl_definition_scheme, write_named),
    )


def write_mapping_scheme(vtl_mapping_scheme: VtlMappingScheme) -> Json:
    """Write a scheme of VTL mappings."""
    return obj(
        write_maintained(vtl_mapping_scheme),
        items=[_write_mapping(each) for each in stored_items(vtl_mapping_scheme.mappings)],
    )


def _write_mapping(vtl_mapping: VtlMapping) -> Json:
    to_vtl, from_vtl = vtl_mapping.to_vtl, vtl_mapping.from_vtl
    found = obj(write_named(vtl_mapping), alias=vtl_mapping.alias, mapped=write_urn(vtl_mapping.mapped))
    if to_vtl is not None:
        found |= obj(toVtlMethod=to_vtl.method) | {"toVtlSubSpace": list(to_vtl.space_keys)}
    if from_vtl is not None:
        found |= obj(fromVtlMethod=from_vtl.method) | {"fromVtlSuperSpace": list(from_vtl.space_keys)}
    return found
