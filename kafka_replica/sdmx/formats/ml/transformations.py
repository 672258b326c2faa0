"""VTL schemes of SDMX-ML. The contents of items are single texts and attributes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.reading.child_elements import (
    first,
    known,
    pick,
    ref,
    refs,
    scheme_items,
    text,
    texts,
)
from kafka_replica.sdmx.formats.ml.reading.values import Item, boolean, reference
from kafka_replica.sdmx.formats.ml.writing.edition import Edition
from kafka_replica.sdmx.formats.ml.writing.values import artefact, item
from kafka_replica.sdmx.formats.ml.writing.xml import el, flag, leaf
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

# Reading

_MAPPING_CLASSES: Final = {
    "Dataflow": "VtlDataflowMapping",
    "GenericDataflow": "VtlDataflowMapping",
    "Codelist": "VtlCodelistMapping",
    "Concept": "VtlConceptMapping",
    "ConceptScheme": "VtlConceptMapping",
}


def read_transformation_scheme(item: Item) -> TransformationScheme:
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


def read_ruleset_scheme(item: Item) -> RulesetScheme:
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


def read_user_defined_operator_scheme(item: Item) -> UserDefinedOperatorScheme:
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


def read_custom_type_scheme(item: Item) -> CustomTypeScheme:
    """Read a <CustomTypeScheme>."""
    return CustomTypeScheme(custom_types=_items(item, "CustomType", _read_custom_type), **_scheme(item))


def _read_custom_type(item: Item) -> CustomType:
    return CustomType(
        urn=item.urn,
        vtl_scalar_type=text(item.rest, "VtlScalarType"),
        data_type=text(item.rest, "DataType"),
        vtl_literal_format=text(item.rest, "VtlLiteralFormat"),
        output_format=text(item.rest, "OutputFormat"),
        null_value=text(item.rest, "NullValue"),
        **item.arguments,
    )


def read_name_personalisation_scheme(item: Item) -> NamePersonalisationScheme:
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


def read_vtl_mapping_scheme(item: Item) -> VtlMappingScheme:
    """Read a <VtlMappingScheme>; the class of each mapping follows from the mapped artefact."""
    urn, base, rest, names = item.parts
    return VtlMappingScheme(
        urn=urn,
        mappings=scheme_items(urn, base, "VtlDataflowMapping", pick(rest, "VtlMapping"), names, _read_mapping),
        **base,
    )


def _read_mapping(item: Item) -> VtlMapping:
    mapped = next(((kind, one) for kind, one in item.rest if kind in _MAPPING_CLASSES), None)
    class_, urn = "VtlDataflowMapping", None
    if mapped is not None:
        class_ = _MAPPING_CLASSES[mapped[0]]
        urn = None if mapped[0] == "GenericDataflow" else reference(mapped[1], item.names, mapped[0])
    return VtlMapping(
        urn=item.urn.with_item(class_, item.urn.item or ""),
        alias=item.element.get("alias"),
        mapped=urn,
        to_vtl=_read_method(item, "ToVtlMapping", "ToVtlSubSpace"),
        from_vtl=_read_method(item, "FromVtlMapping", "FromVtlSuperSpace"),
        **item.arguments,
    )


def _read_method(item: Item, kind: str, space: str) -> VtlMethod | None:
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


# Writing


def write_definition_scheme(vtl_definition_scheme: VtlDefinitionScheme, edition: Edition) -> str:
    """Write a scheme of transformations, rulesets, operators, custom types or names."""
    found: Iterable[Any] = [] if vtl_definition_scheme.items.is_stub else vtl_definition_scheme.items.values()
    content = [_item(each, edition) for each in found]
    return artefact(
        f"str:{vtl_definition_scheme.urn.cls}",
        vtl_definition_scheme,
        edition,
        [*content, _schemes(vtl_definition_scheme, edition)],
        vtlVersion=vtl_definition_scheme.vtl_version,
    )


def _schemes(vtl_definition_scheme: VtlDefinitionScheme, edition: Edition) -> str:
    if isinstance(vtl_definition_scheme, TransformationScheme):
        return "".join([
            edition.ref("str:VtlMappingScheme", vtl_definition_scheme.vtl_mapping_scheme),
            edition.ref("str:NamePersonalisationScheme", vtl_definition_scheme.name_personalisation_scheme),
            edition.ref("str:CustomTypeScheme", vtl_definition_scheme.custom_type_scheme),
            edition.refs("str:RulesetScheme", vtl_definition_scheme.ruleset_schemes),
            edition.refs("str:UserDefinedOperatorScheme", vtl_definition_scheme.user_defined_operator_schemes),
        ])  # fmt: skip
    if isinstance(vtl_definition_scheme, RulesetScheme):
        return edition.ref("str:VtlMappingScheme", vtl_definition_scheme.vtl_mapping_scheme)
    if isinstance(vtl_definition_scheme, UserDefinedOperatorScheme):
        mapping = edition.ref("str:VtlMappingScheme", vtl_definition_scheme.vtl_mapping_scheme)
        return mapping + edition.refs("str:RulesetScheme", vtl_definition_scheme.ruleset_schemes)
    return ""


def _item(value: Any, edition: Edition) -> str:
    if isinstance(value, Transformation):
        content = leaf("str:Expression", value.expression) + leaf("str:Result", value.result)
        return item("str:Transformation", value, edition, content, isPersistent=flag(value.is_persistent))
    if isinstance(value, Ruleset):
        content = leaf("str:RulesetDefinition", value.ruleset_definition)
        kind = {"rulesetType": value.ruleset_type, "rulesetScope": value.ruleset_scope}
        return item("str:Ruleset", value, edition, content, **kind)
    if isinstance(value, UserDefinedOperator):
        return item(
            "str:UserDefinedOperator", value, edition, leaf("str:OperatorDefinition", value.operator_definition)
        )
    if isinstance(value, CustomType):
        return item("str:CustomType", value, edition, _write_custom_type(value))
    if isinstance(value, NamePersonalisation):
        content = leaf("str:VtlDefaultName", value.vtl_default_name) + leaf(
            "str:PersonalisedName", value.personalised_name
        )
        return item("str:NamePersonalisation", value, edition, content, vtlArtefact=value.vtl_artefact)
    raise UnwritableError(f"{value.urn} has a class that a VTL scheme cannot contain")


def _write_custom_type(custom_type: CustomType) -> str:
    return "".join([
        leaf("str:VtlScalarType", custom_type.vtl_scalar_type),
        leaf("str:DataType", custom_type.data_type),
        leaf("str:VtlLiteralFormat", custom_type.vtl_literal_format),
        leaf("str:OutputFormat", custom_type.output_format),
        leaf("str:NullValue", custom_type.null_value),
    ])  # fmt: skip


_MAPPED: Final = {"Dataflow", "Codelist", "Concept", "ConceptScheme"}


def write_vtl_mapping_scheme(vtl_mapping_scheme: VtlMappingScheme, edition: Edition) -> str:
    """Write a <VtlMappingScheme>."""
    found = [] if vtl_mapping_scheme.mappings.is_stub else vtl_mapping_scheme.mappings.values()
    return artefact(
        "str:VtlMappingScheme", vtl_mapping_scheme, edition, [_write_mapping(each, edition) for each in found]
    )


def _write_mapping(vtl_mapping: VtlMapping, edition: Edition) -> str:
    if vtl_mapping.mapped is None:
        mapped = el("str:GenericDataflow")
    elif vtl_mapping.mapped.cls in _MAPPED:
        edition.until_3(vtl_mapping.mapped.cls == "ConceptScheme", "a VTL mapping of a concept scheme")
        mapped = edition.ref(f"str:{vtl_mapping.mapped.cls}", vtl_mapping.mapped)
    else:
        raise UnwritableError(
            f"{vtl_mapping.urn} maps a {vtl_mapping.mapped.cls}, but VTL maps dataflows, codelists and concepts"
        )
    to_vtl = _write_method("str:ToVtlMapping", "str:ToVtlSubSpace", vtl_mapping.to_vtl)
    from_vtl = _write_method("str:FromVtlMapping", "str:FromVtlSuperSpace", vtl_mapping.from_vtl)
    return item("str:VtlMapping", vtl_mapping, edition, mapped, to_vtl, from_vtl, alias=vtl_mapping.alias)


def _write_method(tag: str, space: str, vtl_method: VtlMethod | None) -> str:
    if vtl_method is None:
        return ""
    keys = [leaf("str:Key", each) for each in vtl_method.space_keys]
    return el(tag, el(space, *keys) if keys else "", method=vtl_method.method)
