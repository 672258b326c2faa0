"""The demands of a constraint, each with a predicate that is true in the rows that violate it.

Within one constraint a row must be in one of the included cube regions (if there are any) and in no excluded cube
region. Key sets apply in their order: the last set that has the key of a row decides whether it is allowed; a key in
no set is allowed if the first set is excluded. Source: SDMX 2.1/3.x Section 6, "Constraints"; SDMX 3.1
Section 2.

The validity of a constraint is compared with a date. The validity of its regions, keys and values is compared with the
period of the observation, or with the same date if the structure has no time dimension.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from enum import Enum, auto
from itertools import groupby
from typing import NamedTuple

from kafka_replica.sdmx.lookups.constraints.predicates import ConstantPredicate, Not, Predicate, all_of, any_of
from kafka_replica.sdmx.lookups.constraints.selections import SelectionReader, is_dated, overlaps
from kafka_replica.sdmx.model import Constraint, MemberSelection, PeriodBound, Region, TimeRange
from kafka_replica.sdmx.values.periods import period


class DemandKind(Enum):
    """The kind of demand that a row violates."""

    VALUE = auto()
    """The value of one component is allowed."""
    VALID_VALUE = auto()
    """The value of one component is allowed at the time of the observation."""
    IN_REGION = auto()
    """The row is in one of several regions."""
    NOT_IN_REGION = auto()
    """The row is in no excluded region."""
    IN_KEYS = auto()
    """The row has one of the keys."""
    NOT_IN_KEYS = auto()
    """The row has none of the excluded keys."""


class Violation(NamedTuple):
    """A demand of a constraint, the components it concerns, and a predicate that is true if a row violates it."""

    demand: DemandKind
    components: tuple[str, ...]
    broken: Predicate


def reason_not_applied(constraint: Constraint, as_of: date) -> str | None:
    """Return why an attached constraint does not apply on a date; None if it applies."""
    if constraint.is_stub:
        return "it is a stub, its content is elsewhere"
    start, end = (None if one is None else period(one) for one in (constraint.valid_from, constraint.valid_to))
    return None if overlaps(as_of, start, end) else f"it is not valid on {as_of}"


def unread_validities(constraint: Constraint) -> list[str]:
    """Return notes on limits of a constraint's validity that cannot be read: it is applied as if they were missing."""
    limits = (constraint.valid_from, constraint.valid_to)
    return [f"the validity {one} is not understood" for one in limits if one is not None and period(one) is None]


def violations(constraint: Constraint, reader: SelectionReader, series: Sequence[str]) -> Iterator[Violation]:
    """Yield the violations that a constraint forbids.

    Args:
        constraint: a constraint that applies.
        reader: reads the constraint's selections, and collects the parts that cannot be read.
        series: the dimensions of keys: all except the time dimension.
    """
    yield from _of_regions(constraint, reader)
    yield from _of_keys(constraint, reader, tuple(series))
    yield from _of_reference_period(constraint, reader)


def _of_regions(constraint: Constraint, reader: SelectionReader) -> Iterator[Violation]:
    included = [region for region in constraint.cube_regions if region.include]
    if len(included) == 1 and not (included[0].valid_from or included[0].valid_to):
        # Each component can be evaluated alone.
        for selection in _selections(included[0]):
            yield from _of_selection(selection, reader)
    elif included:
        outside = Not(any_of(*(reader.inside(region) for region in included)))
        yield Violation(DemandKind.IN_REGION, _ids(included), outside)
    for region in constraint.cube_regions:
        inside = None if region.include else reader.wholly_inside(region)
        if inside is None:
            continue
        selections = _selections(region)
        if len(selections) == 1 and selections[0].include:
            demand = DemandKind.VALID_VALUE if region.valid_from or region.valid_to else DemandKind.VALUE
        else:
            demand = DemandKind.NOT_IN_REGION
        yield Violation(demand, _ids([region]), inside)


def _of_selection(selection: MemberSelection, reader: SelectionReader) -> Iterator[Violation]:
    if not reader.can_read(selection):
        return
    broken: Predicate = Not(reader.selected(selection))
    if not is_dated(selection):
        yield Violation(DemandKind.VALUE, (selection.id,), broken)
    elif not selection.include:
        yield Violation(DemandKind.VALID_VALUE, (selection.id,), broken)
    else:
        ever = reader.selected_at_any_time(selection)
        yield Violation(DemandKind.VALID_VALUE, (selection.id,), all_of(broken, ever))
        yield Violation(DemandKind.VALUE, (selection.id,), Not(ever))


def _of_keys(constraint: Constraint, reader: SelectionReader, series: tuple[str, ...]) -> Iterator[Violation]:
    """Yield the demand of the key sets: the last set that has the key of a row decides."""
    sets = [keys for keys in constraint.key_sets if keys.keys]
    if not sets:
        return
    if not any(keys.is_included for keys in sets):
        excluded = (key for keys in sets for key in keys.keys)
        yield Violation(DemandKind.NOT_IN_KEYS, series, reader.one_of_keys(excluded, are_excluded=True))
        return
    allowed: Predicate = ConstantPredicate(value=not sets[0].is_included)
    for is_included, alike in groupby(sets, key=lambda keys: keys.is_included):
        matches = reader.one_of_keys((key for keys in alike for key in keys.keys), are_excluded=not is_included)
        allowed = any_of(allowed, matches) if is_included else all_of(allowed, Not(matches))
    yield Violation(DemandKind.IN_KEYS, series, Not(allowed))


def _of_reference_period(constraint: Constraint, reader: SelectionReader) -> Iterator[Violation]:
    """Yield the demands of the first and last instant of 2.1; STRUVAL checks them for observations (034, 035)."""
    if constraint.reference_period is None or reader.time is None:
        return
    start, end = (PeriodBound(period=text) for text in constraint.reference_period)
    yield from _of_selection(MemberSelection(id=reader.time, time_range=TimeRange(start=start, end=end)), reader)


def _selections(region: Region) -> tuple[MemberSelection, ...]:
    return (*region.key_values, *region.components)


def _ids(regions: Sequence[Region]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(selection.id for region in regions for selection in _selections(region)))
