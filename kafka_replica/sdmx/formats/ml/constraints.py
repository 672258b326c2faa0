"""Constraints of SDMX-ML: content and attachment (2.1), data and metadata (3.x)."""

from __future__ import annotations

from typing import Final

from lxml import etree

from kafka_replica.sdmx.containers import parts_of
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.provisions import read_queryable_data_source, write_queryable_data_source
from kafka_replica.sdmx.formats.ml.reading.child_elements import first, known, pick, text
from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.formats.ml.reading.values import Child, Item, read_annotations, reference, text_of, whole_number
from kafka_replica.sdmx.formats.ml.regions import (
    read_key_set,
    read_region,
    read_set_reference,
    write_key_set,
    write_region,
    write_set_reference,
)
from kafka_replica.sdmx.formats.ml.writing.edition import Edition
from kafka_replica.sdmx.formats.ml.writing.values import artefact, parts
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf
from kafka_replica.sdmx.model import (
    AttachmentConstraint,
    AvailabilityConstraint,
    Constraint,
    ConstraintAttachment,
    ContentConstraint,
    DataConstraint,
    MetadataConstraint,
    ReleaseCalendar,
    SetReference,
)
from kafka_replica.sdmx.urns.urn import Urn

# Reading

_KINDS: Final[dict[str, type[Constraint]]] = {
    "DataConstraint": DataConstraint,
    "MetadataConstraint": MetadataConstraint,
    "ContentConstraint": ContentConstraint,
    "AttachmentConstraint": AttachmentConstraint,
}


def read_constraint(item: Item) -> Constraint:
    """Read a <DataConstraint>, <MetadataConstraint>, <ContentConstraint> or <AttachmentConstraint>."""
    urn, base, rest, names = item.parts
    attached = first(rest, "ConstraintAttachment")
    calendar = first(rest, "ReleaseCalendar")
    period = first(rest, "ReferencePeriod")
    # A stub has no content at all; a constraint without regions need not be a stub.
    is_stub = base["is_external_reference"] and not rest
    return _KINDS[urn.cls](
        urn=urn,
        role=item.element.get("role") or item.element.get("type"),
        attachment=None if attached is None else _read_attachment(attached, names),
        cube_regions=parts_of(
            urn, [read_region(cube_region, names) for cube_region in pick(rest, "CubeRegion")], is_stub=is_stub
        ),
        key_sets=parts_of(
            urn, [read_key_set(data_key_set, names) for data_key_set in pick(rest, "DataKeySet")], is_stub=is_stub
        ),
        metadata_target_regions=parts_of(
            urn,
            [
                read_region(metadata_target_region, names)
                for metadata_target_region in pick(rest, "MetadataTargetRegion")
            ],
            is_stub=is_stub,
        ),
        metadata_key_sets=parts_of(
            urn,
            [read_key_set(metadata_key_set, names) for metadata_key_set in pick(rest, "MetadataKeySet")],
            is_stub=is_stub,
        ),
        release_calendar=None if calendar is None else read_calendar(known(calendar, names)),
        reference_period=None if period is None else read_period(period),
        **base,
    )


def read_calendar(rest: list[Child]) -> ReleaseCalendar:
    """Read the parts of a <ReleaseCalendar>."""
    return ReleaseCalendar(
        periodicity=text(rest, "Periodicity"), offset=text(rest, "Offset"), tolerance=text(rest, "Tolerance")
    )


def read_period(element: etree._Element) -> tuple[str, str]:
    """Return the beginning and end of a <ReferencePeriod>."""
    start, end = element.get("startTime"), element.get("endTime")
    if start is None or end is None:
        fail(element, "a reference period needs startTime and endTime")
    return start, end


def _read_attachment(element: etree._Element, names: Names) -> ConstraintAttachment:
    """Read a <ConstraintAttachment>."""
    references: list[Urn] = []
    sets: dict[str, list[SetReference]] = {"DataSet": [], "MetadataSet": []}
    rest = known(element, names)
    for kind, child in rest:
        if kind in sets and first(known(child, names), "DataProvider") is not None:
            sets[kind].append(read_set_reference(child, names))
        elif kind not in {"SimpleDataSource", "QueryableDataSource"}:
            references.append(reference(child, names, kind))
    return ConstraintAttachment(
        references=tuple(references),
        data_sets=tuple(sets["DataSet"]),
        metadata_sets=tuple(sets["MetadataSet"]),
        simple_data_sources=tuple(text_of(child).strip() for child in pick(rest, "SimpleDataSource")),
        queryable_data_sources=tuple(
            read_queryable_data_source(queryable_data_source, names)
            for queryable_data_source in pick(rest, "QueryableDataSource")
        ),
    )


