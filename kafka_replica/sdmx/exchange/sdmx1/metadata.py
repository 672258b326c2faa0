"""Metadata structures, of 3.0 with attributes, of 2.1 with targets and reports, in both directions."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.containers import Items, items_of
from kafka_replica.sdmx.exchange.sdmx1.data_structures import component_from, component_to
from kafka_replica.sdmx.exchange.sdmx1.library import sdmx1
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
    urn_of,
)
from kafka_replica.sdmx.model import (
    Identifiable,
    MetadataAttribute,
    MetadataStructure,
    MetadataTarget,
    ReportStructure,
    TargetObject,
)
from kafka_replica.sdmx.urns.urn import Urn

_LIST = "MetadataAttributeDescriptor"


def metadata_structure_to(artefact: MetadataStructure, edition: Edition) -> Any:
    """Convert a metadata structure definition: attributes (3.0), or targets and reports (2.1)."""
    made = class_named("MetadataStructure", edition)(**maintained(artefact))
    if artefact.metadata_attributes.is_stub:
        return made
    if edition == "3.0":
        made.attributes.id = _LIST
        made.attributes.components = [
            _attribute_to(metadata_attribute, edition) for metadata_attribute in artefact.metadata_attributes.values()
        ]
        for descriptor in artefact.descriptors:
            made.attributes.annotations = annotations_to(descriptor.annotations)
        return made
    v21 = sdmx1().v21
    for target in artefact.metadata_targets.values():
        objects = [_target_to(target_object) for target_object in target.target_objects.values()]
        made.target[target.id] = v21.MetadataTarget(**identified(target), components=objects)
    for report in artefact.report_structures.values():
        made.report_structure[report.id] = v21.ReportStructure(
            **identified(report),
            components=[
                _attribute_to(metadata_attribute, edition) for metadata_attribute in report.metadata_attributes.values()
            ],
            report_for=[made.target[id_] for id_ in report.metadata_targets if id_ in made.target],
        )
    return made


def _attribute_to(metadata_attribute: MetadataAttribute, edition: Edition) -> Any:
    made = component_to(
        metadata_attribute,
        edition,
        is_presentational=metadata_attribute.is_presentational,
        min_occurs=metadata_attribute.min_occurs,
        max_occurs=metadata_attribute.max_occurs,
    )
    for child in metadata_attribute.metadata_attributes.values():
        below = _attribute_to(child, edition)
        below.parent = made
        made.child.append(below)
    return made


def _target_to(target_object: TargetObject) -> Any:
    made = class_named(target_object.urn.cls, "2.1")
    made = (made or sdmx1().v21.TargetObject)(**identified(target_object))
    made.local_representation = representation_to(target_object.representation, "2.1")
    if target_object.object_type is not None and hasattr(made, "object_type"):
        made.object_type = class_named(target_object.object_type, "2.1")
    return made


def metadata_structure_from(obj: Any) -> MetadataStructure:
    """Build a metadata structure."""
    urn = urn_of(obj)
    base = maintenance(obj, urn)
    if isinstance(obj, sdmx1().v30.MetadataStructureDefinition):
        found = _attributes_from(obj.attributes.components, urn, "")
        notes = obj.attributes.annotations
        listed = Identifiable(urn=urn.with_item(_LIST, _LIST), annotations=annotations_from(notes))
        return MetadataStructure(
            **base,
            metadata_attributes=items_of(urn, found, is_stub=base["is_external_reference"]),
            descriptors=(listed,) if notes else (),
        )
    targets = {target.id: _metadata_target(target, urn) for target in obj.target.values()}
    reports = {
        report_structure.id: _report(report_structure, urn) for report_structure in obj.report_structure.values()
    }
    is_stub = base["is_external_reference"] and not targets and not reports
    return MetadataStructure(
        **base,
        metadata_attributes=items_of(urn, {}, is_stub=is_stub),
        metadata_targets=items_of(urn, targets, is_stub=is_stub),
        report_structures=items_of(urn, reports, is_stub=is_stub),
    )


def _attributes_from(found: list[Any], urn: Urn, above: str) -> dict[str, MetadataAttribute]:
    made = {}
    for one in found:
        if not above and one.parent is not None:
            continue
        path = f"{above}{one.id}"
        made[one.id] = MetadataAttribute(
            **component_from(one, urn.with_item("MetadataAttribute", path)),
            min_occurs=one.min_occurs,
            max_occurs=one.max_occurs,
            is_presentational=bool(one.is_presentational),
            metadata_attributes=Items(_attributes_from(one.child, urn, f"{path}.")),
        )
    return made


def _metadata_target(obj: Any, urn: Urn) -> MetadataTarget:
    objects = {component.id: _target_from(component, urn, f"{obj.id}.{component.id}") for component in obj.components}
    return MetadataTarget(**identity(obj, urn.with_item("MetadataTarget", obj.id)), target_objects=Items(objects))


def _target_from(obj: Any, urn: Urn, path: str) -> TargetObject:
    kind = getattr(obj, "object_type", None)
    return TargetObject(
        **identity(obj, urn.with_item(our_name(obj), path)),
        representation=representation_from(obj.local_representation),
        object_type=None if kind is None else our_name(kind()),
    )


def _report(obj: Any, urn: Urn) -> ReportStructure:
    # The paths of the report's attributes begin with the report.
    tops = [component for component in obj.components if component.parent is None]
    return ReportStructure(
        **identity(obj, urn.with_item("ReportStructure", obj.id)),
        metadata_attributes=Items(_attributes_from(tops, urn, f"{obj.id}.")),
        metadata_targets=tuple(report_for.id for report_for in obj.report_for),
    )
