"""The relationships of attributes, in both directions."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.exchange.sdmx1.library import sdmx1
from kafka_replica.sdmx.exchange.sdmx1.shared_parts import Edition
from kafka_replica.sdmx.model import AttributeRelationship


def relationship_to(attribute_relationship: AttributeRelationship, structure: Any, edition: Edition) -> Any:
    """Convert a relationship, to the dimensions and groups of this structure."""
    library = sdmx1()
    common = library.common
    group = None
    if attribute_relationship.groups:
        group = structure.group_dimensions.get(attribute_relationship.groups[0]) or common.GroupDimensionDescriptor(
            id=attribute_relationship.groups[0]
        )
    if attribute_relationship.kind == "group":
        return common.GroupRelationship(group_key=group)
    if attribute_relationship.kind == "dimensions":
        known = {dimension.id: dimension for dimension in structure.dimensions.components}
        chosen = [known.get(id_) or common.Dimension(id=id_) for id_ in attribute_relationship.dimensions]
        return common.DimensionRelationship(dimensions=chosen, group_key=group)
    if edition == "2.1":
        kind = (
            library.v21.NoSpecifiedRelationship
            if attribute_relationship.kind == "dataset"
            else library.v21.PrimaryMeasureRelationship
        )
    else:
        kind = (
            library.v30.DataflowRelationship
            if attribute_relationship.kind == "dataset"
            else library.v30.ObservationRelationship
        )
    return kind()


def relationship_from(obj: Any, structure: Any) -> AttributeRelationship:
    """Build a relationship; a missing relationship means the data set."""
    library = sdmx1()
    group = getattr(obj, "group_key", None)
    groups = () if group is None else (group.id,)
    if isinstance(obj, library.common.DimensionRelationship):
        dimensions = tuple(dimension.id for dimension in obj.dimensions)
        return AttributeRelationship(kind="dimensions", dimensions=dimensions, groups=groups)
    if isinstance(obj, library.common.GroupRelationship):
        return AttributeRelationship(kind="group", groups=groups)
    if isinstance(obj, library.v21.PrimaryMeasureRelationship):
        measures = tuple(component.id for component in structure.measures.components[:1])
        return AttributeRelationship(kind="observation", measures=measures)
    if isinstance(obj, library.v30.ObservationRelationship):
        return AttributeRelationship(kind="observation")
    return AttributeRelationship(kind="dataset")
