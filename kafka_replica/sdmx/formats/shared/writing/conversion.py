"""Convert an artefact to another edition: the same content in the terms of that edition, without a few details.

Everything that is not converted here is written unchanged, or not at all.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from kafka_replica.sdmx.containers import InternationalString, Items, stored_parts
from kafka_replica.sdmx.formats.shared.writing.conversion_to_earlier import as_earlier, as_edi
from kafka_replica.sdmx.formats.shared.writing.dimensions import in_order
from kafka_replica.sdmx.formats.shared.writing.format_rules import RULES
from kafka_replica.sdmx.formats.shared.writing.requirements import check
from kafka_replica.sdmx.formats.shared.xhtml import as_xhtml
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import (
    Artefact,
    Attribute,
    AttributeRelationship,
    Codelist,
    Constraint,
    DataConstraint,
    DataStructure,
    Measure,
    MemberValue,
    MetadataAttribute,
    MetadataConstraint,
    MetadataSet,
    MetadataStructure,
    ReportedAttribute,
)

_OBS_VALUE: Final = "OBS_VALUE"
_PLAIN: Final = "DataAttribute"
_ALLOWED: Final = "Allowed"
_SINCE_3_1: Final = {Format.SDMX_ML_3_1, Format.SDMX_JSON_2_1}
_SINCE_3: Final = {
    Format.SDMX_ML_3_0, Format.SDMX_ML_3_1, Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1,
}  # fmt: skip
_ML_3: Final = {Format.SDMX_ML_3_0, Format.SDMX_ML_3_1}
_SDMX_JSON: Final = {Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1}
_PRIMARY: Final = {
    Format.SDMX_ML_2_1, Format.SDMX_JSON_1_0, Format.SDMX_ML_2_0, Format.SDMX_ML_1_0, Format.EDI,
}  # fmt: skip


def as_representable_in(artefact: Artefact, format_: Format) -> Artefact:
    """Return the artefact that results from writing this one and reading it back.

    Raises:
        UnwritableError: the format cannot represent a part of the artefact.
    """
    artefact = _converted(artefact, format_)
    if isinstance(artefact, MetadataSet) and format_ in _ML_3:
        artefact = _with_xhtml(artefact)
    check(artefact, format_)
    return RULES[format_].apply(artefact)


def _converted(artefact: Artefact, format_: Format) -> Artefact:
    if format_ is Format.EDI:
        artefact = as_edi(artefact)
    if format_ in {Format.SDMX_ML_2_0, Format.SDMX_ML_1_0}:
        artefact = as_earlier(artefact, is_10=format_ is Format.SDMX_ML_1_0)
    if format_ in _SINCE_3:
        if artefact.is_final:
            # Since 3.0 the version itself determines which changes are allowed.
            artefact = replace(artefact, is_final=False)
        if isinstance(artefact, DataStructure):
            artefact = _with_plain_attributes(_with_measures(artefact))
        if isinstance(artefact, (DataConstraint, MetadataConstraint)):
            artefact = _with_role(artefact, format_)
        if isinstance(artefact, Codelist) and format_ in _SDMX_JSON:
            artefact = _with_patterns_first(artefact)
    elif format_ is Format.FUSION_JSON:
        artefact = _as_fusion(artefact)
    elif format_ in _PRIMARY and isinstance(artefact, DataStructure):
        artefact = _with_primary_measure(artefact)
    return in_order(artefact, format_) if isinstance(artefact, DataStructure) else artefact


def _with_xhtml(metadata_set: MetadataSet) -> MetadataSet:
    """Convert structured texts to the form in which SDMX-ML has them."""
    attributes = stored_parts(metadata_set.attributes)
    return (
        replace(metadata_set, attributes=tuple(map(_attribute_with_xhtml, attributes))) if attributes else metadata_set
    )


def _attribute_with_xhtml(reported: ReportedAttribute) -> ReportedAttribute:
    texts = [(language, as_xhtml(text)) for language, text in reported.structured_texts.texts]
    below = tuple(map(_attribute_with_xhtml, reported.attributes))
    return replace(reported, structured_texts=InternationalString(texts), attributes=below)


def _with_patterns_first(codelist: Codelist) -> Codelist:
    """Sort the selections of extensions as SDMX-JSON has them: patterns, and then ids. Their order has no meaning."""

    def is_id(member_value: MemberValue) -> bool:
        return "%" not in member_value.value or member_value.cascade_values is not None

    extensions = tuple(
        replace(
            each,
            inclusive=tuple(sorted(each.inclusive, key=is_id)),
            exclusive=tuple(sorted(each.exclusive, key=is_id)),
        )
        for each in codelist.extensions
    )
    return codelist if extensions == codelist.extensions else replace(codelist, extensions=extensions)


def _as_fusion(artefact: Artefact) -> Artefact:
    """Convert to the components of 3.x, and write out missing occurrences, because their default there is unbounded."""
    if isinstance(artefact, DataStructure):
        return _with_plain_attributes(_with_measures(artefact))
    if isinstance(artefact, MetadataStructure) and not artefact.metadata_attributes.is_stub:
        return replace(artefact, metadata_attributes=_with_occurrences(artefact.metadata_attributes))
    return artefact


def _with_occurrences(found: Items[MetadataAttribute]) -> Items[MetadataAttribute]:
    return Items({
        id_: replace(
            value,
            max_occurs=1 if value.max_occurs is None else value.max_occurs,
            metadata_attributes=_with_occurrences(value.metadata_attributes),
        )
        for id_, value in found.items()
    })  # fmt: skip


def _with_role(constraint: Constraint, format_: Format) -> Constraint:
    """Drop the role Allowed, which 3.1 implies, or add the role for earlier formats, which require it."""
    if format_ in _SINCE_3_1:
        return replace(constraint, role=None) if constraint.role == _ALLOWED else constraint
    return replace(constraint, role=_ALLOWED) if constraint.role is None and not constraint.is_stub else constraint


def _with_measures(data_structure: DataStructure) -> DataStructure:
    """Convert the primary measure to an ordinary measure, as in 3.x (Technical Notes 3.0, "Measures")."""
    if data_structure.measures.is_stub:
        return data_structure
    primary = data_structure.measures.get(_OBS_VALUE)
    if primary is None or primary.urn.cls != "PrimaryMeasure":
        return data_structure
    measure = replace(primary, urn=data_structure.urn.with_item("Measure", _OBS_VALUE))
    return _changed(data_structure, measure, ())


def _with_plain_attributes(data_structure: DataStructure) -> DataStructure:
    """Convert ReportingYearStartDay to an ordinary attribute: since 3.0, it is not a class of its own."""
    found = data_structure.attributes
    if found.is_stub or all(attribute.urn.cls == _PLAIN for attribute in found.values()):
        return data_structure
    made = {id_: replace(each, urn=data_structure.urn.with_item(_PLAIN, id_)) for id_, each in found.items()}
    return replace(data_structure, attributes=Items(made))


def _with_primary_measure(data_structure: DataStructure) -> DataStructure:
    """Convert a measure OBS_VALUE, if it is the only measure, to the primary measure of 2.1."""
    if data_structure.measures.is_stub or list(data_structure.measures) != [_OBS_VALUE]:
        return data_structure
    measure: Measure = data_structure.measures[_OBS_VALUE]
    if measure.concept_roles:
        return data_structure
    # 2.1 does not state whether this measure is mandatory, because data are always reported for it.
    primary = replace(measure, urn=data_structure.urn.with_item("PrimaryMeasure", _OBS_VALUE), mandatory=False)
    return _changed(data_structure, primary, (_OBS_VALUE,))


def _changed(data_structure: DataStructure, measure: Measure, named: tuple[str, ...]) -> DataStructure:
    measures = Items({**data_structure.measures, _OBS_VALUE: measure})
    attributes = Items({id_: _about(each, named) for id_, each in data_structure.attributes.items()})
    return replace(data_structure, measures=measures, attributes=attributes)


def _about(attribute: Attribute, named: tuple[str, ...]) -> Attribute:
    relationship: AttributeRelationship = attribute.relationship
    if relationship.kind != "observation" or relationship.measures not in {(), (_OBS_VALUE,)}:
        return attribute
    return (
        attribute
        if relationship.measures == named
        else replace(attribute, relationship=replace(relationship, measures=named))
    )
