"""VTL schemes as Fusion-JSON."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.sdmx.model import (
    VtlDefinitionScheme,
    VtlMapping,
    VtlMappingScheme,
)
from kafka_replica.sdmx.writers.fusion.values import items_of, maintained, named
from kafka_replica.sdmx.writers.json_parts import Json, obj, urn, urns

# class -> the fields of an item, single references, lists of references; keys as registries spell them
_VTL: Final[dict[str, tuple[dict[str, str], dict[str, str], dict[str, str]]]] = {
    "TransformationScheme": (
        {"expression": "expression", "result": "result", "isPersistent": "is_persistent"},
        {
            "vtlMappingScheme": "vtl_mapping_scheme",
            "namePersonalisationScheme": "name_personalisation_scheme",
            "customTypeScheme": "custom_type_scheme",
        },
        {"rulesetSchemes": "ruleset_schemes", "userDefinedOperatorScheme": "user_defined_operator_schemes"},
    ),
    "RulesetScheme": (
        {"rulesetDefinition": "ruleset_definition", "rulesetType": "ruleset_type", "rulesetScope": "ruleset_scope"},
        {"vtlMappingScheme": "vtl_mapping_scheme"},
        {},
    ),
    "UserDefinedOperatorScheme": (
        {"operatorDefinition": "operator_definition"},
        {"vtlMappingScheme": "vtl_mapping_scheme"},
        {"rulesetSchemes": "ruleset_schemes"},
    ),
    "CustomTypeScheme": (
        {
            "vtlScalarType": "vtl_scalar_type",
            "dataType": "data_type",
            "vtlLiteralFormat": "vtl_literal_format",
            "outputFormat": "output_format",
            "nullValue": "null_value",
        },
        {},
        {},
    ),
    "NamePersonalisationScheme": (
        {
            "vtlArtefact": "vtl_artefact",
            "vtlDefaultName": "vtl_default_name",
            "personalisedName": "personalised_name",
        },
        {},
        {},
    ),
}


def definition_scheme(one: VtlDefinitionScheme) -> Json:
    """Write a scheme of transformations, rulesets, operators, custom types or names."""
    fields, single, several = _VTL[one.urn.cls]
    found: list[Any] = [
        obj(named(each), {key: getattr(each, field) for key, field in fields.items()}) for each in items_of(one.items)
    ]
    return obj(
        maintained(one),
        {key: urn(getattr(one, field)) for key, field in single.items()},
        {key: urns(getattr(one, field)) for key, field in several.items()},
        vtlVersion=one.vtl_version,
        items=found,
    )


def mapping_scheme(one: VtlMappingScheme) -> Json:
    """Write a scheme of VTL mappings."""
    return obj(maintained(one), items=[_mapping(each) for each in items_of(one.mappings)])


def _mapping(one: VtlMapping) -> Json:
    to_vtl, from_vtl = one.to_vtl, one.from_vtl
    found = obj(named(one), alias=one.alias, mapped=urn(one.mapped))
    if to_vtl is not None:
        found |= obj(toVtlMethod=to_vtl.method) | {"toVtlSubSpace": list(to_vtl.space_keys)}
    if from_vtl is not None:
        found |= obj(fromVtlMethod=from_vtl.method) | {"fromVtlSuperSpace": list(from_vtl.space_keys)}
    return found
