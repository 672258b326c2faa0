"""Schemes of the Validation and Transformation Language (VTL).

Source: SDMX 3.1 Section 2, "Validation and Transformation Language"; SDMXStructureTransformation.xsd.
"""

from __future__ import annotations

from typing import ClassVar

from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.model.base import ItemScheme, Nameable
from kafka_replica.sdmx.model.value_object import ValueObject
from kafka_replica.sdmx.urns.urn import Urn


class VtlDefinitionScheme(ItemScheme, frozen=True, gc=False, kw_only=True):
    """The common part of VTL schemes: the version of the language."""

    vtl_version: str | None = None


class Transformation(Nameable, frozen=True, gc=False, kw_only=True):
    """A statement ``result := expression``, or ``result <- expression`` if the result is persistent."""

    expression: str | None = None
    result: str | None = None
    is_persistent: bool = False


class TransformationScheme(VtlDefinitionScheme, frozen=True, gc=False, kw_only=True):
    """Transformations in order, and the schemes they use."""

    items_field: ClassVar[str] = "transformations"

    transformations: Items[Transformation]
    vtl_mapping_scheme: Urn | None = None
    name_personalisation_scheme: Urn | None = None
    custom_type_scheme: Urn | None = None
    ruleset_schemes: tuple[Urn, ...] = ()
    user_defined_operator_schemes: tuple[Urn, ...] = ()


class Ruleset(Nameable, frozen=True, gc=False, kw_only=True):
    """A ruleset: its text, its type ("datapoint" or "hierarchical") and its scope ("variable" or "valuedomain")."""

    ruleset_definition: str | None = None
    ruleset_type: str | None = None
    ruleset_scope: str | None = None


class RulesetScheme(VtlDefinitionScheme, frozen=True, gc=False, kw_only=True):
    """A scheme of rulesets."""

    items_field: ClassVar[str] = "rulesets"

    rulesets: Items[Ruleset]
    vtl_mapping_scheme: Urn | None = None


class UserDefinedOperator(Nameable, frozen=True, gc=False, kw_only=True):
    """A user-defined operator, as text."""

    operator_definition: str | None = None


class UserDefinedOperatorScheme(VtlDefinitionScheme, frozen=True, gc=False, kw_only=True):
    """User-defined operators, and the schemes they use."""

    items_field: ClassVar[str] = "operators"

    operators: Items[UserDefinedOperator]
    vtl_mapping_scheme: Urn | None = None
    ruleset_schemes: tuple[Urn, ...] = ()


class CustomType(Nameable, frozen=True, gc=False, kw_only=True):
    """A mapping from a scalar type of VTL to a data type of SDMX, with its output format."""

    vtl_scalar_type: str | None = None
    data_type: str | None = None
    vtl_literal_format: str | None = None
    output_format: str | None = None
    null_value: str | None = None


class CustomTypeScheme(VtlDefinitionScheme, frozen=True, gc=False, kw_only=True):
    """A scheme of custom types."""

    items_field: ClassVar[str] = "custom_types"

    custom_types: Items[CustomType]


class NamePersonalisation(Nameable, frozen=True, gc=False, kw_only=True):
    """A replacement for a name that VTL assigns by default."""

    vtl_artefact: str | None = None
    vtl_default_name: str | None = None
    personalised_name: str | None = None


class NamePersonalisationScheme(VtlDefinitionScheme, frozen=True, gc=False, kw_only=True):
    """A scheme of name personalisations."""

    items_field: ClassVar[str] = "name_personalisations"

    name_personalisations: Items[NamePersonalisation]


class VtlMethod(ValueObject, frozen=True, gc=False, kw_only=True):
    """The method that converts a dataflow to a VTL data set or back; ``space_keys`` are dimensions."""

    method: str | None = None
    space_keys: tuple[str, ...] = ()


class VtlMapping(Nameable, frozen=True, gc=False, kw_only=True):
    """The name (``alias``) of an artefact in VTL.

    ``mapped`` is a dataflow, codelist, concept, or concept scheme (2.1); None if the mapping applies to any
    dataflow (GenericDataflow). The class in its URN follows: VtlDataflowMapping, VtlCodelistMapping,
    VtlConceptMapping.
    """

    alias: str | None = None
    mapped: Urn | None = None
    to_vtl: VtlMethod | None = None
    from_vtl: VtlMethod | None = None


class VtlMappingScheme(ItemScheme, frozen=True, gc=False, kw_only=True):
    """A scheme of VTL mappings."""

    items_field: ClassVar[str] = "mappings"

    mappings: Items[VtlMapping]
