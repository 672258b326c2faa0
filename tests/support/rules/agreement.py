"""Comparison of compiled rules, and of their verdicts on values, with the resolved structure they were compiled from.

The expectations are read off the public result of ``resolve`` alone, never off the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Final, NamedTuple

import polars as pl

from kafka_replica.data.polars import validate
from kafka_replica.data.validation import Rules, compile_rules, generate_rows
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import EffectiveComponent, ResolvedStructure, Structures, Urn
from kafka_replica.sdmx.model import Attribute, Dimension, Measure
from kafka_replica.sdmx.values.text_types import FREE_TYPES, NUMBER_TYPES, TIME_TYPES, WRITTEN

TODAY: Final = date(2020, 6, 15)
STRANGE: Final = "?!"
"""A text that is in no list, and is not a value of any type but plain texts."""

_IDS: Final = 15
"""The most codes of a component that are tried."""
_MANY: Final = 6
"""The most values of a component that are tried."""
_OF_LISTS: Final = {"code-unknown", "value-unknown"}
_OF_CONSTRAINTS: Final = {"value-not-allowed", "value-not-valid", "region-not-allowed", "key-not-allowed"}
_OF_TYPES: Final = {"text-type", "time-period"}
_RULE_OF_FACET: Final = {
    "min_length": "length", "max_length": "length", "pattern": "pattern", "decimals": "decimals",
    "min_value": "range", "max_value": "range", "start_value": "range", "end_value": "range",
    "start_time": "range", "end_time": "range", "interval": "sequence", "time_interval": "sequence",
}  # fmt: skip


class Demands(NamedTuple):
    """The demands of a resolved component on its values."""

    kind: str
    required: bool
    needed: bool
    fewest: int
    most: int | None
    text_type: str
    listed: frozenset[str] | None


def demands_of(component: EffectiveComponent) -> Demands:
    """Return the demands of a resolved component; see SDMX 3.1 Section 2, "Data Structure Definition"."""
    written, representation = component.component, component.representation
    is_mandatory = isinstance(written, Attribute | Measure) and written.mandatory
    in_each_row = not isinstance(written, Attribute) or written.relationship.kind == "observation"
    fewest = most = None
    text_type = "String"
    if representation is not None:
        fewest, most = representation.min_occurs, representation.max_occurs
        if representation.format is not None and component.enumeration is None:
            text_type = representation.format.text_type or "String"
    if isinstance(written, Dimension) and written.is_time and text_type not in TIME_TYPES:
        text_type = "ObservationalTimePeriod"
    return Demands(
        kind=component.kind,
        required=component.kind == "dimension" or (is_mandatory and in_each_row),
        needed=component.kind == "dimension" or is_mandatory,
        fewest=1 if fewest is None else fewest,
        most=None if most == "unbounded" else 1 if most is None else most,
        text_type=text_type,
        listed=component.listed_ids(),
    )


def compare(structures: Structures, urn: Urn | str, known: set[object] | None = None) -> int:
    """Compare the rules of an artefact with its resolved structure; return the number of values that were judged.

    No values are judged if the structure and constraints are in ``known``, to which they are added.
    Raises the error of ``resolve``; the caller checks that compilation raises the same error.
    """
    resolved = structures.resolve(urn, metadata=False)
    rules = compile_rules(structures, urn, as_of=TODAY)
    _compare_definitions(resolved, rules)
    content = (
        rules.structure,
        tuple(resolved.used_components),
        tuple(constraint.constraint.urn for constraint in resolved.constraints),
    )
    if known is not None and content in known:
        return 0
    if known is not None:
        known.add(content)
    return _compare_verdicts(resolved, rules)


# --- definitions ---


def _compare_definitions(resolved: ResolvedStructure, rules: Rules) -> None:
    assert (rules.artefact, rules.structure) == (resolved.urn, resolved.data_structure.urn)
    assert [each.id for each in rules.columns] == list(resolved.used_components)
    for column in rules.columns:
        component = resolved.used_components[column.id]
        demands = demands_of(component)
        about = f"{rules.artefact}: {column!r}, and resolved {demands}"
        assert (column.kind, column.is_required, column.must_exist) == demands[:3], about
        assert column.is_multi_valued == (demands.most is None or demands.most > 1), about
        assert column.values == (demands.listed or frozenset()), about
        assert column.enumeration == (None if component.enumeration is None else component.enumeration.urn), about
        assert column.text_type == demands.text_type, about
        named = {check.rule for check in rules.checks if check.component == column.id}
        assert (f"{column.kind}-missing" in named) == demands.required, about
        assert ("occurrences" in named) == (demands.most is not None or demands.fewest > 1), about
        assert bool(named & _OF_LISTS) == (demands.listed is not None), about
        _compare_facets(component, demands, rules, named)
    _compare_levels(resolved, rules)
    for urn in list(resolved.unread_constraints)[:3]:
        assert any(str(urn) in is_listed for is_listed in rules.unchecked)


def _compare_facets(component: EffectiveComponent, demands: Demands, rules: Rules, named: set[str]) -> None:
    """Each stated facet is checked, or listed as unchecked."""
    format_ = component.representation.format if component.representation is not None else None
    if format_ is None or demands.listed is not None:
        return
    for facet, rule in _RULE_OF_FACET.items():
        if getattr(format_, facet) is None or (facet == "interval" and not format_.interval):
            continue
        first, *rest = facet.split("_")
        name = first + "".join(map(str.capitalize, rest))
        is_listed = any(re.match(rf"{re.escape(component.id)}: (facet )?{name}\b", one) for one in rules.unchecked)
        assert rule in named or is_listed, f"{component.id}: facet {facet} is neither checked nor listed"


def _compare_levels(resolved: ResolvedStructure, rules: Rules) -> None:
    """Attributes above the observation are compared in the dimensions that their relationships name."""
    groups = resolved.data_structure.groups
    dimensions = [dimension.id for dimension in resolved.dimensions]
    for component in resolved.used_components.values():
        relationship = component.relationship
        if relationship is None or relationship.kind == "observation" or component.kind != "attribute":
            assert not [each for each in rules.levels if each.component == component.id]
            continue
        wanted = set(relationship.dimensions)
        for id_ in relationship.groups if relationship.kind == "group" else ():
            group = groups.get(id_)
            wanted |= {"?"} if group is None or not group.dimensions else set(group.dimensions)
        found = {each.demand: set(each.level) for each in rules.levels if each.component == component.id}
        if not wanted <= {each.id for each in resolved.data_structure.components}:
            assert not found
            assert any(one.startswith(f"{component.id}: ") for one in rules.unchecked)
            continue
        # An evolving structure has dimensions that the flow leaves out.
        level = wanted & set(resolved.used_components)
        expected = ["same", "given"] if demands_of(component).needed else ["same"]
        assert found == dict.fromkeys(expected, level)
        assert level <= set(dimensions) | {each.id for each in resolved.used_components.values()}


# --- verdicts ---


def _compare_verdicts(resolved: ResolvedStructure, rules: Rules) -> int:
    try:
        [base] = generate_rows(rules, 1, 7, optional=0)
    except UsageError:
        return 0  # no row satisfies the rules, or none was found
    return (
        _compare_codes(resolved, rules, base)
        + _compare_lists_of_codes(resolved, rules, base)
        + _compare_texts(resolved, rules, base)
        + _compare_occurrences(resolved, rules, base)
    )


class _Probe(NamedTuple):
    """A row with one value of interest, the rules that may reject it, and whether one of them must."""

    row: Mapping[str, Any]
    component: str
    rules: set[str]
    is_rejected: bool


def _compare_codes(resolved: ResolvedStructure, rules: Rules, base: Mapping[str, str | None]) -> int:
    """Exactly the allowed ids are accepted next to the other values of a row."""
    return _judge(rules, _codes(resolved, base))


def _codes(resolved: ResolvedStructure, base: Mapping[str, str | None]) -> Iterator[_Probe]:
    for id_, component in resolved.used_components.items():
        listed = component.listed_ids()
        if listed is None or _has_several(component):
            continue
        given = {name: value for name, value in base.items() if value is not None and name != id_}
        allowed = component.allowed_ids(given=given, as_of=TODAY) or frozenset()
        ids = [*sorted(allowed)[:_IDS], *sorted(listed - allowed)[:_IDS], STRANGE]
        marks = {sentinel.value for sentinel in _sentinels(component)}
        for value in ids:
            if value not in marks:
                yield _Probe({**base, id_: value}, id_, _OF_LISTS | _OF_CONSTRAINTS, value not in allowed)


def _has_several(component: EffectiveComponent) -> bool:
    return component.kind != "dimension" and demands_of(component).most != 1


def _compare_lists_of_codes(resolved: ResolvedStructure, rules: Rules, base: Mapping[str, str | None]) -> int:
    """All allowed ids are accepted together if a row may have several codes, and each other id is rejected."""
    count = 0
    for id_, component in resolved.used_components.items():
        listed = component.listed_ids()
        if listed is None or not _has_several(component):
            continue
        given = {name: value for name, value in base.items() if value is not None and name != id_}
        marks = {sentinel.value for sentinel in _sentinels(component)}
        allowed = (component.allowed_ids(given=given, as_of=TODAY) or frozenset()) - marks
        rows = [[*sorted(allowed), one] for one in (*sorted(listed - allowed - marks)[:_IDS], STRANGE)]
        probes = [_Probe({**base, id_: row}, id_, _OF_LISTS | _OF_CONSTRAINTS, True) for row in rows]
        if allowed:
            probes.append(_Probe({**base, id_: sorted(allowed)}, id_, _OF_LISTS | _OF_CONSTRAINTS, False))
        count += _judge(rules, iter(probes), id_)
    return count


def _sentinels(component: EffectiveComponent) -> tuple[Any, ...]:
    format_ = component.representation.format if component.representation is not None else None
    return () if format_ is None else format_.sentinel_values


def _compare_texts(resolved: ResolvedStructure, rules: Rules, base: Mapping[str, str | None]) -> int:
    """A text that is not a value of the type is rejected; lengths and bounds are those of the facets."""
    return _judge(rules, _texts(resolved, base))


def _texts(resolved: ResolvedStructure, base: Mapping[str, str | None]) -> Iterator[_Probe]:
    for id_, component in resolved.used_components.items():
        demands = demands_of(component)
        if demands.listed is not None:
            continue
        if demands.text_type in WRITTEN or demands.text_type in FREE_TYPES:
            yield _Probe({**base, id_: STRANGE}, id_, _OF_TYPES, demands.text_type in WRITTEN)
        format_ = component.representation.format if component.representation is not None else None
        if format_ is None:
            continue
        for length, is_rejected in (
            (format_.max_length, False), (None if format_.max_length is None else format_.max_length + 1, True),
            (format_.min_length, False), (None if format_.min_length is None else format_.min_length - 1, True),
        ):  # fmt: skip
            if length:
                yield _Probe({**base, id_: "1" * length}, id_, {"length"}, is_rejected)
        if demands.text_type not in NUMBER_TYPES or format_.is_sequence is False:
            continue
        least = max((one for one in (format_.min_value, format_.start_value) if one is not None), default=None)
        most = min((one for one in (format_.max_value, format_.end_value) if one is not None), default=None)
        for number, is_rejected in (
            (least, False), (None if least is None else least - 1, True),
            (most, False), (None if most is None else most + 1, True),
        ):  # fmt: skip
            if number is not None and (least is None or most is None or least <= most):
                yield _Probe({**base, id_: f"{number:f}"}, id_, {"range"}, is_rejected)


def _compare_occurrences(resolved: ResolvedStructure, rules: Rules, base: Mapping[str, str | None]) -> int:
    """An attribute or measure may have as many values in an observation as its occurrences say; a dimension has one."""
    bounds: dict[str, tuple[int, int | None]] = {}
    counts = {1, 2, _MANY}
    for id_, component in resolved.used_components.items():
        demands = demands_of(component)
        if demands.kind != "dimension":
            bounds[id_] = demands.fewest, demands.most
            counts |= {demands.fewest - 1, demands.fewest} | (set() if demands.most is None else {demands.most + 1})
            counts |= {demands.most or 1}
    if not bounds:
        return 0
    tried = sorted(each for each in counts if 0 < each <= _MANY)
    columns = {
        column.id: pl.Series([[base[column.id] or "1"] * count for count in tried], dtype=pl.List(pl.String))
        if column.id in bounds
        else pl.Series([base[column.id]] * len(tried), dtype=pl.String)
        for column in rules.columns
    }
    checked = validate(pl.DataFrame(columns), rules)
    for count, errors in zip(tried, checked["_errors"].to_list(), strict=True):
        found = {error["component"] for error in errors or () if error["rule"] == "occurrences"}
        expected = {
            id_
            for id_, (fewest, most) in bounds.items()
            if (most is not None and count > most) or (fewest > 1 and count < fewest)
        }
        assert found == expected, f"{rules.artefact} with {count} values"
    return len(bounds) * len(tried)


def _judge(rules: Rules, probes: Iterator[_Probe], several: str | None = None) -> int:
    tried = list(probes)
    if not tried:
        return 0
    columns = {
        column.id: pl.Series(
            [probe.row.get(column.id) for probe in tried],
            dtype=pl.List(pl.String) if column.id == several else pl.String,
        )
        for column in rules.columns
    }
    checked = validate(pl.DataFrame(columns), rules)
    for probe, errors in zip(tried, checked["_errors"].to_list(), strict=True):
        found = [error for error in errors or () if error["rule"] in probe.rules]
        value = probe.row[probe.component]
        assert bool(found) == probe.is_rejected, f"{rules.artefact}: {probe.component} {value!r}: {found}"
    return len(tried)
