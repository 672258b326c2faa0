"""The plan that compiling a map gives: everything that is needed to map rows, from one version. Immutable.

Values are texts. A table of values has a text as each key: the texts of the sources, joined by :data:`PARTS`. Each
entry is a text as well: the outcomes joined by :data:`OUTCOMES`, and within each outcome the targets joined by
:data:`PARTS`. XML allows none of the characters that are used here, and compiling refuses them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from kafka_replica.common.wording import counted
from kafka_replica.data.mapping.date_patterns import Reading, Writing
from kafka_replica.sdmx import Urn

SOURCE: Final = "_source"
"""The column with the source of a row that cannot be mapped; NULL in other rows."""
PARTS: Final = "\x1f"
OUTCOMES: Final = "\x1e"
NOTHING: Final = "\x1a"
"""A target without a value."""
AMBIGUOUS: Final = "\x18"
"""A mark in place of outcomes that contradict each other."""
MARKS: Final = "[\x00-\x08\x0b\x0c\x0e-\x1f]"
"""An expression for these characters, and all others that XML does not allow."""
UNTIMED: Final = "-"
"""The time span of rows whose period is unknown."""
OPEN: Final = "*"
"""The time span of deletions without a period, which are of any period."""

Resolve: TypeAlias = Literal["startOfPeriod", "midPeriod", "endOfPeriod"]


def group_mark(number: int) -> str:
    """Return the placeholder of a capture group in an outcome."""
    return f"\x02{number}\x03"


@dataclass(frozen=True, slots=True)
class ValueSlice:
    """The value of a source component, or a part of it: ``length`` characters from ``start``, counted from 0."""

    component: str
    start: int | None = None
    length: int | None = None


@dataclass(frozen=True, slots=True)
class ValuePattern:
    """An expression that must match a whole text, and the number of groups that it captures."""

    text: ValueSlice
    expression: str
    groups: int


@dataclass(frozen=True, slots=True)
class Stage:
    """Rows of a representation map that are looked up together.

    Attributes:
        keys: the parts of a key.
        patterns: expressions that must match as well.
        table: outcomes by key, valid at any time.
        timed: outcomes by key and number of a time span, which take precedence.
        groups: the groups that outcomes refer to, counted over all patterns.
    """

    keys: tuple[ValueSlice, ...]
    patterns: tuple[ValuePattern, ...]
    table: Mapping[str, str] = field(repr=False)
    timed: Mapping[str, str] = field(repr=False)
    groups: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueMap:
    """A component map with a representation map: the first stage that has a rule for the row's values decides.

    Attributes:
        sources: the source components.
        targets: the target components.
        stages: the stages, in the order in which outcomes are looked up.
        breaks: the seconds at which time spans begin, ascending; see :attr:`Stage.timed`.
        artefact: the artefact that it is compiled from.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    stages: tuple[Stage, ...]
    breaks: tuple[int, ...]
    artefact: str
    marks: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Determine the marks that occur in outcomes, so that engines can skip needless checks."""
        texts = [text for stage in self.stages for text in (*stage.table.values(), *stage.timed.values())]
        found = {mark for mark in (OUTCOMES, NOTHING, AMBIGUOUS) if any(mark in text for text in texts)}
        object.__setattr__(self, "marks", frozenset(found))

    @property
    def several(self) -> bool:
        """Return whether a row may have several outcomes."""
        return OUTCOMES in self.marks

    def is_one_to_one(self, targets: Collection[str]) -> bool:
        """Return whether different known values are certain to differ in these target components."""
        if self.breaks or len(self.stages) != 1 or {OUTCOMES, AMBIGUOUS} & self.marks:
            return False
        stage = self.stages[0]
        if stage.patterns or any(piece.start is not None for piece in stage.keys):
            return False
        places = [place for place, target in enumerate(self.targets) if target in targets]
        outcomes = [tuple(text.split(PARTS)[place] for place in places) for text in stage.table.values()]
        return len(set(outcomes)) == len(outcomes)

    def shared_outcomes(self, targets: Collection[str]) -> frozenset[str] | None:
        """Return the outcomes that have the same values in these targets as one of other sources.

        None means that they are not known, because expressions or substrings are looked up.
        """
        if any(stage.patterns or any(piece.start is not None for piece in stage.keys) for stage in self.stages):
            return None
        places = [place for place, target in enumerate(self.targets) if target in targets]
        keys, outcomes = dict[tuple[str, ...], set[str]](), dict[tuple[str, ...], set[str]]()
        tables = [entry for stage in self.stages for entry in stage.table.items()]
        tables += [(key.rpartition(PARTS)[0], text) for stage in self.stages for key, text in stage.timed.items()]
        for key, text in tables:
            for outcome in () if text == AMBIGUOUS else text.split(OUTCOMES):
                parts = outcome.split(PARTS)
                made = tuple(parts[place] for place in places)
                keys.setdefault(made, set()).add(key)
                outcomes.setdefault(made, set()).add(outcome)
        return frozenset(outcome for made, found in outcomes.items() if len(keys[made]) > 1 for outcome in found)


@dataclass(frozen=True, slots=True)
class Copy:
    """A source component whose value is copied; ``is_explicit`` is false if only equal names suggest it."""

    source: str
    target: str
    is_explicit: bool = True


@dataclass(frozen=True, slots=True)
class FixedValues:
    """A component that always has these values."""

    component: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DateMap:
    """A date map: how a date is read, which point in time is meant, and how it is written.

    Attributes:
        source: the source component.
        target: the target component.
        readings: ways to read dates, by frequency; None is for any frequency.
        writings: ways to write dates, by frequency; None is for any frequency.
        frequency: the component that holds the frequency; None if it is irrelevant.
        frequency_in_source: whether the frequency is a source component.
        resolve: the point in time in the period that was read.
        artefact: the artefact that it is compiled from.
    """

    source: str
    target: str
    readings: tuple[tuple[str | None, Reading], ...]
    writings: tuple[tuple[str | None, Writing], ...]
    frequency: str | None
    frequency_in_source: bool
    resolve: Resolve
    artefact: str


@dataclass(frozen=True, slots=True)
class MapSide:
    """The source or target structure of a map.

    Attributes:
        urn: the artefact that the map names, a data structure or dataflow.
        components: all components, in order.
        dimensions: the dimensions, including the time dimension.
        measures: the measures.
        time: the time dimension.
    """

    urn: Urn
    components: tuple[str, ...]
    dimensions: frozenset[str]
    measures: frozenset[str]
    time: str | None


@dataclass(frozen=True, slots=True)
class MapPlan:
    """A compiled structure map.

    Attributes:
        artefact: the structure map.
        version: the version of the replica that all artefacts come from.
        source: the source structure.
        target: the target structure.
        copies: components whose values are copied.
        fixed_values: target components with fixed values.
        source_fixed_values: source components with fixed values.
        values: component maps with representation maps.
        dates: date maps.
        severities: the severity of each rule that is on.
        notes: sentences about what the map does not define.
    """

    artefact: Urn
    version: int
    source: MapSide
    target: MapSide
    copies: tuple[Copy, ...]
    fixed_values: tuple[FixedValues, ...]
    source_fixed_values: tuple[FixedValues, ...]
    values: tuple[ValueMap, ...]
    dates: tuple[DateMap, ...]
    severities: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        maps = len(self.copies) + len(self.values) + len(self.dates) + len(self.fixed_values)
        ends = f"{self.source.urn.reference} to {self.target.urn.reference}"
        name = f"{self.artefact.reference} in version {self.version}"
        return f"<MapPlan {name}: {ends}, {counted(maps, 'map of components', 'maps of components')}>"

    def severity(self, rule: str) -> str | None:
        """Return the severity of a rule; None if it is off."""
        return dict(self.severities).get(rule)

    @property
    def targets(self) -> tuple[str, ...]:
        """Return the target components that get a value, in the order of the target."""
        made = {copy.target for copy in self.copies} | {fixed_value.component for fixed_value in self.fixed_values}
        made |= {target for value in self.values for target in value.targets} | {date.target for date in self.dates}
        return tuple(component for component in self.target.components if component in made)

    @property
    def time_is_mapped(self) -> bool:
        """Return whether validity depends on the mapped period: the source has no time, or a date map reads it."""
        time = self.source.time
        return time is None or any(date.source == time and date.target == self.target.time for date in self.dates)

    @property
    def keeps_keys_apart(self) -> bool:
        """Return whether different source keys are certain to stay different."""
        kept = {copy.source for copy in self.copies if copy.target in self.target.dimensions}
        # Values without a rule all become NULL. If this is an error, such rows are rejected and do not count.
        if self.severity("no-output") == "error":
            kept.update(*(value.sources for value in self.values if value.is_one_to_one(self.target.dimensions)))
        return kept >= self.source.dimensions
