"""VTL schemes."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.model import (
    CustomTypeScheme,
    NamePersonalisationScheme,
    RulesetScheme,
    TransformationScheme,
    UserDefinedOperatorScheme,
    VtlDefinitionScheme,
    VtlMapping,
    VtlMappingScheme,
    VtlMethod,
)
from support.sdmx.pysdmx_objects.basics import Work, reference, written
from support.sdmx.pysdmx_objects.library import pysdmx

_TEXTS = {
    "Transformation": ("expression", "result"),
    "Ruleset": ("ruleset_definition",),
    "UserDefinedOperator": ("operator_definition",),
    "CustomType": ("data_type", "vtl_scalar_type"),
    "NamePersonalisation": ("personalised_name", "vtl_artefact", "vtl_default_name"),
}
_OPTIONAL = {
    "Transformation": ("is_persistent",),
    "Ruleset": ("ruleset_scope", "ruleset_type"),
    "CustomType": ("null_value", "output_format", "vtl_literal_format"),
}


def _scheme(one: VtlDefinitionScheme, work: Work, **arguments: Any) -> Any:
    """Convert a scheme with its items; a missing text becomes an empty text."""
    name = one.urn.cls.removesuffix("Scheme")
    kind = getattr(pysdmx(), name)
    items = [
        kind(
            **work.named(item),
            **{field: getattr(item, field) or "" for field in _TEXTS[name]},
            **{field: getattr(item, field) for field in _OPTIONAL.get(name, ())},
        )
        for item in (() if one.items.is_stub else one.items.values())
    ]
    return getattr(pysdmx(), one.urn.cls)(
        **work.maintained(one, partial=True), vtl_version=one.vtl_version, items=tuple(items), **arguments
    )


def custom_types(one: CustomTypeScheme, work: Work) -> Any:
    """Convert a scheme of custom types."""
    return _scheme(one, work)


def name_personalisations(one: NamePersonalisationScheme, work: Work) -> Any:
    """Convert a scheme of name personalisations."""
    return _scheme(one, work)


def rulesets(one: RulesetScheme, work: Work) -> Any:
    """Convert a scheme of rulesets."""
    return _scheme(one, work, vtl_mapping_scheme=written(one.vtl_mapping_scheme))


def operators(one: UserDefinedOperatorScheme, work: Work) -> Any:
    """Convert a scheme of operators."""
    schemes = tuple(str(urn) for urn in one.ruleset_schemes)
    return _scheme(one, work, vtl_mapping_scheme=written(one.vtl_mapping_scheme), ruleset_schemes=schemes)


def transformations(one: TransformationScheme, work: Work) -> Any:
    """Convert a scheme of transformations; the schemes it uses become references."""
    return _scheme(
        one,
        work,
        vtl_mapping_scheme=reference(one.vtl_mapping_scheme),
        name_personalisation_scheme=reference(one.name_personalisation_scheme),
        custom_type_scheme=reference(one.custom_type_scheme),
        ruleset_schemes=tuple(reference(urn) for urn in one.ruleset_schemes),
        user_defined_operator_schemes=tuple(reference(urn) for urn in one.user_defined_operator_schemes),
    )


def mappings(one: VtlMappingScheme, work: Work) -> Any:
    """Convert a scheme of mappings."""
    found = () if one.mappings.is_stub else one.mappings.values()
    return pysdmx().VtlMappingScheme(
        **work.maintained(one, partial=True), items=tuple(_mapping(item, work) for item in found)
    )


def _mapping(one: VtlMapping, work: Work) -> Any:
    model, base, alias = pysdmx(), work.named(one), one.alias or ""
    mapped = one.mapped
    if mapped is not None and mapped.cls == "Codelist":
        return model.VtlCodelistMapping(**base, codelist=str(mapped), codelist_alias=alias)
    if mapped is not None and mapped.cls == "Concept":
        return model.VtlConceptMapping(**base, concept=str(mapped), concept_alias=alias)
    if mapped is None or mapped.cls != "Dataflow":
        raise work.refused(f"its mapping {one.id} is of no dataflow, codelist or concept")
    flow = model.DataflowRef(agency=mapped.agency, id=mapped.id, version=mapped.version)
    to_vtl, from_vtl = _method(one.to_vtl), _method(one.from_vtl)
    return model.VtlDataflowMapping(
        **base,
        dataflow=flow,
        dataflow_alias=alias,
        to_vtl_mapping_method=None if to_vtl is None else model.ToVtlMapping(*to_vtl),
        from_vtl_mapping_method=None if from_vtl is None else model.FromVtlMapping(*from_vtl),
    )


def _method(one: VtlMethod | None) -> tuple[tuple[str, ...], str | None] | None:
    return None if one is None else (one.space_keys, one.method)
