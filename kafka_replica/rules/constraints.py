"""Constraints on data as checks: cube regions, key sets, ranges of time, reference periods, validity.

All constraints of the data structure, dataflow, provider and provision agreement hold together: each can only
narrow; of several versions of one the latest that is no draft ("Multiple Constraints"). Within one constraint a row
must be in one of the cube regions that are in (if there are any), in none that is out, and the same for the keys of
key sets. Source: SDMX 2.1/3.x Section 6, "Constraints"; SDMX 3.1 Section 2.

Validity of a constraint is asked of a date, that of its regions, keys and values of the observation's period, and
of the same date where the structure has no time. A constraint on what data there is (role Actual) is no rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from kafka_replica.errors import SdmxError
from kafka_replica.rules.components import Described
from kafka_replica.rules.conditions import Condition, Not, OneOf, Value, every, some
from kafka_replica.rules.model import Check
from kafka_replica.rules.periods import period
from kafka_replica.rules.regions import Regions
from kafka_replica.rules.targets import Target
from kafka_replica.sdmx import AttachedConstraint, Structures, Urn
from kafka_replica.sdmx.lookups.resolved import ConstraintLevel, in_force
from kafka_replica.sdmx.model import (
    Constraint,
    ContentConstraint,
    DataConstraint,
    MemberSelection,
    PeriodBound,
    Region,
    TimeRange,
)

_LEVELS: Final = {
    "DataProvider": ConstraintLevel.DATA_PROVIDER,
    "DataStructure": ConstraintLevel.DATA_STRUCTURE,
    "Dataflow": ConstraintLevel.DATAFLOW,
    "ProvisionAgreement": ConstraintLevel.PROVISION_AGREEMENT,
}


def constraints_of(structures: Structures, target: Target) -> Iterator[Constraint]:
    """The constraints on data that are attached to the target, to what it uses, or to its provider.

    Of several versions of one, at one place, the latest that is no draft: the choice of ``Structures.resolve``.
    """
    found = list(_attached(structures, target))
    for is_actual in (False, True):
        yield from (one.constraint for one in in_force(one for one in found if one.is_actual is is_actual))


def _attached(structures: Structures, target: Target) -> Iterator[AttachedConstraint]:
    wanted = set(target.constrained)
    for class_ in ("DataConstraint", "ContentConstraint"):
        for urn in structures.find(class_):
            try:
                found = structures.get(urn)
            except SdmxError as error:
                raise type(error)(f"looking for the constraints of {target.artefact}: {error}") from error
            if isinstance(found, DataConstraint | ContentConstraint):
                place = _place(structures, found, wanted)
                if place is not None:
                    yield AttachedConstraint(constraint=found, level=_LEVELS[place.cls], attached_to=place)


def _place(structures: Structures, constraint: Constraint, wanted: set[Urn]) -> Urn | None:
    """Which of the artefacts it is attached to, if any."""
    references = () if constraint.attachment is None else constraint.attachment.references
    for urn in references:
        if urn in wanted:
            return urn
        if urn.item is None and {
            one for one in wanted if (one.cls, one.agency, one.id) == (urn.cls, urn.agency, urn.id)
        }:
            meant = structures.get(urn) if urn in structures else None  # a version with a wildcard
            if meant is not None and meant.urn in wanted:
                return meant.urn
    return None


@dataclass(slots=True)
class Constraints:
    """Makes checks of constraints.

    Attributes:
        components: the components by id.
        series: the dimensions without that of time.
        as_of: the date for which constraints must be valid.
        severities: the severity of each rule that is on.
        unchecked: what could not be made a check of.
        bare: by component, values that a constraint with removePrefix allows beside those of the codelist.
    """

    components: Mapping[str, Described]
    series: tuple[str, ...]
    as_of: date
    severities: Mapping[str, str]
    unchecked: list[str] = field(default_factory=list)
    bare: dict[str, frozenset[str]] = field(default_factory=dict)

    def checks(self, constraint: Constraint) -> Iterator[Check]:
        """The checks of one constraint."""
        role = constraint.role or ("Actual" if isinstance(constraint, ContentConstraint) else "Allowed")
        if role != "Allowed":
            self.unchecked.append(f"{constraint.urn}: it says what data there is (role {role}), not what is allowed")
            return
        if constraint.is_stub:
            self.unchecked.append(f"{constraint.urn}: it is a stub, its content is elsewhere")
            return
        if not self._valid(constraint):
            self.unchecked.append(f"{constraint.urn}: it is not valid on {self.as_of}")
            return
        regions = Regions(self.components, self.as_of, lambda what: self.unchecked.append(f"{constraint.urn}: {what}"))
        yield from self._regions(constraint, regions)
        yield from self._keys(constraint, regions)
        yield from self._reference_period(constraint, regions)
        for id_, values in regions.bare.items():
            self.bare[id_] = self.bare.get(id_, frozenset()) | values

    def _valid(self, constraint: Constraint) -> bool:
        today = period(self.as_of.isoformat())
        start, end = (None if one is None else period(one) for one in (constraint.valid_from, constraint.valid_to))
        assert today is not None  # noqa: S101 - for mypy
        return (start is None or start.start_s < today.end_s) and (end is None or end.end_s > today.start_s)

    def _regions(self, constraint: Constraint, regions: Regions) -> Iterator[Check]:
        included = [region for region in constraint.cube_regions if region.include]
        excluded = [region for region in constraint.cube_regions if not region.include]
        if len(included) == 1 and not (included[0].valid_from or included[0].valid_to):
            # Each component can be judged alone, and told alone.
            for selection in _selections(included[0]):
                yield from self._value(constraint, regions, selection)
        elif included:
            outside = Not(some(*(regions.inside(region) for region in included)))
            shown = _ids(included)
            yield from self._check("region-not-allowed", constraint, outside, shown, "is in no region that is allowed")
        for region in excluded:
            selections = _selections(region)
            condition = regions.wholly_inside(region)
            if condition is None:
                continue
            if len(selections) == 1 and selections[0].include:
                yield from self._one(constraint, selections[0].id, condition, regions.dated(region))
            else:
                message = "is in a region that is not allowed"
                yield from self._check("region-not-allowed", constraint, condition, _ids([region]), message)

    def _value(self, constraint: Constraint, regions: Regions, selection: MemberSelection) -> Iterator[Check]:
        condition = Not(regions.selected(selection))
        dated = bool(
            selection.valid_from or selection.valid_to or any(v.valid_from or v.valid_to for v in selection.values)
        )
        if dated:
            anywhen = regions.values(selection)
            both = every(condition, anywhen) if selection.include else condition
            yield from self._one(constraint, selection.id, both, dated=True)
            if not selection.include:
                return
            condition = Not(anywhen)
        yield from self._one(constraint, selection.id, condition, dated=False)

    def _one(self, constraint: Constraint, id_: str, broken: Condition, dated: bool) -> Iterator[Check]:
        rule = "value-not-valid" if dated else "value-not-allowed"
        message = "is not valid at this time by" if dated else "is not allowed by"
        yield from self._check(rule, constraint, broken, (id_,), message)

    def _keys(self, constraint: Constraint, regions: Regions) -> Iterator[Check]:
        included = [key for keys in constraint.key_sets if keys.is_included for key in keys.keys]
        excluded = [key for keys in constraint.key_sets if not keys.is_included for key in keys.keys]
        if included:
            outside = Not(regions.one_of_keys(included))
            yield from self._check("key-not-allowed", constraint, outside, self.series, "is no key that is allowed")
        if excluded:
            inside = regions.one_of_keys(excluded, are_out=True)
            yield from self._check("key-not-allowed", constraint, inside, self.series, "is a key that is not allowed")

    def _reference_period(self, constraint: Constraint, regions: Regions) -> Iterator[Check]:
        """The first and the last instant of 2.1, which STRUVAL asks of observations as well (its 034 and 035)."""
        time = next((id_ for id_, one in self.components.items() if one.column.is_time), None)
        if constraint.reference_period is None or time is None:
            return
        start, end = (PeriodBound(period=text) for text in constraint.reference_period)
        yield from self._value(
            constraint, regions, MemberSelection(id=time, time_range=TimeRange(start=start, end=end))
        )

    def _check(
        self, rule: str, constraint: Constraint, broken: Condition, shown: tuple[str, ...], message: str
    ) -> Iterator[Check]:
        if rule not in self.severities:
            return
        alone = shown[0] if len(shown) == 1 else None
        subject = alone or ".".join(shown)
        by = f" {constraint.urn.reference}" if message.endswith(" by") else f" by {constraint.urn.reference}"
        text = f"{subject} {message}{by}"
        yield Check(rule, self.severities[rule], alone, broken, text, str(constraint.urn), shown)


def _selections(region: Region) -> tuple[MemberSelection, ...]:
    return (*region.key_values, *region.components)


def _ids(regions: list[Region]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.id for region in regions for one in _selections(region)))


def bare_values(condition: Condition, id_: str, values: frozenset[str]) -> Condition:
    """A check of a code that takes some values beside the codes."""
    return every(condition, Not(OneOf(Value(id_), values))) if values else condition
