"""Map the rows of a frame, on any engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from kafka_replica.data.mapping.date_reading import add_instant
from kafka_replica.data.mapping.date_writing import add_written
from kafka_replica.data.mapping.deletions import Deletions
from kafka_replica.data.mapping.mapping_engine import Expression, MappingEngine
from kafka_replica.data.mapping.model import AMBIGUOUS, NOTHING, OUTCOMES, PARTS, DateMap, MapPlan, ValueMap
from kafka_replica.data.mapping.outcomes import outcome_of_map
from kafka_replica.data.mapping.source_components import SourceComponents
from kafka_replica.data.validation.actions import SWITCHED_OFF
from kafka_replica.data.validation.model import ACTION
from kafka_replica.data.validation.periods import UNDERSTOOD
from kafka_replica.sdmx.values.text_types import anchored

OURS: Final = "__mapping_"
"""The prefix of our own columns."""
_BEGINS: Final = f"{OURS}begins"


class ConditionalFinding(NamedTuple):
    """A finding, and the condition under which a row has it."""

    is_found: Expression
    rule: str
    component: str
    value: Expression
    message: str
    severity: str
    artefact: str


class MappingResult(NamedTuple):
    """The result of mapping.

    Attributes:
        targets: the text of each target component; the first if it is fixed to several.
        kept: the source component whose column a target component takes over unchanged.
        fixed: the values of a target component that is fixed to several.
        left_out: whether a target that is kept or fixed has no value, because the row is a deletion that does not name
            it.
        found: the possible findings.
        is_delete: whether a row is a deletion.
    """

    targets: dict[str, Expression]
    kept: dict[str, str]
    fixed: dict[str, list[str]]
    left_out: dict[str, Expression]
    found: list[ConditionalFinding]
    is_delete: Expression


def map_rows(plan: MapPlan, engine: MappingEngine, unknown: Sequence[str]) -> MappingResult:
    """Return the target components of each row, and the findings.

    Args:
        plan: the plan.
        engine: the engine with the frame.
        unknown: the columns of the frame that neither the source nor SDMX-CSV defines.
    """
    return _Evaluation(plan, engine, unknown).run()


def compared_keys(plan: MapPlan) -> tuple[str, ...]:
    """Return the dimensions of the target by which mapped rows are compared; empty if they are not compared."""
    if plan.severity("ambiguous-key") is None or plan.keeps_keys_apart:
        return ()
    return tuple(name for name in plan.targets if name in plan.target.dimensions)


def ambiguous_key_finding(
    plan: MapPlan, keys: Sequence[str], is_found: Expression, shown: Expression
) -> ConditionalFinding:
    """Return the finding for rows that have the same key; ``shown`` joins its values with dots."""
    severity = plan.severity("ambiguous-key") or ""
    message = "several rows become this observation"
    return ConditionalFinding(is_found, "ambiguous-key", ".".join(keys), shown, message, severity, str(plan.artefact))


class _Evaluation:
    def __init__(self, plan: MapPlan, engine: MappingEngine, unknown: Sequence[str]) -> None:
        self._plan, self._engine, self._rows = plan, engine, SourceComponents(plan, engine)
        self._done: list[ValueMap] = []
        self._blame: dict[str, list[Expression]] = {}
        self._period: Expression | None = None
        # Targets that are only implicitly copied are left out if their source is absent; a dimension counts as missing
        # instead.
        absent = {copy.target for copy in plan.copies if not copy.is_explicit and not engine.has(copy.source)}
        self._targets = [target for target in plan.targets if target not in absent - plan.target.dimensions]
        self._deletions = Deletions(self._rows, self._targets, unknown)

    def run(self) -> MappingResult:
        plan = self._plan
        late = [value for value in plan.values if value.breaks and plan.time_is_mapped]
        self._look_up([value for value in plan.values if value not in late])
        self._map_dates()
        self._look_up(late)
        found = [one for part in (self._of_values(), self._of_dates(), self._of_fixed()) for one in part]
        targets = {target: self._deletions.value_of(target, self._chosen(target)) for target in self._targets}
        found += [*self._conflicts(), *self._missing(targets), *self._widened(targets)]
        fixed = {
            fixed_value.component: list(fixed_value.values)
            for fixed_value in plan.fixed_values
            if len(fixed_value.values) > 1
        }
        severe, deletes = [one for one in found if one.severity], self._rows.is_delete()
        return MappingResult(targets, self._kept(), fixed, self._left_out(fixed), severe, deletes)

    # Internal columns

    def _look_up(self, maps: Sequence[ValueMap]) -> None:
        if not maps:
            return
        plan, engine = self._plan, self._engine
        time = plan.target.time if plan.time_is_mapped else plan.source.time
        begins = None
        if time is not None and any(map_.breaks for map_ in maps):
            self._period = self._chosen(time) if plan.time_is_mapped else engine.source(time)
            engine.let({_BEGINS: engine.begins_s(self._period)})
            begins = engine.column(_BEGINS)
        engine.add({_of_map(plan, map_): self._outcome(map_, begins) for map_ in maps})
        for map_ in maps:
            if map_.several:
                engine.spread(_of_map(plan, map_), OUTCOMES)
        self._done += maps

    def _outcome(self, value_map: ValueMap, begins: Expression | None) -> Expression:
        """Return the outcome of the map's rules; where all sources are switched off, so are the target's dimensions."""
        engine = self._engine
        off = self._rows.switched_off(self._rows.sources_of(value_map.targets))
        is_open = self._rows.is_delete()
        if self._period is not None:
            is_open = is_open & ~engine.any_of([self._period == engine.text(SWITCHED_OFF)])
        found = outcome_of_map(engine, value_map, begins, is_open)
        if off is None:
            return found
        marks = [SWITCHED_OFF if target in self._plan.target.dimensions else NOTHING for target in value_map.targets]
        return engine.coalesce([engine.case([(off, engine.text(PARTS.join(marks)))]), found])

    def _map_dates(self) -> None:
        for number, date in enumerate(self._plan.dates):
            self._map_date(date, f"{OURS}at_{number}", f"{OURS}date_{number}")

    def _map_date(self, date_map: DateMap, at: str, date: str) -> None:
        frequency = self._frequency(date_map)
        text, row = f"{at}_text", f"{at}_frequency"
        values = {text: self._engine.source(date_map.source)} | ({} if frequency is None else {row: frequency})

        def compute(engine: MappingEngine) -> None:
            known = None if frequency is None else engine.column(row)
            add_instant(engine, date_map, engine.column(text), known, at)
            add_written(engine, date_map, engine.column(at), known, date)

        self._engine.per_value(values, [at, date], compute)

    def _frequency(self, date_map: DateMap) -> Expression | None:
        if date_map.frequency is None:
            return None
        return (
            self._engine.source(date_map.frequency)
            if date_map.frequency_in_source
            else self._chosen(date_map.frequency)
        )

    # Targets

    def _made(self, target: str) -> list[Expression]:
        """Return the texts that maps give a target component."""
        plan, engine = self._plan, self._engine
        made = [engine.source(copy.source) for copy in plan.copies if copy.target == target]
        made += [
            engine.text(fixed_value.values[0]) for fixed_value in plan.fixed_values if fixed_value.component == target
        ]
        made += [
            self._result(one, place) for one in self._done for place, id_ in enumerate(one.targets) if id_ == target
        ]
        return made + [self._date(number, date) for number, date in enumerate(plan.dates) if date.target == target]

    def _date(self, number: int, date_map: DateMap) -> Expression:
        """Return the written date; a dimension is switched off where its source is."""
        engine = self._engine
        written = engine.column(f"{OURS}date_{number}")
        off = self._rows.switched_off(self._rows.sources_of([date_map.target]))
        if off is None or date_map.target not in self._plan.target.dimensions:
            return written
        return engine.coalesce([engine.case([(off, engine.text(SWITCHED_OFF))]), written])

    def _result(self, value_map: ValueMap, place: int) -> Expression:
        engine = self._engine
        text = engine.column(_of_map(self._plan, value_map))
        part = text if len(value_map.targets) == 1 else engine.part(text, PARTS, place)
        none = [part == engine.text(NOTHING)] if self._may_be_nothing(value_map) else []
        none += [text == engine.text(AMBIGUOUS)] if AMBIGUOUS in value_map.marks else []
        # A group may have captured an empty text.
        none += [part == engine.text("")] if any(stage.groups for stage in value_map.stages) else []
        return engine.case([(~engine.any_of(none), part)]) if none else part

    def _may_be_nothing(self, value_map: ValueMap) -> bool:
        may_be_off = self._rows.switched_off(self._rows.sources_of(value_map.targets)) is not None
        return NOTHING in value_map.marks or (
            may_be_off and not self._plan.target.dimensions.issuperset(value_map.targets)
        )

    def _chosen(self, target: str) -> Expression:
        made = self._made(target)
        return made[0] if len(made) == 1 else self._engine.coalesce(made)

    def _kept(self) -> dict[str, str]:
        """Return the targets that are only copies."""
        plan = self._plan
        copied = {copy.target: copy.source for copy in plan.copies if self._engine.has(copy.source)}
        return {target: source for target, source in copied.items() if len(self._made(target)) == 1}

    def _left_out(self, fixed: Iterable[str]) -> dict[str, Expression]:
        """Return whether targets whose text is not used are left out of deletions."""
        dimensions = self._plan.source.dimensions
        copied = [target for target, source in self._kept().items() if source in dimensions]
        found = {target: self._deletions.is_left_out(target) for target in (*copied, *fixed)}
        return {target: left_out for target, left_out in found.items() if left_out is not None}

    # Findings

    def _found(
        self, is_found: Expression, rule: str, names: Sequence[str], message: str, artefact: str
    ) -> ConditionalFinding:
        engine = self._engine
        texts = [engine.source(name) if name in self._plan.source.components else engine.text(None) for name in names]
        shown = texts[0] if len(texts) == 1 else engine.joined(
            [engine.coalesce([text, engine.text("")]) for text in texts], "."
        )  # fmt: skip
        severity = self._plan.severity(rule) or ""
        return ConditionalFinding(is_found, rule, ".".join(names), shown, message, severity, artefact)

    def _of_values(self) -> Iterator[ConditionalFinding]:
        engine = self._engine
        for value in self._plan.values:
            name = _of_map(self._plan, value)
            is_given = engine.any_of([~engine.is_null(engine.source(name)) for name in value.sources])
            unmapped = self._counts(value.targets, engine.lacks(name) & is_given)
            values = _values_of(value.sources)
            message = f"no rule of the map matches {values}"
            wrong = [self._found(unmapped, "unmapped-value", value.sources, message, value.artefact)]
            if AMBIGUOUS in value.marks:
                ambiguous = engine.any_of([engine.column(name) == engine.text(AMBIGUOUS)])
                ambiguous = self._counts(value.targets, ambiguous)
                message = f"the rules of the map that match {values} contradict each other"
                wrong.append(self._found(ambiguous, "ambiguous-value", value.sources, message, value.artefact))
            yield from self._blamed(wrong, value.targets)
        yield from self._of_validity()

    def _counts(self, targets: Sequence[str], is_found: Expression) -> Expression:
        """Restrict a condition to rows in which the values of these targets matter."""
        excused = self._deletions.excused(targets)
        return is_found if excused is None else is_found & ~excused

    def _blamed(self, found: Sequence[ConditionalFinding], targets: Sequence[str]) -> Sequence[ConditionalFinding]:
        """Record errors as the reason why these components have no value, so that this is not reported again."""
        for target in targets:
            self._blame.setdefault(target, []).extend(one.is_found for one in found if one.severity == "error")
        return found

    def _of_validity(self) -> Iterator[ConditionalFinding]:
        """Find rows whose period is invalid, so that it is unknown which rules are valid for them."""
        engine, plan = self._engine, self._plan
        if self._period is None or plan.time_is_mapped:
            return
        none = engine.any_of([self._period == engine.text(SWITCHED_OFF), self._rows.is_delete()])
        unread = ~engine.is_null(self._period) & ~engine.fits(self._period, anchored(UNDERSTOOD)) & ~none
        time = plan.source.time or ""
        message = f"the value of {time} is not a period, so the valid rules are unknown"
        yield self._found(unread, "date-unreadable", [time], message, str(plan.artefact))

    def _of_dates(self) -> Iterator[ConditionalFinding]:
        engine, plan = self._engine, self._plan
        for target in dict.fromkeys(date.target for date in plan.dates):
            numbers = [number for number, date in enumerate(plan.dates) if date.target == target]
            maps = [plan.dates[number] for number in numbers]
            names = list(dict.fromkeys(map_.source for map_ in maps))
            given = engine.any_of([self._rows.is_given(name) for name in names])
            read = engine.any_of([~engine.lacks(f"{OURS}at_{number}") for number in numbers])
            made = engine.any_of([~engine.lacks(f"{OURS}date_{number}") for number in numbers])
            unknown = [self._no_frequency(map_) for map_ in maps if map_.frequency_in_source]
            lacks = (read & ~made) | engine.any_of(unknown) if unknown else read & ~made
            unread = given & ~read & ~engine.any_of(unknown) if unknown else given & ~read
            of = maps[0].artefact
            unread, lacks = self._counts([target], unread), self._counts([target], lacks)
            unread_words, lacks_words = _words_of_date(names, target)
            wrong = [
                self._found(unread, "date-unreadable", names, unread_words, of),
                self._found(lacks, "frequency-unknown", names, lacks_words, of),
            ]
            yield from self._blamed(wrong, [target])

    def _no_frequency(self, date_map: DateMap) -> Expression:
        """Return whether no reading is defined for dates of the row's frequency."""
        engine = self._engine
        frequency, known = engine.source(date_map.frequency or ""), [name for name, _ in date_map.readings]
        if None in known:
            return engine.any_of([])
        is_known = engine.any_of([frequency == engine.text(name) for name in known])
        return self._rows.is_given(date_map.source) & ~is_known

    def _of_fixed(self) -> Iterator[ConditionalFinding]:
        engine = self._engine
        for source_fixed_value in self._plan.source_fixed_values:
            value = engine.source(source_fixed_value.component)
            others = engine.any_of([value == engine.text(text) for text in source_fixed_value.values])
            name = source_fixed_value.component
            message = f"the map fixes {name} to {', '.join(source_fixed_value.values)}"
            wrong = ~engine.is_null(value) & ~others
            yield self._found(wrong, "source-differs", [name], message, str(self._plan.artefact))

    def _conflicts(self) -> Iterator[ConditionalFinding]:
        engine = self._engine
        for target in self._targets:
            first, *others = self._made(target)
            if others:
                chosen = engine.coalesce([first, *others])
                wrong = self._counts([target], engine.any_of([~(other == chosen) for other in others]))
                message = f"maps give {target} different values"
                found = self._found(wrong, "ambiguous-value", [target], message, str(self._plan.artefact))
                yield found._replace(value=chosen)

    def _missing(self, targets: dict[str, Expression]) -> Iterator[ConditionalFinding]:
        engine = self._engine
        for target in self._targets:
            if target in self._plan.target.dimensions:
                excused = engine.any_of([*self._blame.get(target, []), self._rows.is_delete()])
                missing = engine.is_null(targets[target]) & ~excused
                message = f"the map gives the dimension {target} no value"
                found = self._found(missing, "no-output", [target], message, str(self._plan.artefact))
                yield found._replace(value=engine.text(None))

    def _widened(self, targets: dict[str, Expression]) -> Iterator[ConditionalFinding]:
        """Find deletions that would delete more in the target.

        These are errors even if the rule is off, because more data would be lost than the sender named.
        """
        maps = {_of_map(self._plan, value_map): value_map for value_map in self._plan.values}
        value, artefact = self._engine.source(ACTION), str(self._plan.artefact)
        for is_found, component, message in self._deletions.wide(targets, maps, self._blame):
            yield ConditionalFinding(is_found, "no-output", component, value, message, "error", artefact)


def _of_map(plan: MapPlan, value_map: ValueMap) -> str:
    return f"{OURS}map_{next(number for number, other in enumerate(plan.values) if other is value_map)}"


def _values_of(names: Sequence[str]) -> str:
    """Return components in words: ``the value of FREQ``, ``the values of FREQ and AREA``."""
    if len(names) == 1:
        return f"the value of {names[0]}"
    return f"the values of {', '.join(names[:-1])} and {names[-1]}"


def _words_of_date(names: Sequence[str], target: str) -> tuple[str, str]:
    """Return the messages for a date that cannot be read, and for one that cannot be written.

    Args:
        names: the source components of the date.
        target: the target component.
    """
    map_ = "its map" if target in names else f"the map of {target}"
    are = "is" if len(names) == 1 else "are"
    return (
        f"{_values_of(names)} {are} not written as {map_} says",
        f"{map_} has no format for the frequency of {_values_of(names)}",
    )
