"""Regions and keys, the contents of constraints, as SDMX-ML. Their namespace is the common one in 2.1 only."""

from __future__ import annotations

from kafka_replica.sdmx.model import (
    KeySet,
    MemberSelection,
    PeriodBound,
    Region,
    SelectedValue,
    SetReference,
    TimeRange,
)
from kafka_replica.sdmx.writers.ml.edition import Edition
from kafka_replica.sdmx.writers.ml.values import annotations_of
from kafka_replica.sdmx.writers.ml.xml import attribute, el, flag, leaf, text


def key_set(tag: str, one: KeySet, edition: Edition) -> str:
    """Write a <DataKeySet> or <MetadataKeySet>."""
    keys = [region("str:Key", each, edition, is_key=True) for each in one.keys]
    return el(tag, *keys, isIncluded=flag(one.is_included))


def region(tag: str, one: Region, edition: Edition, *, is_key: bool = False) -> str:
    """Write a region, or a key."""
    edition.since_3(one.annotations, "annotations of a region")
    edition.since_3(one.valid_from or one.valid_to, "validity of a region or key")
    edition.until_3(one.report or one.metadata_target, "the report and metadata target of a region")
    space = _space(edition)
    component = f"{space}Attribute" if edition.is_21 else f"{space}Component"
    return el(
        tag,
        annotations_of(one.annotations, edition),
        *[_selection(f"{space}KeyValue", each, edition, is_key) for each in one.key_values],
        *[_selection(component, each, edition, is_key) for each in one.components],
        include=_included(one.include, is_key=is_key),
        validFrom=one.valid_from,
        validTo=one.valid_to,
        report=one.report,
        metadataTarget=one.metadata_target,
    )


def _space(edition: Edition) -> str:
    return "com:" if edition.is_21 else "str:"


def _included(include: bool, *, is_key: bool) -> str | None:
    # In keys the value true is the default and left out.
    return None if is_key and include else flag(include)


def _selection(tag: str, one: MemberSelection, edition: Edition, is_key: bool) -> str:
    edition.since_3(one.remove_prefix is not None, "the removal of prefixes in a constraint")
    edition.since_3(one.valid_from or one.valid_to, "validity of selected values")
    edition.until_3(one.data_sets or one.data_keys or one.objects, "data sets, keys and objects that are selected")
    space = _space(edition)
    return el(
        tag,
        *[_value(f"{space}Value", each, edition) for each in one.values],
        *[el(f"{space}DataSet", set_reference(each, edition)) for each in one.data_sets],
        *[region(f"{space}DataKey", each, edition, is_key=True) for each in one.data_keys],
        edition.refs(f"{space}Object", one.objects),
        "" if one.time_range is None else _time_range(one.time_range, edition),
        id=one.id,
        include=_included(one.include, is_key=is_key),
        removePrefix=flag(one.remove_prefix),
        validFrom=one.valid_from,
        validTo=one.valid_to,
    )


def _value(tag: str, one: SelectedValue, edition: Edition) -> str:
    is_new = one.valid_from or one.valid_to or one.language or one.cascade_values == "excluderoot"
    edition.since_3(is_new, "languages, validity, or 'excluderoot' of a selected value")
    # Written by hand: xml:lang is not a valid argument name in Python.
    language = "" if one.language is None else f' xml:lang="{attribute(one.language)}"'
    start = "".join(
        f' {name}="{attribute(value)}"'
        for name, value in (
            ("cascadeValues", one.cascade_values), ("validFrom", one.valid_from), ("validTo", one.valid_to)
        )
        if value is not None
    )  # fmt: skip
    return f"<{tag}{start}{language}>{text(one.value)}</{tag}>"


def _time_range(one: TimeRange, edition: Edition) -> str:
    edition.since_3(one.valid_from or one.valid_to, "validity of a range of time")
    space = _space(edition)
    return el(
        f"{space}TimeRange",
        _bound(f"{space}BeforePeriod", one.before),
        _bound(f"{space}AfterPeriod", one.after),
        _bound(f"{space}StartPeriod", one.start),
        _bound(f"{space}EndPeriod", one.end),
        validFrom=one.valid_from,
        validTo=one.valid_to,
    )


def _bound(tag: str, one: PeriodBound | None) -> str:
    return "" if one is None else leaf(tag, one.period, isInclusive=flag(one.is_inclusive))


def set_reference(one: SetReference, edition: Edition) -> str:
    """Write the content of a reference to a data set or metadata set of 2.1."""
    return edition.ref("com:DataProvider", one.provider) + leaf("com:ID", one.id)
