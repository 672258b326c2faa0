"""Selections, regions and keys of constraints as predicates that are true for the rows inside.

Source: SDMX 2.1/3.x Section 6, "Constraints"; SDMXStructureConstraint.xsd.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from msgspec import structs

from kafka_replica.sdmx.lookups.constraints.predicates import (
    ComponentSelection,
    ConstantPredicate,
    HasKey,
    IsGiven,
    IsIn,
    Not,
    PatternMatch,
    Predicate,
    StartsWithin,
    all_of,
    any_of,
)
from kafka_replica.sdmx.lookups.effective_component import EffectiveComponent
from kafka_replica.sdmx.model import Dimension, MemberSelection, PeriodBound, Region, SelectedValue, TimeRange
from kafka_replica.sdmx.values.periods import Period, period

_ANY: Final = frozenset({"%", "*"})
_IGNORED: Final = "; an excluded region, key or selection has it, which is ignored"


@dataclass(slots=True)
class SelectionReader:
    """A reader for the selections of one constraint.

    Attributes:
        components: the components that data of the structure can have, by id.
        as_of: the date for validity, if the structure has no time dimension.
        notes: the parts that could not be read and are left out, in words.
        unprefixed: by component, the values without their prefixes that ``removePrefix`` allows.
    """

    components: Mapping[str, EffectiveComponent]
    as_of: date
    notes: list[str] = field(default_factory=list)
    unprefixed: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def time(self) -> str | None:
        """The id of the time dimension."""
        found = (component.component for component in self.components.values())
        return next((one.id for one in found if isinstance(one, Dimension) and one.is_time), None)

    def inside(self, region: Region) -> Predicate:
        """Return a predicate for rows in a region: all its selections match, at a time when the region is valid."""
        selections = (*region.key_values, *region.components)
        parts = (ComponentSelection(selection.id, self.selected(selection)) for selection in selections)
        return all_of(*parts, *self.valid(region.valid_from, region.valid_to))

    def wholly_inside(self, region: Region) -> Predicate | None:
        """Return a predicate for rows in an excluded region or key; None if a part of it cannot be read.

        Without that part the region would be wider, and exclude more than intended.
        """
        before = len(self.notes)
        found = self.inside(region)
        return None if self._leave_alone(before) else found

    def selected(self, selection: MemberSelection) -> Predicate:
        """Return a predicate for rows that match a selection at a time when the selection is valid.

        All rows match a selection that cannot be read. An excluded selection cannot be read if a period in it is not
        understood, because without this period it would exclude more than intended.
        """
        if not self.can_read(selection):
            return ConstantPredicate(value=True)
        plain = tuple(value for value in selection.values if not (value.valid_from or value.valid_to))
        options = [self._values(selection, plain)] if plain else []
        dated = [value for value in selection.values if value.valid_from or value.valid_to]
        matches = [self._values(selection, (value,)) for value in dated]
        before = len(self.notes)
        options += [
            all_of(match, *self.valid(value.valid_from, value.valid_to))
            for match, value in zip(matches, dated, strict=True)
        ]
        if selection.time_range is not None:
            options.append(self._range(selection.id, selection.time_range))
        options = options or [IsGiven(selection.id)]
        found = all_of(any_of(*options), *self.valid(selection.valid_from, selection.valid_to))
        if selection.include:
            return found
        if self._leave_alone(before):
            return ConstantPredicate(value=True)
        return Not(found)

    def selected_at_any_time(self, selection: MemberSelection) -> Predicate:
        """Return a predicate for rows that match an included selection that can be read, valid or not."""
        options = [self._values(selection, selection.values)] if selection.values else []
        if selection.time_range is not None:
            options.append(self._range(selection.id, selection.time_range))
        return any_of(*options) if options else ConstantPredicate(value=True)

    def one_of_keys(self, keys: Iterable[Region], *, are_excluded: bool = False) -> Predicate:
        """Return a predicate for rows that have one of some keys; keys of the same dimensions are combined.

        Excluded keys are ignored if a part of them cannot be read.
        """
        alike: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        others: list[Predicate] = []
        for key in keys:
            strangers = [
                key_value.id for key_value in (*key.key_values, *key.components) if key_value.id not in self.components
            ]
            if are_excluded and strangers:
                self.notes.append(f"{', '.join(strangers)} is not a component{_IGNORED}")
                continue
            selections = [
                key_value for key_value in key.key_values if self._is_known(key_value.id) and not _is_any(key_value)
            ]
            if selections and not (key.valid_from or key.valid_to or key.components) and all(map(_is_one, selections)):
                selections.sort(key=lambda selection: selection.id)
                ids = tuple(selection.id for selection in selections)
                alike.setdefault(ids, set()).add(tuple(selection.values[0].value for selection in selections))
            else:
                rest = structs.replace(key, key_values=tuple(selections))
                found = self.wholly_inside(rest) if are_excluded else self.inside(rest)
                others += [] if found is None else [found]
        return any_of(*(HasKey(ids, frozenset(values)) for ids, values in alike.items()), *others)

    def can_read(self, selection: MemberSelection) -> bool:
        """Return whether a selection can be read; otherwise add a note."""
        if not self._is_known(selection.id):
            return False
        component = self.components[selection.id]
        localised = component.enumeration is None and component.kind != "dimension"
        languages = sorted({value.language for value in selection.values if value.language}) if localised else []
        if languages:
            self.notes.append(
                f"{selection.id}: values in the language {', '.join(languages)}, because languages are not compared"
            )
        return not languages

    def _leave_alone(self, before: int) -> bool:
        """Return whether there are more notes than before; say in each of them that an excluding part is ignored."""
        for at in range(before, len(self.notes)):
            self.notes[at] = f"{self.notes[at].removesuffix(_IGNORED)}{_IGNORED}"
        return len(self.notes) > before

    def _is_known(self, id_: str) -> bool:
        if id_ in self.components:
            return True
        self.notes.append(f"{id_} is not a component")
        return False

    def _values(self, selection: MemberSelection, values: tuple[SelectedValue, ...]) -> Predicate:
        id_ = selection.id
        component = self.components[id_]
        if component.enumeration is not None:
            chosen = component.selected_ids(values, without_prefix=bool(selection.remove_prefix))
            if selection.remove_prefix:
                chosen = frozenset(component.unprefixed.get(one, one) for one in chosen)
                self.unprefixed[id_] = self.unprefixed.get(id_, frozenset()) | chosen
            return IsIn(id_, chosen)
        if any(value.cascade_values for value in values):
            self.notes.append(f"{id_} has no codes to cascade over")
        exact = frozenset(value.value for value in values if "%" not in value.value)
        patterns = [PatternMatch(id_, value.value) for value in values if "%" in value.value]
        return any_of(*([IsIn(id_, exact)] if exact else []), *patterns)

    def _range(self, id_: str, range_: TimeRange) -> Predicate:
        lower: list[int] = []
        upper: list[int] = []
        bounds = ((range_.before, False), (range_.after, True), (range_.start, True), (range_.end, False))
        for bound, is_lower in bounds:
            found = None if bound is None else period(bound.period)
            if bound is None:
                continue
            if found is None:
                self.notes.append(f"{id_}: the period {bound.period} is not understood")
            else:
                (lower if is_lower else upper).append(_limit(found, bound, is_lower=is_lower))
        within = [StartsWithin(id_, max(lower, default=None), min(upper, default=None))] if lower or upper else []
        return all_of(*within, *self.valid(range_.valid_from, range_.valid_to))

    def valid(self, valid_from: str | None, valid_to: str | None) -> list[Predicate]:
        """Return the predicates that the row's period, or else the given date, is within a validity."""
        parts: list[Predicate] = []
        for text, is_lower in ((valid_from, True), (valid_to, False)):
            if text is None:
                continue
            found, time = period(text), self.time
            if found is None:
                self.notes.append(f"the validity {text} is not understood")
            elif time is not None:
                parts.append(_bounded(time, found, PeriodBound(period=text), is_lower=is_lower))
            else:
                parts.append(
                    ConstantPredicate(
                        value=overlaps(self.as_of, found if is_lower else None, None if is_lower else found)
                    )
                )
        return parts


