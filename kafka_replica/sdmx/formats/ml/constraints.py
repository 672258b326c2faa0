"""Constraints of SDMX-ML: content and attachment (2.1), data and metadata (3.x)."""

from __future__ import annotations

from typing import Final

from lxml import etree

from kafka_replica.sdmx.containers import parts_of
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.provisions import read_queryable_data_source, write_queryable_data_source
from kafka_replica.sdmx.formats.ml.reading.parts import first, known, pick, text
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
        cube_regions=parts_of(urn, [read_region(one, names) for one in pick(rest, "CubeRegion")], is_stub=is_stub),
        key_sets=parts_of(urn, [read_key_set(one, names) for one in pick(rest, "DataKeySet")], is_stub=is_stub),
        metadata_target_regions=parts_of(
            urn, [read_region(one, names) for one in pick(rest, "MetadataTargetRegion")], is_stub=is_stub
        ),
        metadata_key_sets=parts_of(
            urn, [read_key_set(one, names) for one in pick(rest, "MetadataKeySet")], is_stub=is_stub
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
            read_queryable_data_source(one, names) for one in pick(rest, "QueryableDataSource")
        ),
    )


def read_availability_constraint(element: etree._Element, names: Names) -> AvailabilityConstraint:
    """Read an <AvailabilityConstraint> (3.1)."""
    rest = known(element, names)
    attached, notes = first(rest, "ConstraintAttachment"), first(rest, "Annotations")
    return AvailabilityConstraint(
        attachment=None if attached is None else _read_attachment(attached, names),
        cube_regions=tuple(read_region(one, names) for one in pick(rest, "CubeRegion")),
        series_count=whole_number(element, "seriesCount"),
        obs_count=whole_number(element, "obsCount"),
        annotations=() if notes is None else read_annotations(notes, names),
    )


# Writing


def write_constraint(one: Constraint, edition: Edition) -> str:
    """Write a <DataConstraint>, <MetadataConstraint>, <ContentConstraint> or <AttachmentConstraint>."""
    edition.until_3(one.reference_period, "the reference period of a constraint")
    edition.until_3(parts(one.metadata_key_sets), "key sets of metadata")
    if edition.is_31 and one.role is not None:
        raise UnwritableError(f"SDMX-ML 3.1 cannot represent the role {one.role!r} of a constraint")
    if edition.is_31 and one.release_calendar:
        raise UnwritableError("SDMX-ML 3.1 cannot represent the release calendar of a constraint")
    calendar = _write_calendar(one.release_calendar)
    content = [
        "" if one.attachment is None else _attachment(one.attachment, edition),
        "" if edition.is_21 else calendar,
        *[write_key_set("str:DataKeySet", each, edition) for each in parts(one.key_sets)],
        *[write_key_set("str:MetadataKeySet", each, edition) for each in parts(one.metadata_key_sets)],
        *[write_region("str:CubeRegion", each, edition) for each in parts(one.cube_regions)],
        *[write_region("str:MetadataTargetRegion", each, edition) for each in parts(one.metadata_target_regions)],
        calendar if edition.is_21 else "",
        _write_period(one.reference_period),
    ]
    role = {"type" if edition.is_21 else "role": one.role}
    return artefact(f"str:{one.urn.cls}", one, edition, content, **role)


def _write_calendar(one: ReleaseCalendar | None) -> str:
    if one is None:
        return ""
    return el(
        "str:ReleaseCalendar",
        leaf("str:Periodicity", one.periodicity),
        leaf("str:Offset", one.offset),
        leaf("str:Tolerance", one.tolerance),
    )


def _write_period(one: tuple[str, str] | None) -> str:
    return "" if one is None else el("str:ReferencePeriod", startTime=one[0], endTime=one[1])


def _attachment(one: ConstraintAttachment, edition: Edition) -> str:
    edition.until_3(one.data_sets or one.metadata_sets, "data sets that a constraint is attached to")
    if edition.is_31 and (one.simple_data_sources or one.queryable_data_sources):
        raise UnwritableError("SDMX-ML 3.1 cannot represent data sources that a constraint is attached to")
    return el(
        "str:ConstraintAttachment",
        *[edition.ref(f"str:{urn.cls}", urn) for urn in one.references],
        *[el("str:DataSet", write_set_reference(each, edition)) for each in one.data_sets],
        *[el("str:MetadataSet", write_set_reference(each, edition)) for each in one.metadata_sets],
        *[leaf("str:SimpleDataSource", each) for each in one.simple_data_sources],
        *[write_queryable_data_source("str:QueryableDataSource", each) for each in one.queryable_data_sources],
    )
