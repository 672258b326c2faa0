"""The compiled rules of one data structure, dataflow or provision agreement in one version. Immutable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from kafka_replica.common.wording import counted, shortened
from kafka_replica.data.validation.conditions import Condition, Constant, components_of
from kafka_replica.sdmx import Urn

ERRORS: Final = "_errors"
"""The column with the errors of a row; NULL if there are none."""
FIELDS: Final = ("rule", "component", "value", "message", "severity", "artefact")
"""The fields of a finding, all texts."""
ACTION: Final = "ACTION"
"""The column with the action of a row (SDMX-CSV 2.0)."""
_EACH: Final = Constant(value=True)


class Finding(NamedTuple):
    """An error in a row or in the data set."""

    rule: str
    component: str | None
    value: str | None
    message: str
    severity: str
    artefact: str


@dataclass(frozen=True, slots=True)
class Column:
    """A component and the form of its values.

    Attributes:
        id: the component's id, which is the name of its column.
        kind: the kind of component.
        is_time: whether it is the time dimension.
        is_required: whether each observation must have a value.
        must_exist: whether the column must exist: as ``is_required``, or mandatory at a higher level.
        is_multi_valued: whether an observation may have several values.
        is_multi_lingual: whether a value may be in several languages.
        enumeration: the list that its values come from; None if it is not coded.
        values: the values that the list allows; empty if it is not coded.
        text_type: its text type if it is not coded.
        examples: possible values if it is not coded.
        is_frequency: whether it is the dimension of the frequency.
        measures: the measures that an attribute describes; empty if this is not stated.
        concept: the id of its concept; None if it has none.
        measured: the measure dimension, and its code for this measure, if it is a cross-sectional measure of 2.0.
    """

    id: str
    kind: Literal["dimension", "attribute", "measure"]
    is_time: bool
    is_required: bool
    must_exist: bool
    is_multi_valued: bool
    is_multi_lingual: bool
    enumeration: Urn | None
    values: frozenset[str] = field(repr=False)
    text_type: str
    examples: tuple[str, ...] = field(default=(), repr=False)
    is_frequency: bool = False
    measures: tuple[str, ...] = ()
    concept: str | None = None
    measured: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A rule for each row: ``broken`` is true if the row violates it."""

    rule: str
    severity: str
    component: str | None
    broken: Condition
    message: str
    artefact: str
    shown: tuple[str, ...] = ()

    def __repr__(self) -> str:
        of = "" if self.component is None else f" of {self.component}"
        return f"<Check {self.severity} {self.rule}{of}: {shortened(self.message)}>"

    @property
    def looks_at(self) -> frozenset[str]:
        """Return the components that the check reads."""
        return components_of(self.broken)


@dataclass(frozen=True, slots=True)
class KeyCheck:
    """The rule that no two rows have the same values in these components; findings have the values joined with dots.

    Only rows for which ``compared`` is true are compared.
    """

    rule: str
    severity: str
    components: tuple[str, ...]
    message: str
    artefact: str
    compared: Condition = _EACH


@dataclass(frozen=True, slots=True)
class LevelCheck:
    """The rule that rows with equal values in ``level`` agree on a component: on its value, or on having one at all.

    Rows for which ``flagged`` is true get the finding. An empty level means the whole data set; its finding does not
    belong to a row.
    """

    rule: str
    severity: str
    component: str
    level: tuple[str, ...]
    demand: Literal["same", "given"]
    flagged: Condition
    message: str
    artefact: str


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules of one artefact in one version.

    Attributes:
        artefact: the requested artefact: a data structure, dataflow or provision agreement.
        structure: its data structure.
        version: the version of the replica that all artefacts come from.
        columns: the components, in the order of the structure.
        checks: rules for each row, in the order in which their findings are listed.
        keys: rules that compare keys of rows.
        levels: rules that compare attributes of rows.
        unchecked: sentences about requirements that cannot be checked.
        severities: the severity of each rule by code, without the rules that are off.
        applies_to: the condition for rows that cross-row rules include, which excludes deletions.
        complete: the condition for rows that must have all mandatory values.
        action: the action of rows without one.
    """

    artefact: Urn
    structure: Urn
    version: int
    columns: tuple[Column, ...]
    checks: tuple[Check, ...]
    keys: tuple[KeyCheck, ...]
    levels: tuple[LevelCheck, ...]
    unchecked: tuple[str, ...]
    severities: tuple[tuple[str, str], ...]
    applies_to: Condition
    complete: Condition = _EACH
    action: Literal["information", "append", "replace", "merge", "delete"] = "information"

    def __repr__(self) -> str:
        checks = counted(len(self.checks) + len(self.keys) + len(self.levels), "check")
        left = f", {len(self.unchecked):,} not checked" if self.unchecked else ""
        columns = counted(len(self.columns), "column")
        return f"<Rules of {self.artefact.reference} in version {self.version}: {columns}, {checks}{left}>"

    def column(self, id_: str) -> Column | None:
        """Return the component with that id, or None."""
        return next((column for column in self.columns if column.id == id_), None)

    @property
    def series(self) -> tuple[str, ...]:
        """Return the dimensions that identify a series: all except the time dimension."""
        return tuple(column.id for column in self.columns if column.kind == "dimension" and not column.is_time)

    @property
    def frequency(self) -> str | None:
        """Return the dimension of the frequency, by its id or its role; None if there is none."""
        return next((column.id for column in self.columns if column.is_frequency), None)

    def severity(self, rule: str) -> str | None:
        """Return the severity of a rule; None if the rule is off."""
        return dict(self.severities).get(rule)
