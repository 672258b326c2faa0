"""Data structures, in both directions.

sdmx1 cannot represent: roles of a component after the first, whether a measure is mandatory, the measures an attribute
is about (3.x), cross-sections (1.0, 2.0), ``evolving_structure``.
"""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.sdmx.containers import items_of
from kafka_replica.sdmx.errors import NotExpressibleError
from kafka_replica.sdmx.exchange.sdmx1.library import sdmx1
from kafka_replica.sdmx.exchange.sdmx1.relationships import relationship_from, relationship_to
from kafka_replica.sdmx.exchange.sdmx1.representations import representation_from, representation_to
from kafka_replica.sdmx.exchange.sdmx1.shared_parts import (
    Edition,
    annotations_from,
    annotations_to,
    class_named,
    identified,
    identity,
    maintained,
    maintenance,
    our_name,
    reference_from,
    reference_to,
    urn_of,
)
from kafka_replica.sdmx.model import (
    Attribute,
    Component,
    DataStructure,
    Dimension,
    Group,
    Identifiable,
    Measure,
    MetadataAttributeUsage,
)
from kafka_replica.sdmx.urns.urn import Urn

_LISTS: Final = {
    "dimensions": "DimensionDescriptor",
    "attributes": "AttributeDescriptor",
    "measures": "MeasureDescriptor",
}


def data_structure_to(artefact: DataStructure, edition: Edition) -> Any:
    """Convert a data structure definition."""
    made = class_named("DataStructure", edition)(**maintained(artefact))
    for field, name in _LISTS.items():
        getattr(made, field).id = name
    for descriptor in artefact.descriptors:
        for listed in (field for field, name in _LISTS.items() if name == descriptor.urn.cls):
            getattr(made, listed).annotations = annotations_to(descriptor.annotations)
    if artefact.dimension_list.is_stub:
        return made
    for dimension in artefact.dimension_list.values():
        made.dimensions.components.append(component_to(dimension, edition, order=dimension.position))
    for group in artefact.groups.values():
        own = sdmx1().common.GroupDimensionDescriptor(**identified(group))
        own.components = [_dimension(made, id_) for id_ in group.dimensions]
        own.attachment_constraint = group.attachment_constraint is not None or None
        made.group_dimensions[group.id] = own
    made.measures.components = _measures_to(artefact, edition)
    made.attributes.components = [_attribute_to(attribute, made, edition) for attribute in artefact.attributes.values()]
    if edition == "3.0":
        made.metadata = reference_to(artefact.metadata, edition)
        made.attributes.components += [
            _usage_to(metadata_attribute_usage, made) for metadata_attribute_usage in artefact.metadata_attribute_usages
        ]
    return made


def component_to(component: Component, edition: Edition, kind: Any = None, **arguments: Any) -> Any:
    """Convert a component, of the class in its URN unless ``kind`` is given, with the first of its roles."""
    kind = kind or class_named(component.urn.cls, edition) or sdmx1().common.Component
    made = kind(
        **identified(component),
        concept_identity=reference_to(component.concept, edition),
        local_representation=representation_to(component.representation, edition),
        **arguments,
    )
    if component.concept_roles and hasattr(made, "concept_role"):
        made.concept_role = reference_to(component.concept_roles[0], edition)
    return made


def _measures_to(artefact: DataStructure, edition: Edition) -> list[Any]:
    """Return the measures, of the class that the edition has; 2.1 has one."""
    found = [measure for measure in artefact.measures.values() if measure.urn.cls in {"PrimaryMeasure", "Measure"}]
    if edition == "2.1" and len(found) > 1:
        raise NotExpressibleError(f"converting {artefact.urn} to sdmx1: 2.1 has one measure; use edition 3.0")
    kind = sdmx1().v21.PrimaryMeasure if edition == "2.1" else sdmx1().v30.Measure
    return [component_to(one, edition, kind) for one in found]


