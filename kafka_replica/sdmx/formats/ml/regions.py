"""Regions and keys: the contents of the constraints of SDMX-ML, and of the targets of metadata reports.

Their namespace is the common one in 2.1 only.
"""

from __future__ import annotations

from lxml import etree

from kafka_replica.sdmx.formats.ml.reading.child_elements import first, known, pick, ref, text
from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.formats.ml.reading.values import (
    XML_LANG,
    Child,
    boolean,
    cascade_of,
    read_annotations,
    reference,
    text_of,
)
from kafka_replica.sdmx.formats.ml.writing.edition import Edition
from kafka_replica.sdmx.formats.ml.writing.values import write_annotations
from kafka_replica.sdmx.formats.ml.writing.xml import el, escaped_attribute, escaped_text, flag, leaf
from kafka_replica.sdmx.model import (
    KeySet,
    MemberSelection,
    PeriodBound,
    Region,
    SelectedValue,
    SetReference,
    TimeRange,
)

# Reading


def read_key_set(element: etree._Element, names: Names) -> KeySet:
    """Read a <DataKeySet> or <MetadataKeySet>."""
    keys = tuple(read_region(child, names) for child in pick(known(element, names), "Key"))
    return KeySet(keys=keys, is_included=boolean(element, "isIncluded") is not False)


def read_region(element: etree._Element, names: Names) -> Region:
    """Read a <CubeRegion>, <MetadataTargetRegion>, or a <Key> of a set; attributes are Attribute in 2.1."""
    rest = known(element, names)
    notes = first(rest, "Annotations")
    return Region(
        key_values=tuple(_read_selection(child, names) for child in pick(rest, "KeyValue")),
        components=tuple(_read_selection(child, names) for child in pick(rest, "Component", "Attribute")),
        include=boolean(element, "include") is not False,
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
        annotations=() if notes is None else read_annotations(notes, names),
        report=element.get("report"),
        metadata_target=element.get("metadataTarget"),
    )


def _read_selection(element: etree._Element, names: Names) -> MemberSelection:
    id_ = element.get("id")
    if id_ is None:
        fail(element, "it has no id")
    rest = known(element, names)
    range_ = first(rest, "TimeRange")
    return MemberSelection(
        id=id_,
        values=tuple(_read_value(child) for child in pick(rest, "Value")),
        time_range=None if range_ is None else _read_time_range(range_, known(range_, names)),
        include=boolean(element, "include") is not False,
        remove_prefix=boolean(element, "removePrefix"),
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
        data_sets=tuple(read_set_reference(child, names) for child in pick(rest, "DataSet")),
        data_keys=tuple(read_region(child, names) for child in pick(rest, "DataKey")),
        objects=tuple(reference(child, names, "Dataflow") for child in pick(rest, "Object")),
    )


def _read_value(element: etree._Element) -> SelectedValue:
    return SelectedValue(
        value=text_of(element),
        cascade_values=_cascade(element),
        language=element.get(XML_LANG),
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
    )


def _cascade(element: etree._Element) -> str | None:
    """Return cascadeValues, or None for false, which is the schemas' default."""
    found = cascade_of(element)
    return None if found == "false" else found


def _read_time_range(element: etree._Element, rest: list[Child]) -> TimeRange:
    return TimeRange(
        before=_read_bound(rest, "BeforePeriod"),
        after=_read_bound(rest, "AfterPeriod"),
        start=_read_bound(rest, "StartPeriod"),
        end=_read_bound(rest, "EndPeriod"),
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
    )


def _read_bound(rest: list[Child], kind: str) -> PeriodBound | None:
    element = first(rest, kind)
    if element is None:
        return None
    return PeriodBound(period=text_of(element).strip(), is_inclusive=boolean(element, "isInclusive") is not False)


def read_set_reference(element: etree._Element, names: Names) -> SetReference:
    """Read a reference to a data set or metadata set of 2.1: the provider, and the provider's id for the set."""
    rest = known(element, names)
    provider, id_ = ref(rest, "DataProvider", names), text(rest, "ID")
    if provider is None or id_ is None:
        fail(element, "a reference to a set needs its provider and its ID")
    return SetReference(provider=provider, id=id_.strip())


# Writing


def write_key_set(tag: str, key_set: KeySet, edition: Edition) -> str:
    """Write a <DataKeySet> or <MetadataKeySet>."""
    keys = [write_region("str:Key", each, edition, is_key=True) for each in key_set.keys]
    return el(tag, *keys, isIncluded=flag(key_set.is_included))


