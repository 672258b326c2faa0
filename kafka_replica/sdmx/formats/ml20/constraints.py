"""Constraints of SDMX-ML 2.0, inside the object they constrain. Source: SDMXCommon.xsd 2.0, ConstraintType."""

from __future__ import annotations

from lxml import etree

from kafka_replica.sdmx.formats.ml.constraints import read_calendar, read_period
from kafka_replica.sdmx.formats.ml.reading.child_elements import first, known, pick, text
from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.formats.ml.reading.values import boolean, text_of
from kafka_replica.sdmx.model import KeySet, MemberSelection, Region, SelectedValue
from kafka_replica.sdmx.model.earlier_editions import ProvisionConstraint


def read_constraint(element: etree._Element, names: Names) -> ProvisionConstraint:
    """Read a <Constraint>. Raises MessageError."""
    rest = known(element, names)
    calendar, period, concepts = (
        first(rest, kind) for kind in ("ReleaseCalendar", "ReferencePeriod", "MetadataConceptSet")
    )
    return ProvisionConstraint(
        id=(text(rest, "ConstraintID") or "").strip() or fail(element, "it has no ConstraintID"),
        kind=element.get("ConstraintType"),
        cube_regions=tuple(
            Region(key_values=_members(cube_region, names), include=_is_included(cube_region))
            for cube_region in pick(rest, "CubeRegion")
        ),
        metadata_concepts=None
        if concepts is None
        else Region(components=_members(concepts, names), include=_is_included(concepts)),
        key_sets=tuple(_key_set(key_set, names) for key_set in pick(rest, "KeySet")),
        release_calendar=None if calendar is None else read_calendar(known(calendar, names)),
        reference_period=None if period is None else read_period(period),
    )


def _is_included(element: etree._Element) -> bool:
    return boolean(element, "isIncluded") is not False


def _members(element: etree._Element, names: Names) -> tuple[MemberSelection, ...]:
    return tuple(_member(member, names) for member in pick(known(element, names), "Member"))


def _member(element: etree._Element, names: Names) -> MemberSelection:
    rest = known(element, names)
    values = [text(known(member_value, names), "Value") for member_value in pick(rest, "MemberValue")]
    return MemberSelection(
        id=(text(rest, "ComponentRef") or "").strip() or fail(element, "it names no component"),
        values=tuple(SelectedValue(value=value) for value in values if value is not None),
        include=_is_included(element),
    )


def _key_set(element: etree._Element, names: Names) -> KeySet:
    keys = [Region(key_values=_key(key, names)) for key in pick(known(element, names), "Key")]
    return KeySet(keys=tuple(keys), is_included=_is_included(element))


def _key(element: etree._Element, names: Names) -> tuple[MemberSelection, ...]:
    """Read a <Key>, in which components and values alternate."""
    found: list[MemberSelection] = []
    component: str | None = None
    for kind, child in known(element, names):
        if kind == "ComponentRef":
            component = text_of(child).strip()
        elif kind == "Value":
            if not component:
                fail(child, "no component precedes it")
            found.append(MemberSelection(id=component, values=(SelectedValue(value=text_of(child)),)))
            component = None
    return tuple(found)