def _dimension(structure: Any, id_: str) -> Any:
    found = next((component for component in structure.dimensions.components if component.id == id_), None)
    return found if found is not None else sdmx1().common.Dimension(id=id_)


def _attribute_to(attribute: Attribute, structure: Any, edition: Edition) -> Any:
    status = sdmx1().common.UsageStatus["mandatory" if attribute.mandatory else "conditional"]
    related = relationship_to(attribute.relationship, structure, edition)
    return component_to(attribute, edition, usage_status=status, related_to=related)


def _usage_to(metadata_attribute_usage: MetadataAttributeUsage, structure: Any) -> Any:
    return sdmx1().v30.MetadataAttributeUsage(
        id=metadata_attribute_usage.metadata_attribute,
        metadata_attribute=sdmx1().common.MetadataAttribute(id=metadata_attribute_usage.metadata_attribute),
        related_to=relationship_to(metadata_attribute_usage.relationship, structure, "3.0"),
        annotations=annotations_to(metadata_attribute_usage.annotations),
    )


def data_structure_from(obj: Any) -> DataStructure:
    """Build a data structure."""
    urn = urn_of(obj)
    base = maintenance(obj, urn)
    dimensions = {
        component.id: Dimension(
            **_component(component, urn), position=number if component.order is None else component.order
        )
        for number, component in enumerate(obj.dimensions.components, start=1)
    }
    measures = {component.id: Measure(**_component(component, urn)) for component in obj.measures.components}
    usage = sdmx1().v30.MetadataAttributeUsage
    attributes = {
        component.id: Attribute(
            **_component(component, urn),
            mandatory=component.usage_status is not None and component.usage_status.name == "mandatory",
            relationship=relationship_from(component.related_to, obj),
        )
        for component in obj.attributes.components
        if not isinstance(component, usage)
    }
    is_stub = base["is_external_reference"] and not dimensions
    return DataStructure(
        **base,
        dimension_list=items_of(urn, dimensions, is_stub=is_stub),
        measures=items_of(urn, measures, is_stub=is_stub),
        attributes=items_of(urn, attributes, is_stub=is_stub),
        groups=items_of(urn, _groups(obj, urn), is_stub=is_stub),
        metadata=reference_from(getattr(obj, "metadata", None)),
        metadata_attribute_usages=tuple(
            _usage_from(component, obj) for component in obj.attributes.components if isinstance(component, usage)
        ),
        descriptors=tuple(_descriptors(obj, urn)),
    )


def _groups(obj: Any, urn: Urn) -> dict[str, Group]:
    return {
        group_dimension.id: Group(
            **identity(group_dimension, urn.with_item("GroupDimensionDescriptor", group_dimension.id)),
            dimensions=tuple(dimension.id for dimension in group_dimension.components),
        )
        for group_dimension in obj.group_dimensions.values()
    }


def _descriptors(obj: Any, urn: Urn) -> list[Identifiable]:
    return [
        Identifiable(urn=urn.with_item(name, name), annotations=annotations_from(getattr(obj, field).annotations))
        for field, name in _LISTS.items()
        if getattr(obj, field).annotations
    ]


def _component(obj: Any, urn: Urn) -> dict[str, Any]:
    return component_from(obj, urn.with_item(our_name(obj), obj.id))


def component_from(obj: Any, urn: Urn) -> dict[str, Any]:
    """Return the arguments of a component."""
    role = reference_from(getattr(obj, "concept_role", None))
    return {
        **identity(obj, urn),
        "concept": reference_from(obj.concept_identity),
        "representation": representation_from(obj.local_representation),
        "concept_roles": () if role is None else (role,),
    }


def _usage_from(obj: Any, structure: Any) -> MetadataAttributeUsage:
    return MetadataAttributeUsage(
        metadata_attribute=obj.metadata_attribute.id,
        relationship=relationship_from(obj.related_to, structure),
        annotations=annotations_from(obj.annotations),
    )
