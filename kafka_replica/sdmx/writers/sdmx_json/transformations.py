"""VTL schemes as SDMX-JSON."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.model import (
    VtlDefinitionScheme,
    VtlMapping,
    VtlMappingScheme,
    VtlMethod,
)
from kafka_replica.sdmx.writers.json_parts import Json, obj, urn, urns
from kafka_replica.sdmx.writers.sdmx_json.items import items_of
from kafka_replica.sdmx.writers.sdmx_json.values import Edition, maintained, named

# class -> its list of items, the fields of an item, single references, lists of references
_VTL: Final[dict[str, tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]]] = {
    "TransformationScheme": (
        "transformations",
        ("expression", "result", "is_persistent"),
        ("vtl_mapping_scheme", "name_personalisation_scheme", "custom_type_scheme"),
        ("ruleset_schemes", "user_defined_operator_schemes"),
    ),
    "RulesetScheme": (
        "rulesets",
        ("ruleset_definition", "ruleset_type", "ruleset_scope"),
        ("vtl_mapping_scheme",),
        (),
    ),
    "UserDefinedOperatorScheme": (
        "userDefinedOperators",
        ("operator_definition",),
        ("vtl_mapping_scheme",),
        ("ruleset_schemes",),
    ),
    "CustomTypeScheme": (
        "customTypes",
        ("vtl_scalar_type", "data_type", "vtl_literal_format", "output_format", "null_value"),
        (),
        (),
    ),
    "NamePersonalisationScheme": (
        "namePersonalisations",
        ("vtl_artefact", "vtl_default_name", "personalised_name"),
        (),
        (),
    ),
}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def definition_scheme(one: VtlDefinitionScheme, edition: Edition) -> Json:
    """Write a scheme of transformations, rulesets, operators, custom types or names."""
    plural, fields, single, several = _VTL[one.urn.cls]
    items = [
        obj(named(each, edition), {_camel(name): getattr(each, name) for name in fields})
        for each in items_of(one.items)
    ]
    return obj(
        maintained(one, edition),
        {plural: items},
        {_camel(name): urn(getattr(one, name)) for name in single},
        {_camel(name): urns(getattr(one, name)) for name in several},
        vtlVersion=one.vtl_version,
    )


def mapping_scheme(one: VtlMappingScheme, edition: Edition) -> Json:
    """Write a scheme of VTL mappings."""
    return obj(maintained(one, edition), vtlMappings=[_mapping(each, edition) for each in items_of(one.mappings)])


def _mapping(one: VtlMapping, edition: Edition) -> Json:
    if one.mapped is None:
        mapped: dict[str, Any] = {"genericDataflow": {}}
    elif one.mapped.cls in {"Dataflow", "Codelist", "Concept"}:
        mapped = {one.mapped.cls.lower(): str(one.mapped)}
    else:
        raise UnwritableError(f"{edition.format.title} has no place for a VTL mapping of a {one.mapped.cls}")
    return obj(
        named(one, edition),
        mapped,
        alias=one.alias,
        toVtlMapping=_method(one.to_vtl, "toVtlSubSpace"),
        fromVtlMapping=_method(one.from_vtl, "fromVtlSuperSpace"),
    )


def _method(one: VtlMethod | None, space: str) -> Json | None:
    if one is None:
        return None
    return obj({space: {"keys": list(one.space_keys)} if one.space_keys else None}, method=one.method)
