"""VTL schemes as SDMX-ML."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.model import (
    CustomType,
    NamePersonalisation,
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
from kafka_replica.sdmx.writers.ml.edition import Edition
from kafka_replica.sdmx.writers.ml.values import artefact, item
from kafka_replica.sdmx.writers.ml.xml import el, flag, leaf


def definition_scheme(one: VtlDefinitionScheme, edition: Edition) -> str:
    """Write a scheme of transformations, rulesets, operators, custom types or names."""
    found: Iterable[Any] = [] if one.items.is_stub else one.items.values()
    content = [_item(each, edition) for each in found]
    return artefact(f"str:{one.urn.cls}", one, edition, [*content, _schemes(one, edition)], vtlVersion=one.vtl_version)


def _schemes(one: VtlDefinitionScheme, edition: Edition) -> str:
    if isinstance(one, TransformationScheme):
        return "".join([
            edition.ref("str:VtlMappingScheme", one.vtl_mapping_scheme),
            edition.ref("str:NamePersonalisationScheme", one.name_personalisation_scheme),
            edition.ref("str:CustomTypeScheme", one.custom_type_scheme),
            edition.refs("str:RulesetScheme", one.ruleset_schemes),
            edition.refs("str:UserDefinedOperatorScheme", one.user_defined_operator_schemes),
        ])  # fmt: skip
    if isinstance(one, RulesetScheme):
        return edition.ref("str:VtlMappingScheme", one.vtl_mapping_scheme)
    if isinstance(one, UserDefinedOperatorScheme):
        mapping = edition.ref("str:VtlMappingScheme", one.vtl_mapping_scheme)
        return mapping + edition.refs("str:RulesetScheme", one.ruleset_schemes)
    return ""


def _item(one: Any, edition: Edition) -> str:
    if isinstance(one, Transformation):
        content = leaf("str:Expression", one.expression) + leaf("str:Result", one.result)
        return item("str:Transformation", one, edition, content, isPersistent=flag(one.is_persistent))
    if isinstance(one, Ruleset):
        content = leaf("str:RulesetDefinition", one.ruleset_definition)
        kind = {"rulesetType": one.ruleset_type, "rulesetScope": one.ruleset_scope}
        return item("str:Ruleset", one, edition, content, **kind)
    if isinstance(one, UserDefinedOperator):
        return item("str:UserDefinedOperator", one, edition, leaf("str:OperatorDefinition", one.operator_definition))
    if isinstance(one, CustomType):
        return item("str:CustomType", one, edition, _custom_type(one))
    if isinstance(one, NamePersonalisation):
        content = leaf("str:VtlDefaultName", one.vtl_default_name) + leaf("str:PersonalisedName", one.personalised_name)
        return item("str:NamePersonalisation", one, edition, content, vtlArtefact=one.vtl_artefact)
    raise UnwritableError(f"{one.urn} is of no class that a scheme of VTL can hold")


def _custom_type(one: CustomType) -> str:
    return "".join([
        leaf("str:VtlScalarType", one.vtl_scalar_type),
        leaf("str:DataType", one.data_type),
        leaf("str:VtlLiteralFormat", one.vtl_literal_format),
        leaf("str:OutputFormat", one.output_format),
        leaf("str:NullValue", one.null_value),
    ])  # fmt: skip


_MAPPED: Final = {"Dataflow", "Codelist", "Concept", "ConceptScheme"}


def mapping_scheme(one: VtlMappingScheme, edition: Edition) -> str:
    """Write a <VtlMappingScheme>."""
    found = [] if one.mappings.is_stub else one.mappings.values()
    return artefact("str:VtlMappingScheme", one, edition, [_mapping(each, edition) for each in found])


def _mapping(one: VtlMapping, edition: Edition) -> str:
    if one.mapped is None:
        mapped = el("str:GenericDataflow")
    elif one.mapped.cls in _MAPPED:
        edition.until_3(one.mapped.cls == "ConceptScheme", "a VTL mapping of a concept scheme")
        mapped = edition.ref(f"str:{one.mapped.cls}", one.mapped)
    else:
        raise UnwritableError(f"{one.urn} maps a {one.mapped.cls}, and VTL maps dataflows, codelists and concepts")
    to_vtl = _method("str:ToVtlMapping", "str:ToVtlSubSpace", one.to_vtl)
    from_vtl = _method("str:FromVtlMapping", "str:FromVtlSuperSpace", one.from_vtl)
    return item("str:VtlMapping", one, edition, mapped, to_vtl, from_vtl, alias=one.alias)


def _method(tag: str, space: str, one: VtlMethod | None) -> str:
    if one is None:
        return ""
    keys = [leaf("str:Key", each) for each in one.space_keys]
    return el(tag, el(space, *keys) if keys else "", method=one.method)
