"""VTL schemes of SDMX-ML. The contents of items are single texts and attributes."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.sdmx.containers import Items
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
from kafka_replica.sdmx.readers.ml.parts import first, known, pick, ref, refs, scheme_items, text, texts
from kafka_replica.sdmx.readers.ml.values import Item, boolean, reference

_MAPPED: Final = {
    "Dataflow": "VtlDataflowMapping",
    "GenericDataflow": "VtlDataflowMapping",
    "Codelist": "VtlCodelistMapping",
    "Concept": "VtlConceptMapping",
    "ConceptScheme": "VtlConceptMapping",
}


def transformation_scheme(item: Item) -> TransformationScheme:
    """Read a <TransformationScheme>."""
    rest, names = item.rest, item.names
    return TransformationScheme(
        transformations=_items(item, "Transformation", _transformation),
        name_personalisation_scheme=ref(rest, "NamePersonalisationScheme", names),
        custom_type_scheme=ref(rest, "CustomTypeScheme", names),
        ruleset_schemes=refs(rest, "RulesetScheme", names),
        user_defined_operator_schemes=refs(rest, "UserDefinedOperatorScheme", names),
        vtl_mapping_scheme=ref(rest, "VtlMappingScheme", names),
        **_scheme(item),
    )


def _transformation(item: Item) -> Transformation:
    return Transformation(
        urn=item.urn,
        expression=text(item.rest, "Expression"),
        result=text(item.rest, "Result"),
        is_persistent=boolean(item.element, "isPersistent") or False,
        **item.arguments,
    )


def ruleset_scheme(item: Item) -> RulesetScheme:
    """Read a <RulesetScheme>."""
    return RulesetScheme(
        rulesets=_items(item, "Ruleset", _ruleset),
        vtl_mapping_scheme=ref(item.rest, "VtlMappingScheme", item.names),
        **_scheme(item),
    )


def _ruleset(item: Item) -> Ruleset:
    return Ruleset(
        urn=item.urn,
        ruleset_definition=text(item.rest, "RulesetDefinition"),
        ruleset_type=item.element.get("rulesetType"),
        ruleset_scope=item.element.get("rulesetScope"),
        **item.arguments,
    )


def user_defined_operator_scheme(item: Item) -> UserDefinedOperatorScheme:
    """Read a <UserDefinedOperatorScheme>."""
    return UserDefinedOperatorScheme(
        operators=_items(item, "UserDefinedOperator", _operator),
        vtl_mapping_scheme=ref(item.rest, "VtlMappingScheme", item.names),
        ruleset_schemes=refs(item.rest, "RulesetScheme", item.names),
        **_scheme(item),
    )


def _operator(item: Item) -> UserDefinedOperator:
    return UserDefinedOperator(
        urn=item.urn, operator_definition=text(item.rest, "OperatorDefinition"), **item.arguments
    )


def custom_type_scheme(item: Item) -> CustomTypeScheme:
    """Read a <CustomTypeScheme>."""
    return CustomTypeScheme(custom_types=_items(item, "CustomType", _custom_type), **_scheme(item))


def _custom_type(item: Item) -> CustomType:
    return CustomType(
        urn=item.urn,
        vtl_scalar_type=text(item.rest, "VtlScalarType"),
        data_type=text(item.rest, "DataType"),
        vtl_literal_format=text(item.rest, "VtlLiteralFormat"),
        output_format=text(item.rest, "OutputFormat"),
        null_value=text(item.rest, "NullValue"),
        **item.arguments,
    )


def name_personalisation_scheme(item: Item) -> NamePersonalisationScheme:
    """Read a <NamePersonalisationScheme>."""
    return NamePersonalisationScheme(
        name_personalisations=_items(item, "NamePersonalisation", _name_personalisation), **_scheme(item)
    )


def _name_personalisation(item: Item) -> NamePersonalisation:
    return NamePersonalisation(
        urn=item.urn,
        vtl_artefact=item.element.get("vtlArtefact"),
        vtl_default_name=text(item.rest, "VtlDefaultName"),
        personalised_name=text(item.rest, "PersonalisedName"),
        **item.arguments,
    )


def vtl_mapping_scheme(item: Item) -> VtlMappingScheme:
    """Read a <VtlMappingScheme>; the class of each mapping follows from the mapped artefact."""
    urn, base, rest, names = item.parts
    return VtlMappingScheme(
        urn=urn,
        mappings=scheme_items(urn, base, "VtlDataflowMapping", pick(rest, "VtlMapping"), names, _mapping),
        **base,
    )


def _mapping(item: Item) -> VtlMapping:
    mapped = next(((kind, one) for kind, one in item.rest if kind in _MAPPED), None)
    class_, urn = "VtlDataflowMapping", None
    if mapped is not None:
        class_ = _MAPPED[mapped[0]]
        urn = None if mapped[0] == "GenericDataflow" else reference(mapped[1], item.names, mapped[0])
    return VtlMapping(
        urn=item.urn.with_item(class_, item.urn.item or ""),
        alias=item.element.get("alias"),
        mapped=urn,
        to_vtl=_method(item, "ToVtlMapping", "ToVtlSubSpace"),
        from_vtl=_method(item, "FromVtlMapping", "FromVtlSuperSpace"),
        **item.arguments,
    )


def _method(item: Item, kind: str, space: str) -> VtlMethod | None:
    found = first(item.rest, kind)
    if found is None:
        return None
    keys = first(known(found, item.names), space)
    return VtlMethod(
        method=found.get("method"), space_keys=() if keys is None else texts(known(keys, item.names), "Key")
    )


def _scheme(item: Item) -> dict[str, Any]:
    return {"urn": item.urn, "vtl_version": item.element.get("vtlVersion"), **item.arguments}


def _items(item: Item, kind: str, make: Any) -> Items[Any]:
    return scheme_items(item.urn, item.arguments, kind, pick(item.rest, kind), item.names, make)