def read_availability_constraint(element: etree._Element, names: Names) -> AvailabilityConstraint:
    """Read an <AvailabilityConstraint> (3.1)."""
    rest = known(element, names)
    attached, notes = first(rest, "ConstraintAttachment"), first(rest, "Annotations")
    return AvailabilityConstraint(
        attachment=None if attached is None else _read_attachment(attached, names),
        cube_regions=tuple(read_region(cube_region, names) for cube_region in pick(rest, "CubeRegion")),
        series_count=whole_number(element, "seriesCount"),
        obs_count=whole_number(element, "obsCount"),
        annotations=() if notes is None else read_annotations(notes, names),
    )


# Writing


def write_constraint(constraint: Constraint, edition: Edition) -> str:
    """Write a <DataConstraint>, <MetadataConstraint>, <ContentConstraint> or <AttachmentConstraint>."""
    edition.until_3(constraint.reference_period, "the reference period of a constraint")
    edition.until_3(parts(constraint.metadata_key_sets), "key sets of metadata")
    if edition.is_31 and constraint.role is not None:
        raise UnwritableError(f"SDMX-ML 3.1 cannot represent the role {constraint.role!r} of a constraint")
    if edition.is_31 and constraint.release_calendar:
        raise UnwritableError("SDMX-ML 3.1 cannot represent the release calendar of a constraint")
    calendar = _write_calendar(constraint.release_calendar)
    content = [
        "" if constraint.attachment is None else _attachment(constraint.attachment, edition),
        "" if edition.is_21 else calendar,
        *[write_key_set("str:DataKeySet", each, edition) for each in parts(constraint.key_sets)],
        *[write_key_set("str:MetadataKeySet", each, edition) for each in parts(constraint.metadata_key_sets)],
        *[write_region("str:CubeRegion", each, edition) for each in parts(constraint.cube_regions)],
        *[
            write_region("str:MetadataTargetRegion", each, edition)
            for each in parts(constraint.metadata_target_regions)
        ],
        calendar if edition.is_21 else "",
        _write_period(constraint.reference_period),
    ]
    role = {"type" if edition.is_21 else "role": constraint.role}
    return artefact(f"str:{constraint.urn.cls}", constraint, edition, content, **role)


def _write_calendar(release_calendar: ReleaseCalendar | None) -> str:
    if release_calendar is None:
        return ""
    return el(
        "str:ReleaseCalendar",
        leaf("str:Periodicity", release_calendar.periodicity),
        leaf("str:Offset", release_calendar.offset),
        leaf("str:Tolerance", release_calendar.tolerance),
    )


def _write_period(one: tuple[str, str] | None) -> str:
    return "" if one is None else el("str:ReferencePeriod", startTime=one[0], endTime=one[1])


def _attachment(constraint_attachment: ConstraintAttachment, edition: Edition) -> str:
    edition.until_3(
        constraint_attachment.data_sets or constraint_attachment.metadata_sets,
        "data sets that a constraint is attached to",
    )
    if edition.is_31 and (constraint_attachment.simple_data_sources or constraint_attachment.queryable_data_sources):
        raise UnwritableError("SDMX-ML 3.1 cannot represent data sources that a constraint is attached to")
    return el(
        "str:ConstraintAttachment",
        *[edition.ref(f"str:{urn.cls}", urn) for urn in constraint_attachment.references],
        *[el("str:DataSet", write_set_reference(each, edition)) for each in constraint_attachment.data_sets],
        *[el("str:MetadataSet", write_set_reference(each, edition)) for each in constraint_attachment.metadata_sets],
        *[leaf("str:SimpleDataSource", each) for each in constraint_attachment.simple_data_sources],
        *[
            write_queryable_data_source("str:QueryableDataSource", each)
            for each in constraint_attachment.queryable_data_sources
        ],
    )
