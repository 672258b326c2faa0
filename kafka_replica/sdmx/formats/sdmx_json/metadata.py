"""Metadata structures and metadataflows of SDMX-JSON."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.sdmx.containers import Items, items_of, stored_items, stored_parts
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.json_shared.items import item_urn, read_items
from kafka_replica.sdmx.formats.json_shared.values import (
    Json,
    obj,
    occurs,
    read_reference,
    read_references,
    true,
    write_urn,
)
from kafka_replica.sdmx.formats.sdmx_json.data_structures.writing import write_component, write_components
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.items import is_stub, local_id, parts, written_id
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.formats.sdmx_json.values.wire import (
    Wire,
    WireIdentifiable,
    WireMaintainable,
    WireRepresentation,
)
from kafka_replica.sdmx.formats.sdmx_json.values.writing import (
    write_annotated,
    write_identified,
    write_maintained,
    write_representation,
)
from kafka_replica.sdmx.model import (
    Identifiable,
    MetadataAttribute,
    Metadataflow,
    MetadataStructure,
    MetadataTarget,
    ReportStructure,
    TargetObject,
)
from kafka_replica.sdmx.urns.urn import Urn


class WireMetadataAttribute(WireIdentifiable, gc=False):
    """A metadata attribute."""

    concept_identity: str | None = None
    concept_roles: list[str] | None = None
    local_representation: WireRepresentation | None = None
    min_occurs: int | None = None
    max_occurs: int | str | None = None
    is_presentational: bool | None = None
    metadata_attributes: list[WireMetadataAttribute] | None = None


class WireAttributeList(WireIdentifiable, gc=False):
    """The metadata attributes (2.x)."""

    metadata_attributes: list[WireMetadataAttribute] | None = None


class WireTargetObject(WireIdentifiable, gc=False):
    """A part of a metadata target (1.0)."""

    local_representation: WireRepresentation | None = None
    object_type: str | None = None


class WireMetadataTarget(WireIdentifiable, gc=False):
    """A metadata target (1.0)."""

    key_descriptor_values_targets: list[WireTargetObject] | None = None
    data_set_targets: list[WireTargetObject] | None = None
    report_period_targets: list[WireTargetObject] | None = None
    identifiable_object_targets: list[WireTargetObject] | None = None
    constraint_content_targets: list[WireTargetObject] | None = None


class WireReportStructure(WireIdentifiable, gc=False):
    """A report structure (1.0)."""

    metadata_attributes: list[WireMetadataAttribute] | None = None
    metadata_targets: list[str] | None = None


class WireMetadataComponents(Wire, gc=False):
    """All components."""

    metadata_attribute_list: WireAttributeList | None = None
    metadata_targets: list[WireMetadataTarget] | None = None
    report_structures: list[WireReportStructure] | None = None


class WireMetadataStructure(WireMaintainable, gc=False):
    """A metadata structure."""

    metadata_structure_components: WireMetadataComponents | None = None


class WireMetadataflow(WireMaintainable, gc=False):
    """A metadataflow."""

    structure: str | None = None
    targets: list[str] | None = None


_TARGET_OBJECTS: Final = (
    ("DimensionDescriptorValuesTarget", "key_descriptor_values_targets", "DIMENSION_DESCRIPTOR_VALUES_TARGET"),
    ("DataSetTarget", "data_set_targets", "DATA_SET_TARGET"),
    ("ReportPeriodTarget", "report_period_targets", "REPORT_PERIOD_TARGET"),
    ("IdentifiableObjectTarget", "identifiable_object_targets", None),
    ("ConstraintTarget", "constraint_content_targets", "CONSTRAINT_CONTENT_TARGET"),
)
"""Class, list, and the id that the schemas of 2.1 fix."""


def read_metadataflow(urn: Urn, wire: WireMetadataflow, context: Context) -> Metadataflow:
    """Build a Metadataflow."""
    return Metadataflow(
        urn=urn,
        structure_reference=read_reference(wire.structure, urn),
        targets=parts(urn, wire, wire.targets or ()),
        **context.maintained(wire),
    )


def read_metadata_structure(urn: Urn, wire: WireMetadataStructure, context: Context) -> MetadataStructure:
    """Build a MetadataStructure."""
    written = wire.metadata_structure_components or WireMetadataComponents()
    maker = _Maker(urn, context)
    attributes = written.metadata_attribute_list or WireAttributeList()
    annotated = context.annotated(attributes)
    descriptor_id = attributes.id or "MetadataAttributeDescriptor"
    missing = is_stub(wire)
    found = maker.attributes(attributes.metadata_attributes, None)
    return MetadataStructure(
        urn=urn,
        metadata_attributes=items_of(urn, found, is_stub=missing),
        metadata_targets=items_of(
            urn, read_items(urn, "MetadataTarget", written.metadata_targets, maker.target), is_stub=missing
        ),
        report_structures=items_of(
            urn, read_items(urn, "ReportStructure", written.report_structures, maker.report), is_stub=missing
        ),
        descriptors=(
            (Identifiable(urn=item_urn(urn, "MetadataAttributeDescriptor", descriptor_id, {}), **annotated),)
            if annotated
            else ()
        ),
        **context.maintained(wire),
    )


class _Maker:
    """A builder for the parts of one metadata structure."""

    def __init__(self, urn: Urn, context: Context) -> None:
        self.urn, self.context = urn, context

    def attributes(self, wires: list[WireMetadataAttribute] | None, inside: str | None) -> dict[str, MetadataAttribute]:
        for wire in wires or ():
            # As in components of data structures, the id of the concept replaces a missing id.
            if wire.id is None and wire.concept_identity is not None:
                concept = read_reference(wire.concept_identity, self.urn)
                wire.id = concept.item if concept else None
        return read_items(self.urn, "MetadataAttribute", wires, self._attribute, inside)

    def _attribute(self, own: Urn, wire: WireMetadataAttribute) -> MetadataAttribute:
        return MetadataAttribute(
            urn=own,
            concept=read_reference(wire.concept_identity, own),
            concept_roles=read_references(wire.concept_roles, own),
            representation=self.context.representation(wire.local_representation, own),
            min_occurs=wire.min_occurs,
            max_occurs=occurs(wire.max_occurs, own),
            is_presentational=bool(wire.is_presentational),
            metadata_attributes=Items(self.attributes(wire.metadata_attributes, own.item)),
            **self.context.annotated(wire),
        )

    def target(self, own: Urn, wire: WireMetadataTarget) -> MetadataTarget:
        found: dict[str, TargetObject] = {}
        for class_, field, fixed in _TARGET_OBJECTS:
            for one in getattr(wire, field) or ():
                one_urn = item_urn(self.urn, class_, f"{own.item}.{one.id or fixed or ''}", {})
                found[one_urn.item.rpartition(".")[2] if one_urn.item else ""] = self._target_object(one_urn, one)
        return MetadataTarget(urn=own, target_objects=Items(found), **self.context.annotated(wire))

    def _target_object(self, own: Urn, wire: WireTargetObject) -> TargetObject:
        arguments: dict[str, Any] = self.context.annotated(wire)
        return TargetObject(
            urn=own,
            representation=self.context.representation(wire.local_representation, own),
            object_type=wire.object_type,
            **arguments,
        )

    def report(self, own: Urn, wire: WireReportStructure) -> ReportStructure:
        return ReportStructure(
            urn=own,
            metadata_attributes=Items(self.attributes(wire.metadata_attributes, own.item)),
            metadata_targets=tuple(local_id(metadata_target) for metadata_target in wire.metadata_targets or ()),
            **self.context.annotated(wire),
        )


_TARGET_LISTS: Final = {
    "DimensionDescriptorValuesTarget": "keyDescriptorValuesTargets",
    "DataSetTarget": "dataSetTargets",
    "ReportPeriodTarget": "reportPeriodTargets",
    "IdentifiableObjectTarget": "identifiableObjectTargets",
    "ConstraintTarget": "constraintContentTargets",
}


def write_metadataflow(metadataflow: Metadataflow, edition: Edition) -> Json:
    """Write a metadataflow."""
    edition.since_2(stored_parts(metadataflow.targets), "the targets of a metadataflow")
    return obj(
        write_maintained(metadataflow, edition),
        structure=write_urn(metadataflow.structure_reference),
        targets=stored_parts(metadataflow.targets),
    )


def write_metadata_structure(metadata_structure: MetadataStructure, edition: Edition) -> Json:
    """Write a metadata structure."""
    if metadata_structure.metadata_attributes.is_stub:
        return write_maintained(metadata_structure, edition)
    edition.since_2(
        metadata_structure.metadata_attributes or metadata_structure.descriptors,
        "metadata attributes outside of report structures",
    )
    edition.until_2(
        metadata_structure.metadata_targets or metadata_structure.report_structures,
        "metadata targets and report structures",
    )
    attributes = obj(
        metadataAttributes=[
            _write_metadata_attribute(each, edition) for each in stored_items(metadata_structure.metadata_attributes)
        ]
    )
    lists = {each.urn.cls: each for each in metadata_structure.descriptors}
    content = obj(
        metadataAttributeList=write_components(lists, "MetadataAttributeDescriptor", attributes, edition),
        metadataTargets=[_write_target(each, edition) for each in stored_items(metadata_structure.metadata_targets)],
        reportStructures=[
            _write_report(each, metadata_structure.urn, edition)
            for each in stored_items(metadata_structure.report_structures)
        ],
    )
    return obj(write_maintained(metadata_structure, edition), metadataStructureComponents=content or None)


def _write_metadata_attribute(metadata_attribute: MetadataAttribute, edition: Edition) -> Json:
    return obj(
        write_component(metadata_attribute, edition),
        minOccurs=metadata_attribute.min_occurs,
        maxOccurs=metadata_attribute.max_occurs,
        isPresentational=true(metadata_attribute.is_presentational),
        metadataAttributes=[
            _write_metadata_attribute(each, edition) for each in metadata_attribute.metadata_attributes.values()
        ],
    )


def _write_target(metadata_target: MetadataTarget, edition: Edition) -> Json:
    found: dict[str, Any] = {}
    for each in metadata_target.target_objects.values():
        if each.urn.cls not in _TARGET_LISTS:
            raise UnwritableError(f"{each.urn} is not part of a metadata target")
        local = write_representation(each.representation, edition, is_of_target=True)
        written = obj(write_identified(each, edition), localRepresentation=local, objectType=each.object_type)
        found.setdefault(_TARGET_LISTS[each.urn.cls], []).append(written)
    return write_identified(metadata_target, edition) | found


def _write_report(report_structure: ReportStructure, structure: Urn, edition: Edition) -> Json:
    return obj(
        write_identified(report_structure, edition),
        write_annotated(report_structure, edition),
        metadataAttributes=[
            _write_metadata_attribute(each, edition) for each in report_structure.metadata_attributes.values()
        ],
        metadataTargets=[
            written_id(structure, "MetadataTarget", each, edition) for each in report_structure.metadata_targets
        ],
    )
