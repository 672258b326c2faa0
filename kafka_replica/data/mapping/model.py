"""What compiling a map gives: everything that is needed to map rows, of one version. Immutable.

Values are texts. A table of values has one text for each key: the texts of the sources, joined by :data:`PARTS`. What
it gives is one text as well: the outcomes joined by :data:`OUTCOMES`, in each of them the targets joined by
:data:`PARTS`. XML has none of the characters that are used here, and compiling refuses them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from kafka_replica.common.wording import counted
from kafka_replica.data.mapping.dates import Reading, Writing
from kafka_replica.sdmx import Urn

SOURCE: Final = "_source"
"""The column that holds the source of a row that cannot be mapped; NULL where it can."""
PARTS: Final = "\x1f"
OUTCOMES: Final = "\x1e"
NOTHING: Final = "\x1a"
"""A target without a value."""
AMBIGUOUS: Final = "\x18"
"""In the place of outcomes: they contradict each other."""
MARKS: Final = "[\x00-\x08\x0b\x0c\x0e-\x1f]"
"""An expression for these characters, and all others that XML does not have."""
UNTIMED: Final = "-"

Resolve: TypeAlias = Literal["startOfPeriod", "midPeriod", "endOfPeriod"]


def group_mark(number: int) -> str:
    """What stands in an outcome for a capture group."""
    return f"\x02{number}\x03"


@dataclass(frozen=True, slots=True)
class Slice:
    """The value of a source component, or a part of it: ``length`` characters from ``start``, the first being 0."""

    component: str
    start: int | None = None
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """An expression that must fit all of a text, and how many groups it captures."""

    text: Slice
    expression: str
    groups: int


@dataclass(frozen=True, slots=True)
class Stage:
    """Rows of a representation map that are looked up together.

    Attributes:
        keys: what makes a key.
        patterns: what must fit besides.
        table: outcomes by key, whenever.
        timed: outcomes by key and the number of a span of time, which come first.
        groups: the groups that outcomes refer to, counted over all patterns.
    """

    keys: tuple[Slice, ...]
    patterns: tuple[Pattern, ...]
    table: Mapping[str, str] = field(repr=False)
    timed: Mapping[str, str] = field(repr=False)
    groups: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueMap:
    """A component map with a representation map: the first stage that knows the row's values decides.

    Attributes:
        sources: the source components.
        targets: the target components.
        stages: where outcomes are looked for, in this order.
        breaks: the seconds at which a span of time begins, ascending; see :attr:`Stage.timed`.
        artefact: what it is compiled from.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    stages: tuple[Stage, ...]
    breaks: tuple[int, ...]
    artefact: str
    marks: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Which of the marks outcomes have: engines leave out what is asked in vain."""
        texts = [text for stage in self.stages for text in (*stage.table.values(), *stage.timed.values())]
        found = {mark for mark in (OUTCOMES, NOTHING, AMBIGUOUS) if any(mark in text for text in texts)}
        object.__setattr__(self, "marks", frozenset(found))

    @property
    def several(self) -> bool:
        """Whether a row may have several outcomes."""
        return OUTCOMES in self.marks

    def is_one_to_one(self, targets: Collection[str]) -> bool:
        """Whether different values that it knows surely differ in these target components."""
        if self.breaks or len(self.stages) != 1 or {OUTCOMES, AMBIGUOUS} & self.marks:
            return False
        stage = self.stages[0]
        if stage.patterns or any(piece.start is not None for piece in stage.keys):
            return False
        places = [place for place, target in enumerate(self.targets) if target in targets]
        outcomes = [tuple(text.split(PARTS)[place] for place in places) for text in stage.table.values()]
        return len(set(outcomes)) == len(outcomes)


@dataclass(frozen=True, slots=True)
class Copy:
    """A source component whose value is kept; ``said`` if the map says so, not the names alone."""

    source: str
    target: str
    said: bool = True


@dataclass(frozen=True, slots=True)
class Fixed:
    """A component that always has these values."""

    component: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DateMap:
    """A date map: how a date is read, which point of time is meant, and how it is written.

    Attributes:
        source: the source component.
        target: the target component.
        readings: ways to read it, by the frequency for which they hold; None holds for any.
        writings: ways to write it, by frequency; None is for any.
        frequency: the component that holds the frequency, None if it does not matter.
        frequency_in_source: whether that is a source component.
        resolve: the point of time in the period that was read.
        artefact: what it is compiled from.
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
class Side:
    """A structure that data is mapped from or to.

    Attributes:
        urn: what the map names, a data structure or dataflow.
        components: all components, in order.
        dimensions: the dimensions among them, with that of time.
        measures: the measures among them.
        time: the time dimension.
    """

    urn: Urn
    components: tuple[str, ...]
    dimensions: frozenset[str]
    measures: frozenset[str]
    time: str | None


@dataclass(frozen=True, slots=True)
class MapPlan:
    """A structure map, compiled.

    Attributes:
        artefact: the structure map.
        version: the version of the replica all of it comes from.
        source: what is mapped.
        target: what it becomes.
        copies: components whose values are kept.
        fixed: target components with fixed values.
        source_fixed: source components with fixed values.
        values: component maps with representation maps.
        dates: date maps.
        severities: the severity of each rule that is on.
        notes: what the map leaves open, a sentence each.
    """

    artefact: Urn
    version: int
    source: Side
    target: Side
    copies: tuple[Copy, ...]
    fixed: tuple[Fixed, ...]
    source_fixed: tuple[Fixed, ...]
    values: tuple[ValueMap, ...]
    dates: tuple[DateMap, ...]
    severities: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        maps = len(self.copies) + len(self.values) + len(self.dates) + len(self.fixed)
        ends = f"{self.source.urn.reference} to {self.target.urn.reference}"
        name = f"{self.artefact.reference} in version {self.version}"
        return f"<MapPlan {name}: {ends}, {counted(maps, 'map of components', 'maps of components')}>"

    def severity(self, rule: str) -> str | None:
        """How severe a rule is; None if it is off."""
        return dict(self.severities).get(rule)

    @property
    def targets(self) -> tuple[str, ...]:
        """The target components that get a value, in the order of the target."""
        made = {one.target for one in self.copies} | {one.component for one in self.fixed}
        made |= {target for one in self.values for target in one.targets} | {one.target for one in self.dates}
        return tuple(one for one in self.target.components if one in made)

    @property
    def time_is_mapped(self) -> bool:
        """Whether validity is asked of the period that the map makes: the source has none, or a date map reads it."""
        time = self.source.time
        return time is None or any(one.source == time and one.target == self.target.time for one in self.dates)

    @property
    def keeps_keys_apart(self) -> bool:
        """Whether it is sure that different source keys stay different."""
        kept = {one.source for one in self.copies if one.target in self.target.dimensions}
        # Values that no rule knows become the same: none. Such rows do not count, if that is an error.
        if self.severity("no-output") == "error":
            kept.update(*(one.sources for one in self.values if one.is_one_to_one(self.target.dimensions)))
        return kept >= self.source.dimensions
