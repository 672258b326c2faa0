"""Determine the part of a data set that contains the value of each attribute.

An attribute of dimensions belongs to the series, unless the dimension at the observation is one of these dimensions; an
attribute with an attachment group belongs to the group.

Source: SDMX 2.1 and 3.0 SDMXDataStructureSpecific(Base).xsd, documentation of GroupType, SeriesType, ObsType and
AttsType.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafka_replica.data.schemas.simple_types import ValueType
from kafka_replica.sdmx import AttributeRelationship


class Attachment(NamedTuple):
    """The attributes by the part of a data set that contains them: the data set, groups by id, series, observations.

    ``of_dimensions`` are the attributes among those of observations that are attached to dimensions.
    """

    data_set: list[ValueType]
    groups: dict[str, list[ValueType]]
    series: list[ValueType]
    observations: list[ValueType]
    of_dimensions: list[ValueType]


def attributes_by_part(
    attributes: list[tuple[ValueType, AttributeRelationship | None]],
    groups: Mapping[str, object],
    observation_dimension: str | None,
) -> Attachment:
    """Return the attributes by the part of a data set that contains them.

    Args:
        attributes: the type of each attribute's values, and the attribute's relationship; None if all parts may contain
            the value.
        groups: the groups of the data structure, by id.
        observation_dimension: the dimension at the observation; None if there are no series.
    """
    found = Attachment([], {id_: [] for id_ in groups}, [], [], [])
    for attribute, relationship in attributes:
        if relationship is None:
            for part in (found.data_set, *found.groups.values(), found.series, found.observations):
                part.append(attribute)
            continue
        own_groups = [id_ for id_ in relationship.groups if id_ in groups]
        for id_ in own_groups:
            found.groups[id_].append(attribute)
        if own_groups:
            continue
        if relationship.kind == "dataset":
            found.data_set.append(attribute)
        elif relationship.kind == "observation" or observation_dimension in {None, *relationship.dimensions}:
            found.observations.append(attribute)
            if relationship.kind != "observation":
                found.of_dimensions.append(attribute)
        else:
            found.series.append(attribute)
    return found