def write_region(tag: str, region: Region, edition: Edition, *, is_key: bool = False) -> str:
    """Write a region, or a key."""
    edition.since_3(region.annotations, "annotations of a region")
    edition.since_3(region.valid_from or region.valid_to, "validity of a region or key")
    edition.until_3(region.report or region.metadata_target, "the report and metadata target of a region")
    space = _space(edition)
    component = f"{space}Attribute" if edition.is_21 else f"{space}Component"
    return el(
        tag,
        write_annotations(region.annotations, edition),
        *[_write_selection(f"{space}KeyValue", each, edition, is_key) for each in region.key_values],
        *[_write_selection(component, each, edition, is_key) for each in region.components],
        include=_included(region.include, is_key=is_key),
        validFrom=region.valid_from,
        validTo=region.valid_to,
        report=region.report,
        metadataTarget=region.metadata_target,
    )


def _space(edition: Edition) -> str:
    return "com:" if edition.is_21 else "str:"


def _included(include: bool, *, is_key: bool) -> str | None:
    # In keys the value true is the default and left out.
    return None if is_key and include else flag(include)


def _write_selection(tag: str, member_selection: MemberSelection, edition: Edition, is_key: bool) -> str:
    edition.since_3(member_selection.remove_prefix is not None, "the removal of prefixes in a constraint")
    edition.since_3(member_selection.valid_from or member_selection.valid_to, "validity of selected values")
    edition.until_3(
        member_selection.data_sets or member_selection.data_keys or member_selection.objects,
        "data sets, keys and objects that are selected",
    )
    space = _space(edition)
    return el(
        tag,
        *[_write_value(f"{space}Value", each, edition) for each in member_selection.values],
        *[el(f"{space}DataSet", write_set_reference(each, edition)) for each in member_selection.data_sets],
        *[write_region(f"{space}DataKey", each, edition, is_key=True) for each in member_selection.data_keys],
        edition.refs(f"{space}Object", member_selection.objects),
        "" if member_selection.time_range is None else _write_time_range(member_selection.time_range, edition),
        id=member_selection.id,
        include=_included(member_selection.include, is_key=is_key),
        removePrefix=flag(member_selection.remove_prefix),
        validFrom=member_selection.valid_from,
        validTo=member_selection.valid_to,
    )


def _write_value(tag: str, selected_value: SelectedValue, edition: Edition) -> str:
    is_new = (
        selected_value.valid_from
        or selected_value.valid_to
        or selected_value.language
        or selected_value.cascade_values == "excluderoot"
    )
    edition.since_3(is_new, "languages, validity, or 'excluderoot' of a selected value")
    # Written by hand: xml:lang is not a valid argument name in Python.
    language = "" if selected_value.language is None else f' xml:lang="{escaped_attribute(selected_value.language)}"'
    start = "".join(
        f' {name}="{escaped_attribute(value)}"'
        for name, value in (
            ("cascadeValues", selected_value.cascade_values),
            ("validFrom", selected_value.valid_from),
            ("validTo", selected_value.valid_to),
        )
        if value is not None
    )  # fmt: skip
    return f"<{tag}{start}{language}>{escaped_text(selected_value.value)}</{tag}>"


def _write_time_range(time_range: TimeRange, edition: Edition) -> str:
    edition.since_3(time_range.valid_from or time_range.valid_to, "validity of a range of time")
    space = _space(edition)
    return el(
        f"{space}TimeRange",
        _write_bound(f"{space}BeforePeriod", time_range.before),
        _write_bound(f"{space}AfterPeriod", time_range.after),
        _write_bound(f"{space}StartPeriod", time_range.start),
        _write_bound(f"{space}EndPeriod", time_range.end),
        validFrom=time_range.valid_from,
        validTo=time_range.valid_to,
    )


def _write_bound(tag: str, period_bound: PeriodBound | None) -> str:
    return "" if period_bound is None else leaf(tag, period_bound.period, isInclusive=flag(period_bound.is_inclusive))


def write_set_reference(set_reference: SetReference, edition: Edition) -> str:
    """Write the content of a reference to a data set or metadata set of 2.1."""
    return edition.ref("com:DataProvider", set_reference.provider) + leaf("com:ID", set_reference.id)
