"""Compile the rules of one artefact from the structures of one version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Final

from kafka_replica.common.wording import counted
from kafka_replica.data.validation.actions import Action, Actions
from kafka_replica.data.validation.catalogue import severities_of_rules
from kafka_replica.data.validation.components import DescribedComponent, describe_component, needs_its_measures
from kafka_replica.data.validation.conditions import (
    CompareInt,
    ComponentText,
    Condition,
    Constant,
    In,
    IsNull,
    Matches,
    Not,
    Number,
    ValueCount,
    every,
    regex_components,
)
from kafka_replica.data.validation.constraints import constraint_checks, constraints_not_checked
from kafka_replica.data.validation.evaluation import evaluate_condition
from kafka_replica.data.validation.facets import FacetViolation, facet_violations
from kafka_replica.data.validation.frequency import frequency_check
from kafka_replica.data.validation.item_validity import ItemValidity
from kafka_replica.data.validation.levels import level_checks
from kafka_replica.data.validation.model import ACTION, Check, KeyCheck, LevelCheck, Rules
from kafka_replica.data.validation.target_artefact import target_artefact
from kafka_replica.sdmx import ResolvedStructure, Structures, TextFormat, Urn
from kafka_replica.sdmx.lookups.constraints.applied_constraints import apply_constraints
from kafka_replica.sdmx.lookups.resolved_structure import MissingReference, attached_in_force
from kafka_replica.sdmx.values.text_types import TIME_TYPES

_YEAR_START: Final = "REPORTING_YEAR_START_DAY"


def compile_rules(
    structures: Structures,
    reference: Urn | str,
    *,
    rules: Mapping[str, str] | None = None,
    action: Action = "information",
    as_of: date | None = None,
    allow_missing: bool = False,
) -> Rules:
    """Return the rules for data of an artefact in this version of the structures.

    Args:
        structures: the look-ups of one version.
        reference: the URN of a data structure, dataflow or provision agreement, or a short reference to one.
        rules: rule code to ``error``, ``warning``, ``information`` or ``off``, to change the documented severity.
        action: the action of rows without one.
        as_of: the date on which constraints must be valid; today in UTC if None.
        allow_missing: check everything else if lists of values, or concepts that name them, are missing or cannot be
            used; ``unchecked`` then lists the checks that are impossible without them.

    Raises:
        UsageError: the reference is to another kind of artefact.
        ConfigurationError: a rule, severity or action is unknown.
        ArtefactNotFoundError: the artefact is not in this version.
        IncompleteStructureError: a structure, list or concept that the artefact refers to is not in this version, or
            cannot be used (a stub, a record that cannot be read); the message names all of them. With
            ``allow_missing``, only a structure is required.
        SdmxError: the artefact itself cannot be read.
    """
    wanted = dict(severities_of_rules(rules))
    resolved = structures.resolve(target_artefact(structures, reference), metadata=False, allow_missing=allow_missing)
    components = tuple(describe_component(component) for component in resolved.used_components.values())
    compiler = _Compiler(resolved, components, action, wanted, as_of or datetime.now(UTC).date())
    return compiler.rules(structures)


@dataclass(slots=True)
class _Compiler:
    """Makes the checks of one resolved structure."""

    resolved: ResolvedStructure
    components: tuple[DescribedComponent, ...]
    default_action: Action
    severities: Mapping[str, str]
    as_of: date
    unchecked: list[str] = field(default_factory=list)
    unprefixed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    actions: Actions = field(init=False)

    def __post_init__(self) -> None:
        """Prepare the conditions on actions."""
        self.actions = Actions(
            self.default_action,
            has_column=all(component.column.id != ACTION for component in self.components),
            structure=self.resolved.data_structure,
            components=self.components,
        )

    def rules(self, structures: Structures) -> Rules:
        """Return all rules; ``structures`` is the version from which the structure was resolved."""
        self.unchecked += [_without(missing_list) for missing_list in self.resolved.missing_lists]
        derived_checks = (*self.constraints(), *self.validity(structures))
        is_kept = Not(self.actions.any_of("delete"))
        return Rules(
            artefact=self.resolved.urn,
            structure=self.resolved.data_structure.urn,
            version=self.resolved.version,
            columns=tuple(component.column for component in self.components),
            checks=tuple(self.unshifted(check) for check in (*self.checks(), *derived_checks)),
            keys=tuple(self.keys()),
            levels=tuple(self.levels(is_kept)),
            unchecked=tuple(dict.fromkeys(self.unchecked)),
            severities=tuple(self.severities.items()),
            applies_to=is_kept,
            complete=self.complete,
            action=self.default_action,
        )

    def levels(self, is_compared: Condition) -> Iterator[LevelCheck]:
        return level_checks(
            self.resolved.data_structure,
            self.components,
            self.severities,
            is_compared,
            self.complete,
            self.unchecked.append,
        )

    @property
    def complete(self) -> Condition:
        """Return whether a row must have all mandatory values."""
        return every(Not(self.actions.any_of("delete", "merge", "append")), Not(self.actions.is_partial()))

    def constraints(self) -> tuple[Check, ...]:
        in_force = attached_in_force(self.resolved.constraints)
        applied = apply_constraints(in_force, self.resolved.used_components, self.as_of)
        self.unchecked += [*applied.notes, *constraints_not_checked(self.resolved)]
        self.unprefixed = applied.unprefixed
        by_id = {component.column.id: component for component in self.components}
        return tuple(self._living(check) for check in constraint_checks(applied, by_id, self.severities))

    def validity(self, structures: Structures) -> tuple[Check, ...]:
        items = ItemValidity(structures, self.resolved, self.as_of)
        found = tuple(self._living(check) for check in items.checks(self.components, self.severities))
        self.unchecked += [*items.notes, *items.lapsed()]
        return found

    def _living(self, check: Check) -> Check:
        """Restrict a check to rows that are not deletions and have its dimensions; exempt marks for missing values."""
        guards: list[Condition] = [Not(self.actions.any_of("delete")), Not(self.actions.is_partial(check.looks_at))]
        marks = next(
            (component.marks for component in self.components if component.column.id == check.component), frozenset()
        )
        if check.component is not None and marks:
            guards.append(Not(In(ComponentText(check.component), marks)))
        broken = every(check.broken, *guards)
        return Check(
            check.rule, check.severity, check.component, broken, check.message, check.artefact, check.shown
        )  # fmt: skip

    def checks(self) -> Iterator[Check]:
        structure = str(self.resolved.data_structure.urn)
        for rule, component, condition, message in self._of_actions():
            yield from self._check(rule, component, condition, message, structure)
        for each_component in self.components:
            yield from self._missing(each_component, structure)
            yield from self._occurrences(each_component, structure)
            yield from self._represented(each_component, structure)
        found = frequency_check(self.components)
        if found is not None:
            yield from self._check("frequency", found.component, found.broken, found.message, structure, of_value=True)

    def _of_actions(self) -> Iterator[tuple[str, str, Condition, str]]:
        known = ", ".join(text[0].upper() for text in ("information", "append", "replace", "merge", "delete"))
        yield "action-unknown", ACTION, self.actions.unknown(), f"is not one of {known}"
        yield (
            "action-empty",
            ACTION,
            self.actions.is_empty(),
            "merges nothing: neither a measure nor an attribute is given",
        )
        for dimension, condition in self.actions.wrongly_off():
            yield "switched-off", dimension, condition, "is switched off, and a value of the row depends on it"

    def _check(
        self, rule: str, component: str, broken: Condition, message: str, artefact: str, *, of_value: bool = False
    ) -> Iterator[Check]:
        if rule in self.severities:
            text = f"{'the value of ' if of_value else ''}{component} {message}"
            yield Check(rule, self.severities[rule], component, broken, text, artefact, (component,))

    def _missing(self, described_component: DescribedComponent, structure: str) -> Iterator[Check]:
        column, rule = described_component.column, f"{described_component.column.kind}-missing"
        if not column.is_required or rule not in self.severities:
            return
        demanded = Not(self.actions.any_of("delete")) if column.kind == "dimension" else self.complete
        message = f"{column.kind} {column.id} has no value, and each observation needs one"
        columns = (component.column for component in self.components)
        broken = every(IsNull(column.id), demanded, *needs_its_measures(column, columns))
        yield Check(rule, self.severities[rule], column.id, broken, message, structure, (column.id,))

    def _occurrences(self, described_component: DescribedComponent, structure: str) -> Iterator[Check]:
        column = described_component.column
        if not column.is_multi_lingual:
            several = CompareInt(ValueCount(column.id, "languages"), ">", Number(1))
            yield from self._check("language", column.id, several, "has texts in more than one language", structure)
        if described_component.max_occurs is not None:
            many = CompareInt(ValueCount(column.id), ">", Number(described_component.max_occurs))
            yield from self._check(
                "occurrences",
                column.id,
                many,
                f"has more than {counted(described_component.max_occurs, 'value')}",
                structure,
            )
        if described_component.min_occurs is not None and described_component.min_occurs > 1:
            few = every(
                Not(IsNull(column.id)), CompareInt(ValueCount(column.id), "<", Number(described_component.min_occurs))
            )
            yield from self._check(
                "occurrences",
                column.id,
                few,
                f"has fewer than {counted(described_component.min_occurs, 'value')}",
                structure,
            )

    def _represented(self, described_component: DescribedComponent, structure: str) -> Iterator[Check]:
        excused = self._excused(described_component)
        artefact = structure
        if described_component.column.enumeration is not None:
            artefact, found = (
                str(described_component.column.enumeration),
                iter([self._coded(described_component, described_component.column.enumeration)]),
            )
            self.unchecked += self._unfit_codes(described_component, described_component.column.enumeration)
        else:
            unchecked: list[str] = []
            found = facet_violations(
                described_component.column.id,
                described_component.column.text_type,
                described_component.format,
                unchecked.append,
                self._shifted(),
            )
            found = iter(list(found))
            self.unchecked += [f"{described_component.column.id}: {what}" for what in unchecked]
        for rule, condition, message in found:
            yield from self._check(
                rule, described_component.column.id, every(condition, *excused), message, artefact, of_value=True
            )

    def _coded(self, described_component: DescribedComponent, enumeration: Urn) -> FacetViolation:
        rule, what = ("value-unknown", "value") if enumeration.cls == "ValueList" else ("code-unknown", "code")
        values = (
            described_component.column.values
            | described_component.marks
            | self.unprefixed.get(described_component.column.id, frozenset())
        )
        broken = Not(In(ComponentText(described_component.column.id), values))
        return FacetViolation(rule, broken, f"is not a {what} of {enumeration.reference}")

    def _unfit_codes(self, described_component: DescribedComponent, enumeration: Urn) -> Iterator[str]:
        """Yield requirements of a format that codes of the list violate: an error in the structure, not in the data."""
        for code, message in _unfit(described_component.column.values, described_component.format):
            yield (
                f"{described_component.column.id}: code {code} of {enumeration.reference} {message}, as the "
                "format of its codes requires; codes are only compared with the list"
            )

    def _excused(self, described_component: DescribedComponent) -> list[Condition]:
        """Return the conditions under which a value need not be valid for its type."""
        id_ = described_component.column.id
        marked = (
            [Not(In(ComponentText(id_), described_component.marks))]
            if described_component.marks and described_component.column.enumeration is None
            else []
        )
        if described_component.column.kind == "dimension":
            return [*marked, Not(self.actions.switched_off(id_))]
        return [*marked, Not(self.actions.any_of("delete"))]

    def unshifted(self, check: Check) -> Check:
        """Exempt periods of reporting years that begin on a different day than the check assumes."""
        if not any(component.column.id == _YEAR_START for component in self.components):
            return check
        compared = sorted(regex_components(check.broken))
        self.unchecked += [
            f"{id_}: {check.rule} of reporting periods where {_YEAR_START} is not --01-01" for id_ in compared
        ]
        elsewhen = (
            every(self._shifted(), Matches(ComponentText(id_), TIME_TYPES["ReportingTimePeriod"])) for id_ in compared
        )
        return replace(check, broken=every(check.broken, *map(Not, elsewhen)))

    def _shifted(self) -> Condition:
        """Return whether reporting years do not begin on 1 January."""
        if not any(component.column.id == _YEAR_START for component in self.components):
            return Constant(value=False)
        return every(Not(IsNull(_YEAR_START)), Not(Matches(ComponentText(_YEAR_START), "--01-01.*")))

    def keys(self) -> Iterator[KeyCheck]:
        if "duplicate-key" not in self.severities:
            return
        dimensions = tuple(component.column.id for component in self.components if component.column.kind == "dimension")
        if dimensions:
            yield KeyCheck(
                "duplicate-key", self.severities["duplicate-key"], dimensions,
                "there is more than one observation with this key", str(self.resolved.data_structure.urn),
                Not(self.actions.is_partial()),
            )  # fmt: skip


def _without(missing: MissingReference) -> str:
    return f"{missing.source.item}: its values, because its list or concept cannot be used: {missing.reason}"


@lru_cache(maxsize=64)
def _unfit(codes: frozenset[str], format_: TextFormat) -> tuple[tuple[str, str], ...]:
    """Return the first violating code, and the violation, for each requirement of a format that codes violate."""
    broken = facet_violations("code", format_.text_type or "String", format_, lambda _: None, Constant(value=False))
    found: list[tuple[str, str]] = []
    for one in broken:
        unfit = min((code for code in codes if evaluate_condition(one.condition, {"code": code})), default=None)
        if unfit is not None:
            found.append((unfit, one.message))
    return tuple(found)