def overlaps(day: date, start: Period | None, end: Period | None) -> bool:
    """Return whether a day overlaps the time from one period to another, both included."""
    today = period(day.isoformat())
    assert today is not None  # noqa: S101 - for mypy: every date is a period
    return (start is None or start.start_s < today.end_s) and (end is None or end.end_s > today.start_s)


def _bounded(id_: str, found: Period, bound: PeriodBound, *, is_lower: bool) -> Predicate:
    limit = _limit(found, bound, is_lower=is_lower)
    return StartsWithin(id_, from_s=limit) if is_lower else StartsWithin(id_, before_s=limit)


def _limit(found: Period, bound: PeriodBound, *, is_lower: bool) -> int:
    """Return the first second within a lower bound, or the first second beyond an upper bound."""
    return found.start_s if is_lower is bound.is_inclusive else found.end_s


def is_dated(selection: MemberSelection) -> bool:
    """Return whether a selection, or one of its values, has a validity of its own."""
    return bool(
        selection.valid_from
        or selection.valid_to
        or any(value.valid_from or value.valid_to for value in selection.values)
    )


def _is_any(selection: MemberSelection) -> bool:
    return (not selection.values and selection.time_range is None) or any(v.value in _ANY for v in selection.values)


def _is_one(selection: MemberSelection) -> bool:
    """Return whether a selection selects exactly one value at all times."""
    if len(selection.values) != 1 or not selection.include or "%" in selection.values[0].value:
        return False
    [value] = selection.values
    dates = (selection.valid_from, selection.valid_to, value.valid_from, value.valid_to, value.cascade_values)
    return not (any(dates) or selection.remove_prefix or selection.time_range is not None)
