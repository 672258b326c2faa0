"""Data structures as key families of SDMX-ML 2.0 and 1.0. A component has the id of its concept."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.earlier import (
    CrossSectionalMeasure,
    DescribedGroup,
    KeyFamilyAttribute,
    KeyFamilyDimension,
)
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf
from kafka_replica.sdmx.formats.shared.reading.key_family import IMPLIED_ROLES
from kafka_replica.sdmx.formats.shared.reading.standalone import STANDALONE_CONCEPTS
from kafka_replica.sdmx.model import Attribute, Component, DataStructure, Dimension, Group, Measure
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.writers.ml20.values import Edition, annotated, maintained, representation, texts

_DIMENSION_ROLES: Final = {
    "Frequency": "isFrequencyDimension", "Entity": "isEntityDimension", "Count": "isCountDimension",
    "NonObservationTime": "isNonObservationTimeDimension", "Identity": "isIdentityDimension",
}  # fmt: skip
_ATTRIBUTE_ROLES: Final = {
    "TimeFormat": "isTimeFormat", "Entity": "isEntityAttribute", "Count": "isCountAttribute",
    "NonObservationTime": "isNonObservationalTimeAttribute", "Frequency": "isFrequencyAttribute",
    "Identity": "isIdentityAttribute",
}  # fmt: skip
_ROLES_10: Final = {"isFrequencyDimension", "isTimeFormat"}
_WITHOUT_FORMAT_10: Final = {"str:Dimension", "str:PrimaryMeasure", "str:CrossSectionalMeasure"}
_LEVELS: Final = {"dataset": "DataSet", "dimensions": "Series", "group": "Group", "observation": "Observation"}


def key_family(one: DataStructure, edition: Edition) -> str:
    """Write a <KeyFamily>."""
    if one.dimension_list.is_stub:
        edition.since_20(True, "a stub of a key family")
        return maintained("str:KeyFamily", one, edition)
    content = [_dimension(each, edition) for each in one.dimension_list.values()]
    content += [_group(each, edition) for each in one.groups.values()]
    content += [_measure(each, edition) for each in one.measures.values()]
    content += [_attribute(each, one, edition) for each in one.attributes.values()]
    return maintained("str:KeyFamily", one, edition, el("str:Components", *content))


def concept_of(urn: Urn | None, edition: Edition) -> dict[str, str | None]:
    """Return the attributes that name the concept of a component. Raises UnwritableError if it has no concept."""
    if urn is None:
        raise UnwritableError("a component names no concept")
    if edition.is_10:
        return {"concept": urn.item}
    if urn.id == STANDALONE_CONCEPTS:
        return {"conceptRef": urn.item, "conceptAgency": urn.agency}
    return {
        "conceptRef": urn.item,
        "conceptVersion": urn.version,
        "conceptSchemeRef": urn.id,
        "conceptSchemeAgency": urn.agency,
    }


def _component(
    tag: str, one: Component, edition: Edition, content: str = "", attributes: dict[str, str | None] | None = None
) -> str:
    lists, format_ = representation(one.representation, edition)
    has_no_format = edition.is_10 and tag in _WITHOUT_FORMAT_10
    if has_no_format and (format_ or (lists and tag != "str:Dimension")):
        raise UnwritableError(f"SDMX-ML 1.0 has no place for the representation of {one.urn}")
    concept = concept_of(one.concept, edition)
    return el(tag, format_, content, annotated(one), **concept, **lists, **(attributes or {}))


def _marks(id_: str, one: Component, names: dict[str, str], implied: str, edition: Edition) -> dict[str, str | None]:
    roles: list[str] = []
    levels: tuple[str, ...] = ()
    if isinstance(one, (KeyFamilyDimension, KeyFamilyAttribute)):
        roles, levels = list(one.roles), one.cross_sectional
    if (id_, implied) in IMPLIED_ROLES:
        # Since 2.1 the id implies this role; before it has to be written.
        roles.append(implied)
    found: dict[str, str | None] = {names[role]: "true" for role in roles if role in names}
    edition.since_20(found.keys() - _ROLES_10, "roles other than frequency and time format")
    found |= {f"crossSectionalAttach{level}": "true" for level in levels}
    return found


def _dimension(one: Dimension, edition: Edition) -> str:
    marks = _marks(one.id, one, _DIMENSION_ROLES, "Frequency", edition)
    if one.is_time:
        return _component("str:TimeDimension", one, edition, "", marks)
    if one.urn.cls == "MeasureDimension":
        marks["isMeasureDimension"] = "true"
    return _component("str:Dimension", one, edition, "", marks)


def _measure(one: Measure, edition: Edition) -> str:
    if isinstance(one, CrossSectionalMeasure):
        own: dict[str, str | None] = {"measureDimension": one.measure_dimension, "code": one.code}
        return _component("str:CrossSectionalMeasure", one, edition, "", own)
    if one.urn.cls != "PrimaryMeasure":
        raise UnwritableError(
            f"SDMX-ML before 2.1 has no place for {one.urn}: one measure, called OBS_VALUE, is primary"
        )
    return _component("str:PrimaryMeasure", one, edition)


def _attribute(one: Attribute, structure: DataStructure, edition: Edition) -> str:
    about = one.relationship
    key = tuple(id_ for id_, each in structure.dimension_list.items() if not each.is_time)
    if about.kind == "dimensions" and about.dimensions != key:
        raise UnwritableError(
            f"SDMX-ML before 2.1 has no place for {one.urn}: it is about some dimensions, not about all"
        )
    primary = tuple(id_ for id_, each in structure.measures.items() if each.urn.cls == "PrimaryMeasure")
    measures = () if about.kind == "observation" and about.measures == primary else about.measures
    content = "".join([leaf("str:AttachmentGroup", each) for each in about.groups])
    content += "".join([leaf("str:AttachmentMeasure", each) for each in measures])
    marks = _marks(one.id, one, _ATTRIBUTE_ROLES, "TimeFormat", edition)
    level: dict[str, str | None] = {
        "attachmentLevel": _LEVELS[about.kind],
        "assignmentStatus": "Mandatory" if one.mandatory else "Conditional",
    }
    return _component("str:Attribute", one, edition, content, level | marks)


def _group(one: Group, edition: Edition) -> str:
    edition.since_20(one.attachment_constraint, "attachment constraints")
    constraint = one.attachment_constraint
    return el(
        "str:Group",
        *[leaf("str:DimensionRef", each) for each in one.dimensions],
        "" if constraint is None else leaf("str:AttachmentConstraintRef", constraint.id),
        texts("str:Description", one.descriptions) if isinstance(one, DescribedGroup) else "",
        annotated(one),
        id=one.id,
    )
