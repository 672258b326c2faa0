"""The view of constraints, with a row for each selected or excluded value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from kafka_replica.sdmx import Structures
from kafka_replica.sdmx.model import Artefact, Constraint, MemberSelection, Region, SelectedValue, TimeRange
from kafka_replica_spark.tables.view import FLAG, NUMBER, TEXT, TEXTS, Report, View, identifying_values, schema

_NO_RANGE: Final = (None, None, None, None)


def _constraints(structures: Structures, artefact: Artefact, report: Report) -> Iterator[tuple[Any, ...]]:
    del structures, report
    if not isinstance(artefact, Constraint):
        return
    attached = () if artefact.attachment is None else artefact.attachment.references
    own = (*identifying_values(artefact), artefact.urn.cls, artefact.role, [str(urn) for urn in attached])
    for part, number, key, included, region in _regions(artefact):
        for selection in (*region.key_values, *region.components):
            for values in _values(selection, region):
                yield (
                    *own,
                    part,
                    number,
                    key,
                    included,
                    selection.id,
                    selection.include,
                    selection.remove_prefix,
                    *values,
                )


def _regions(found: Constraint) -> Iterator[tuple[str, int, int | None, bool, Region]]:
    """Yield the regions and keys: the kind, the numbers of region or key set and of the key, and whether included."""
    for part, regions in (("CubeRegion", found.cube_regions), ("TargetRegion", found.metadata_target_regions)):
        for number, region in enumerate(regions, start=1):
            yield part, number, None, region.include, region
    for part, sets in (("DataKeySet", found.key_sets), ("MetadataKeySet", found.metadata_key_sets)):
        for number, keys in enumerate(sets, start=1):
            for key, region in enumerate(keys.keys, start=1):
                yield part, number, key, keys.is_included, region


def _values(selection: MemberSelection, region: Region) -> Iterator[tuple[Any, ...]]:
    """Yield the value, cascade, language, time bounds and validity of each value; the most specific validity wins."""
    given = selection.values or (None,)
    for value in given:
        range_ = selection.time_range if value is None else None
        valid_from, valid_to = _validity(value, range_, selection, region)
        columns = (None, None, None) if value is None else (value.value, value.cascade_values, value.language)
        yield (*columns, *_range(range_), valid_from, valid_to)


def _validity(
    *places: SelectedValue | TimeRange | MemberSelection | Region | None,
) -> tuple[str | None, str | None]:
    there = [place for place in places if place is not None]
    return (
        next((one.valid_from for one in there if one.valid_from is not None), None),
        next((one.valid_to for one in there if one.valid_to is not None), None),
    )


def _range(found: TimeRange | None) -> tuple[Any, ...]:
    if found is None:
        return _NO_RANGE
    start, end = found.start or found.after, found.end or found.before
    return (
        None if start is None else start.period,
        None if start is None else start.is_inclusive,
        None if end is None else end.period,
        None if end is None else end.is_inclusive,
    )


CONSTRAINTS: Final = View(
    "constraints",
    ("DataConstraint", "ContentConstraint", "MetadataConstraint", "AttachmentConstraint"),
    schema(
        "constraint",
        ("class", TEXT),
        ("role", TEXT),
        ("attached_to", TEXTS),
        ("part", TEXT),
        ("part_number", NUMBER),
        ("key_number", NUMBER),
        ("included", FLAG),
        ("component", TEXT),
        ("component_included", FLAG),
        ("remove_prefix", FLAG),
        ("value", TEXT),
        ("cascade_values", TEXT),
        ("language", TEXT),
        ("start_period", TEXT),
        ("start_inclusive", FLAG),
        ("end_period", TEXT),
        ("end_inclusive", FLAG),
        ("valid_from", TEXT),
        ("valid_to", TEXT),
    ),
    _constraints,
)
