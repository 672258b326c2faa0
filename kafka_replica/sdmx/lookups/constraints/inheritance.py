"""The inheritance of cube regions: a selection at a lower level applies only if it narrows the levels above.

Levels are the data structure, the dataflow and the provision agreement. If a lower level names a code of a component
that a higher level does not allow, the selection of the higher level is used. Codes that only a pattern or a cascade
selects are not named: of these, data may have those that all levels allow. Source: SDMX 3.0 Section 6, "Inheritance of
a Constraint". Key sets need no comparison: keys that a higher level does not allow are invalid anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from msgspec import structs

from kafka_replica.sdmx.lookups.constraints.selections import is_dated
from kafka_replica.sdmx.lookups.effective_component import EffectiveComponent
from kafka_replica.sdmx.lookups.resolved_structure import AttachedConstraint, ConstraintLevel
from kafka_replica.sdmx.model import Constraint, MemberSelection, Region

_SHOWN: Final = 3


class _Narrowed(NamedTuple):
    """A constraint without the selections that conflict with a higher level, and a note on each of these."""

    constraint: Constraint
    notes: tuple[str, ...]


class InheritedCodes:
    """The codes of each component that the levels above allow. Constraints are given the widest level first.

    Args:
        components: the components that data can have, by id.
    """

    def __init__(self, components: Mapping[str, EffectiveComponent]) -> None:
        self._components = components
        self._level: ConstraintLevel | None = None
        self._above: dict[str, frozenset[str]] = {}
        self._here: dict[str, frozenset[str]] = {}

    def narrowed(self, attached: AttachedConstraint) -> _Narrowed:
        """Return the next constraint without its selections that name codes that a higher level does not allow."""
        if attached.level is ConstraintLevel.DATA_PROVIDER:
            return _Narrowed(attached.constraint, ())
        if attached.level is not self._level:
            self._level = attached.level
            self._above |= self._here
            self._here = {}
        found = self._without_conflicts(attached.constraint)
        for id_, codes in self._allowed_codes(found.constraint):
            known = self._here.get(id_, self._above.get(id_))
            self._here[id_] = codes if known is None else known & codes
        return found

    def _without_conflicts(self, constraint: Constraint) -> _Narrowed:
        region, notes = _only_region(constraint), []
        dropped: set[MemberSelection] = set()
        for selection in _selections(region):
            if self._chosen(selection) is None or not selection.include or selection.id not in self._above:
                continue
            forbidden = sorted(self._named(selection) - self._above[selection.id])
            if forbidden:
                dropped.add(selection)
                shown = ", ".join(forbidden[:_SHOWN]) + (" and others" if len(forbidden) > _SHOWN else "")
                notes.append(f"{selection.id}: a higher level does not allow {shown}; the higher level is used")
        if region is None or not dropped:
            return _Narrowed(constraint, ())
        kept = structs.replace(
            region,
            key_values=tuple(one for one in region.key_values if one not in dropped),
            components=tuple(one for one in region.components if one not in dropped),
        )
        regions = tuple(kept if one is region else one for one in constraint.cube_regions)
        return _Narrowed(structs.replace(constraint, cube_regions=regions), tuple(notes))

    def _allowed_codes(self, constraint: Constraint) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield the codes that a constraint allows to components, as far as it concerns each component alone."""
        for selection in _selections(_only_region(constraint)):
            chosen = self._chosen(selection)
            if chosen is not None and (selection.include or not is_dated(selection)):
                yield selection.id, chosen if selection.include else self._listed(selection) - chosen
        for region in constraint.cube_regions:
            selections = _selections(region)
            if region.include or region.valid_from or region.valid_to or len(selections) != 1:
                continue
            chosen = self._chosen(selections[0])
            if chosen is not None and selections[0].include and not is_dated(selections[0]):
                yield selections[0].id, self._listed(selections[0]) - chosen

    def _named(self, selection: MemberSelection) -> frozenset[str]:
        """Return the codes that a selection names by their ids, without those that patterns and cascades add."""
        values = [
            structs.replace(value, cascade_values=None)
            for value in selection.values
            if "%" not in value.value and (value.cascade_values or "").strip().lower() != "excluderoot"
        ]
        component, without_prefix = self._components[selection.id], bool(selection.remove_prefix)
        return component.selected_ids(values, without_prefix=without_prefix) & self._listed(selection)

    def _listed(self, selection: MemberSelection) -> frozenset[str]:
        return self._components[selection.id].listed_ids() or frozenset()

    def _chosen(self, selection: MemberSelection) -> frozenset[str] | None:
        """Return the codes that a selection names, valid or not; None if it does not name codes."""
        component = self._components.get(selection.id)
        if component is None or component.enumeration is None or not selection.values or selection.time_range:
            return None
        without_prefix = bool(selection.remove_prefix)
        return component.selected_ids(selection.values, without_prefix=without_prefix) & self._listed(selection)


def _only_region(constraint: Constraint) -> Region | None:
    """Return the included region, if it is the only one and always valid; its selections apply independently."""
    included = [region for region in constraint.cube_regions if region.include]
    if len(included) != 1 or included[0].valid_from or included[0].valid_to:
        return None
    return included[0]


def _selections(region: Region | None) -> tuple[MemberSelection, ...]:
    return () if region is None else (*region.key_values, *region.components)
