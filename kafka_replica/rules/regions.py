"""Regions, selections and keys of constraints as conditions that are true inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Final

from msgspec import structs

from kafka_replica.rules.components import Described
from kafka_replica.rules.conditions import (
    Compared,
    Condition,
    Constant,
    Joined,
    Matches,
    Missing,
    Not,
    Number,
    OneOf,
    Value,
    every,
    some,
)
from kafka_replica.rules.patterns import escaped
from kafka_replica.rules.periods import period, start_of
from kafka_replica.sdmx.model import MemberSelection, PeriodBound, Region, SelectedValue, TimeRange

SEPARATOR: Final = "\x1f"
_ANY: Final = frozenset({"%", "*"})


class Regions:
    """Conditions for one constraint. ``bare`` gathers values without their prefixes, by component."""

    def __init__(self, components: Mapping[str, Described], as_of: date, leave: Callable[[str], None]) -> None:
        self._components, self._as_of, self._leave = components, as_of, leave
        self._time = next((one.column.id for one in components.values() if one.column.is_time), None)
        self.bare: dict[str, frozenset[str]] = {}

    def inside(self, region: Region) -> Condition:
        """Whether a row is in a region: what all its selections select, and at a time at which it is valid."""
        selections = (*region.key_values, *region.components)
        return every(*(self._judged(one) for one in selections), *self._valid(region.valid_from, region.valid_to))

    def wholly_inside(self, region: Region) -> Condition | None:
        """The same for a region or key that is out; None where a part of it cannot be asked.

        Without that part it would be wider, and keep more out than it means. What is left out is told.
        """
        left: list[str] = []
        told, self._leave = self._leave, left.append
        condition = self.inside(region)
        self._leave = told
        for what in left:
            self._leave_out(what)
        return None if left else condition

    def _leave_out(self, what: str) -> None:
        self._leave(f"{what}; a region or key with it is out, which is left alone")

    def _judged(self, selection: MemberSelection) -> Condition:
        """Whether a row has what is selected; as unknown as where nothing is given for values that stand for none."""
        found = self.selected(selection)
        if not self._marks(selection):
            return found
        marked = OneOf(Value(selection.id), self._marks(selection))
        unknown = Constant(value=None)
        return every(some(found, every(marked, unknown)), some(Not(marked), unknown))

    def _marks(self, selection: MemberSelection) -> frozenset[str]:
        return self._components[selection.id].marks if selection.id in self._components else frozenset()

    @staticmethod
    def dated(region: Region) -> bool:
        """Whether a region is only valid for a time."""
        return bool(region.valid_from or region.valid_to)

    def selected(self, selection: MemberSelection) -> Condition:
        """Whether a row has what a selection selects, validity included; unknown where nothing is given."""
        plain = tuple(one for one in selection.values if not (one.valid_from or one.valid_to))
        options = [self._values(selection, plain)] if plain else []
        options += [
            every(self._values(selection, (one,)), *self._valid(one.valid_from, one.valid_to))
            for one in selection.values
            if one.valid_from or one.valid_to
        ]
        if selection.time_range is not None:
            options.append(self._range(selection.id, selection.time_range))
        if not options:
            options = [Not(Missing(selection.id))]
        found = every(some(*options), *self._valid(selection.valid_from, selection.valid_to))
        return found if selection.include else Not(found)

    def values(self, selection: MemberSelection) -> Condition:
        """The same at any time."""
        options = [self._values(selection, selection.values)] if selection.values else []
        if selection.time_range is not None:
            options.append(self._range(selection.id, selection.time_range))
        return some(*options) if options else Constant(value=True)

    def one_of_keys(self, keys: Iterable[Region], *, are_out: bool = False) -> Condition:
        """Whether a row has one of some keys. Keys of the same dimensions are one look-up.

        Keys that are out are left alone where a part of them cannot be asked.
        """
        alike: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        others: list[Condition] = []
        for key in keys:
            strangers = [one.id for one in (*key.key_values, *key.components) if one.id not in self._components]
            if are_out and strangers:
                self._leave_out(f"{', '.join(strangers)} is no component")
                continue
            selections = [one for one in key.key_values if self._known(one.id) and not _is_any(one)]
            simple = all(
                len(one.values) == 1 and one.include and "%" not in one.values[0].value and not _special(one)
                for one in selections
            )
            if simple and not (key.valid_from or key.valid_to) and not key.components and selections:
                selections.sort(key=lambda one: one.id)
                ids = tuple(one.id for one in selections)
                alike.setdefault(ids, set()).add(tuple(one.values[0].value for one in selections))
            else:
                rest = structs.replace(key, key_values=tuple(selections))
                condition = self.wholly_inside(rest) if are_out else self.inside(rest)
                others += [] if condition is None else [condition]
        return some(*(self._listed(ids, values) for ids, values in alike.items()), *others)

    def _listed(self, ids: tuple[str, ...], keys: set[tuple[str, ...]]) -> Condition:
        """Whether a row has one of these keys; unknown if a part stands for none, and the others are those of a key."""
        marks = {one: self._components[one].marks for one in ids if self._components[one].marks}
        if not marks:
            return _one_of(ids, keys)
        marked = [OneOf(Value(one), texts) for one, texts in marks.items()]
        places = [place for place, one in enumerate(ids) if one not in marks]
        others = _one_of([ids[place] for place in places], {tuple(key[place] for place in places) for key in keys})
        unknown = Constant(value=None)
        return some(every(_one_of(ids, keys), *(Not(one) for one in marked)), every(some(*marked), others, unknown))

    def _known(self, id_: str) -> bool:
        if id_ in self._components:
            return True
        self._leave(f"{id_} is no component")
        return False

    def _values(self, selection: MemberSelection, values: tuple[SelectedValue, ...]) -> Condition:
        if not self._known(selection.id):
            return Constant(value=selection.include)
        found = self._components[selection.id]
        value = Value(selection.id)
        if found.enumeration is not None:
            chosen = found.enumeration.selected(values)
            if selection.remove_prefix:
                chosen = found.enumeration.without_prefix(chosen)
                self.bare[selection.id] = self.bare.get(selection.id, frozenset()) | chosen
            return OneOf(value, chosen)
        if any(one.cascade_values for one in values):
            self._leave(f"{selection.id} has no codes to cascade over")
        exact = frozenset(one.value for one in values if "%" not in one.value)
        patterns = [Matches(value, _pattern(one.value)) for one in values if "%" in one.value]
        return some(*([OneOf(value, exact)] if exact else []), *patterns)

    def _range(self, id_: str, range_: TimeRange) -> Condition:
        if not self._known(id_):
            return Constant(value=True)
        begins = start_of(Value(id_))
        parts: list[Condition] = []
        for bound, is_lower in (
            (range_.before, False), (range_.after, True), (range_.start, True), (range_.end, False)
        ):  # fmt: skip
            found = None if bound is None else period(bound.period)
            if bound is None:
                continue
            if found is None:
                self._leave(f"{id_}: the period {bound.period} is not understood")
            elif is_lower:
                parts.append(Compared(begins, ">=", Number(_lower(bound, found.start_s, found.end_s))))
            else:
                parts.append(Compared(begins, "<", Number(found.end_s if bound.is_inclusive else found.start_s)))
        return every(*parts, *self._valid(range_.valid_from, range_.valid_to))

    def _valid(self, valid_from: str | None, valid_to: str | None) -> list[Condition]:
        parts: list[Condition] = []
        for text, is_lower in ((valid_from, True), (valid_to, False)):
            found = None if text is None else period(text)
            if text is None:
                continue
            if found is None:
                self._leave(f"the validity {text} is not understood")
            elif self._time is None:
                today = period(self._as_of.isoformat())
                assert today is not None  # noqa: S101 - for mypy
                parts.append(Constant(value=today.end_s > found.start_s if is_lower else today.start_s < found.end_s))
            elif is_lower:
                parts.append(Compared(start_of(Value(self._time)), ">=", Number(found.start_s)))
            else:
                parts.append(Compared(start_of(Value(self._time)), "<", Number(found.end_s)))
        return parts


def _one_of(ids: Sequence[str], keys: set[tuple[str, ...]]) -> Condition:
    if not ids:
        return Constant(value=True)
    text = Value(ids[0]) if len(ids) == 1 else Joined(tuple(ids), SEPARATOR)
    return OneOf(text, frozenset(map(SEPARATOR.join, keys)))


def _lower(bound: PeriodBound, start_s: int, end_s: int) -> int:
    return start_s if bound.is_inclusive else end_s


def _is_any(selection: MemberSelection) -> bool:
    return (not selection.values and selection.time_range is None) or any(v.value in _ANY for v in selection.values)


def _special(selection: MemberSelection) -> bool:
    value = selection.values[0]
    dates = (selection.valid_from, selection.valid_to, value.valid_from, value.valid_to, value.cascade_values)
    return any(dates) or bool(selection.remove_prefix) or selection.time_range is not None


def _pattern(text: str) -> str:
    return r"[\s\S]*".join(escaped(part) for part in text.split("%"))
