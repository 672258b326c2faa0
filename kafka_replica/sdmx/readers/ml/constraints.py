"""Constraints of SDMX-ML: content and attachment (2.1), data and metadata (3.x)."""

from __future__ import annotations

from typing import Final

from lxml import etree

from kafka_replica.sdmx.containers import parts_of
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
from kafka_replica.sdmx.readers.ml.parts import first, known, pick, text
from kafka_replica.sdmx.readers.ml.provisions import queryable_data_source
from kafka_replica.sdmx.readers.ml.regions import key_set, region, set_reference
from kafka_replica.sdmx.readers.ml.tree import Names, fail
from kafka_replica.sdmx.readers.ml.values import Child, Item, annotations_of, reference, text_of, whole_number
from kafka_replica.sdmx.urn import Urn

_KINDS: Final[dict[str, type[Constraint]]] = {
    "DataConstraint": DataConstraint,
    "MetadataConstraint": MetadataConstraint,
    "ContentConstraint": ContentConstraint,
    "AttachmentConstraint": AttachmentConstraint,
}


def constraint(item: Item) -> Constraint:
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
        attachment=None if attached is None else attachment(attached, names),
        cube_regions=parts_of(urn, [region(one, names) for one in pick(rest, "CubeRegion")], is_stub=is_stub),
        key_sets=parts_of(urn, [key_set(one, names) for one in pick(rest, "DataKeySet")], is_stub=is_stub),
        metadata_target_regions=parts_of(
            urn, [region(one, names) for one in pick(rest, "MetadataTargetRegion")], is_stub=is_stub
        ),
        metadata_key_sets=parts_of(urn, [key_set(one, names) for one in pick(rest, "MetadataKeySet")], is_stub=is_stub),
        release_calendar=None if calendar is None else _calendar(known(calendar, names)),
        reference_period=None if period is None else _period(period),
        **base,
    )


def _calendar(rest: list[Child]) -> ReleaseCalendar:
    return ReleaseCalendar(
        periodicity=text(rest, "Periodicity"), offset=text(rest, "Offset"), tolerance=text(rest, "Tolerance")
    )


def _period(element: etree._Element) -> tuple[str, str]:
    start, end = element.get("startTime"), element.get("endTime")
    if start is None or end is None:
        fail(element, "a reference period needs startTime and endTime")
    return start, end


def attachment(element: etree._Element, names: Names) -> ConstraintAttachment:
    """Read a <ConstraintAttachment>."""
    references: list[Urn] = []
    sets: dict[str, list[SetReference]] = {"DataSet": [], "MetadataSet": []}
    rest = known(element, names)
    for kind, child in rest:
        if kind in sets and first(known(child, names), "DataProvider") is not None:
            sets[kind].append(set_reference(child, names))
        elif kind not in {"SimpleDataSource", "QueryableDataSource"}:
            references.append(reference(child, names, kind))
    return ConstraintAttachment(
        references=tuple(references),
        data_sets=tuple(sets["DataSet"]),
        metadata_sets=tuple(sets["MetadataSet"]),
        simple_data_sources=tuple(text_of(child).strip() for child in pick(rest, "SimpleDataSource")),
        queryable_data_sources=tuple(queryable_data_source(one, names) for one in pick(rest, "QueryableDataSource")),
    )


def availability_constraint(element: etree._Element, names: Names) -> AvailabilityConstraint:
    """Read an <AvailabilityConstraint> (3.1)."""
    rest = known(element, names)
    attached, notes = first(rest, "ConstraintAttachment"), first(rest, "Annotations")
    return AvailabilityConstraint(
        attachment=None if attached is None else attachment(attached, names),
        cube_regions=tuple(region(one, names) for one in pick(rest, "CubeRegion")),
        series_count=whole_number(element, "seriesCount"),
        obs_count=whole_number(element, "obsCount"),
        annotations=() if notes is None else annotations_of(notes, names),
    )
