"""Regions and keys: the contents of the constraints of SDMX-ML."""

from __future__ import annotations

from lxml import etree

from kafka_replica.sdmx.model import (
    KeySet,
    MemberSelection,
    PeriodBound,
    Region,
    SelectedValue,
    SetReference,
    TimeRange,
)
from kafka_replica.sdmx.readers.ml.parts import first, known, pick, ref, text
from kafka_replica.sdmx.readers.ml.tree import Names, fail
from kafka_replica.sdmx.readers.ml.values import XML_LANG, Child, annotations_of, boolean, reference, text_of


def key_set(element: etree._Element, names: Names) -> KeySet:
    """Read a <DataKeySet> or <MetadataKeySet>."""
    keys = tuple(region(child, names) for child in pick(known(element, names), "Key"))
    return KeySet(keys=keys, is_included=boolean(element, "isIncluded") is not False)


def region(element: etree._Element, names: Names) -> Region:
    """Read a <CubeRegion>, <MetadataTargetRegion>, or a <Key> of a set; attributes are Attribute in 2.1."""
    rest = known(element, names)
    notes = first(rest, "Annotations")
    return Region(
        key_values=tuple(_selection(child, names) for child in pick(rest, "KeyValue")),
        components=tuple(_selection(child, names) for child in pick(rest, "Component", "Attribute")),
        include=boolean(element, "include") is not False,
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
        annotations=() if notes is None else annotations_of(notes, names),
        report=element.get("report"),
        metadata_target=element.get("metadataTarget"),
    )


def _selection(element: etree._Element, names: Names) -> MemberSelection:
    id_ = element.get("id")
    if id_ is None:
        fail(element, "it has no id")
    rest = known(element, names)
    range_ = first(rest, "TimeRange")
    return MemberSelection(
        id=id_,
        values=tuple(_value(child) for child in pick(rest, "Value")),
        time_range=None if range_ is None else _time_range(range_, known(range_, names)),
        include=boolean(element, "include") is not False,
        remove_prefix=boolean(element, "removePrefix"),
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
        data_sets=tuple(set_reference(child, names) for child in pick(rest, "DataSet")),
        data_keys=tuple(region(child, names) for child in pick(rest, "DataKey")),
        objects=tuple(reference(child, names, "Dataflow") for child in pick(rest, "Object")),
    )


def _value(element: etree._Element) -> SelectedValue:
    return SelectedValue(
        value=text_of(element),
        cascade_values=_cascade(element),
        language=element.get(XML_LANG),
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
    )


def _cascade(element: etree._Element) -> str | None:
    """Return cascadeValues, with 1 and 0 as true and false; false is the schemas' default."""
    written = element.get("cascadeValues", "false").strip().lower()
    found = {"true": "true", "1": "true", "false": "", "0": "", "excluderoot": "excluderoot"}.get(written)
    if found is None:
        fail(element, f"cascadeValues={written[:80]!r} is none of true, false and excluderoot")
    return found or None


def _time_range(element: etree._Element, rest: list[Child]) -> TimeRange:
    return TimeRange(
        before=_bound(rest, "BeforePeriod"),
        after=_bound(rest, "AfterPeriod"),
        start=_bound(rest, "StartPeriod"),
        end=_bound(rest, "EndPeriod"),
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
    )


def _bound(rest: list[Child], kind: str) -> PeriodBound | None:
    element = first(rest, kind)
    if element is None:
        return None
    return PeriodBound(period=text_of(element).strip(), is_inclusive=boolean(element, "isInclusive") is not False)


def set_reference(element: etree._Element, names: Names) -> SetReference:
    """Read a reference to a data set or metadata set of 2.1: its provider, and its id there."""
    rest = known(element, names)
    provider, id_ = ref(rest, "DataProvider", names), text(rest, "ID")
    if provider is None or id_ is None:
        fail(element, "a reference to a set needs its provider and its ID")
    return SetReference(provider=provider, id=id_.strip())
