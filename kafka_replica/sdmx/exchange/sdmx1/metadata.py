"""Metadata structures, of 3.0 with attributes, of 2.1 with targets and reports, in both directions."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.containers import Items, items_of
from kafka_replica.sdmx.exchange.sdmx1.basics import (
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
from kafka_replica.sdmx.exchange.sdmx1.library import sdmx1
from kafka_replica.sdmx.exchange.sdmx1.representations import representation_from, representation_to
from kafka_replica.sdmx.exchange.sdmx1.structures import component_from, component_to
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
        made.attributes.components = [_attribute_to(one, edition) for one in artefact.metadata_attributes.values()]
        for one in artefact.descriptors:
            made.attributes.annotations = annotations_to(one.annotations)
        return made
    v21 = sdmx1().v21
    for target in artefact.metadata_targets.values():
        objects = [_target_to(one) for one in target.target_objects.values()]
        made.target[target.id] = v21.MetadataTarget(**identified(target), components=objects)
    for report in artefact.report_structures.values():
        made.report_structure[report.id] = v21.ReportStructure(
            **identified(report),
            components=[_attribute_to(one, edition) for one in report.metadata_attributes.values()],
            report_for=[made.target[id_] for id_ in report.metadata_targets if id_ in made.target],
        )
    return made


def _attribute_to(one: MetadataAttribute, edition: Edition) -> Any:
    made = component_to(
        one,
        edition,
        is_presentational=one.is_presentational,
        min_occurs=one.min_occurs,
        max_occurs=one.max_occurs,
    )
    for child in one.metadata_attributes.values():
        below = _attribute_to(child, edition)
        below.parent = made
        made.child.append(below)
    return made


def _target_to(one: TargetObject) -> Any:
    made = class_named(one.urn.cls, "2.1")
    made = (made or sdmx1().v21.TargetObject)(**identified(one))
    made.local_representation = representation_to(one.representation, "2.1")
    if one.object_type is not None and hasattr(made, "object_type"):
        made.object_type = class_named(one.object_type, "2.1")
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
    targets = {one.id: _metadata_target(one, urn) for one in obj.target.values()}
    reports = {one.id: _report(one, urn) for one in obj.report_structure.values()}
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
    objects = {one.id: _target_from(one, urn, f"{obj.id}.{one.id}") for one in obj.components}
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
    tops = [one for one in obj.components if one.parent is None]
    return ReportStructure(
        **identity(obj, urn.with_item("ReportStructure", obj.id)),
        metadata_attributes=Items(_attributes_from(tops, urn, f"{obj.id}.")),
        metadata_targets=tuple(one.id for one in obj.report_for),
    )
