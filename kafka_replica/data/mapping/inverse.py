"""The inverse of a map, which recovers the data before mapping.

Not every map has an inverse. Copies, fixed values and one-to-one maps of plain values have one, and so have dates that
are written as finely as they were read. A source component without a trace in the target cannot be recovered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from kafka_replica.data.errors import NotInvertibleError
from kafka_replica.data.mapping.date_patterns import Reading
from kafka_replica.data.mapping.granularity import lies_within, read_again, reason_not_writable, write_again
from kafka_replica.data.mapping.model import (
    AMBIGUOUS,
    NOTHING,
    OUTCOMES,
    PARTS,
    Copy,
    DateMap,
    MapPlan,
    Stage,
    ValueMap,
    ValueSlice,
)


def inverse(plan: MapPlan) -> MapPlan:
    """Return the inverse plan. Mapping data and mapping it back gives the same data again, as texts.

    Dates, times and numbers of an epoch are recovered as the map's pattern writes them in full, and a fixed source
    component as the map fixes it. Source attributes that no map names are not recovered; notes name these.

    Raises:
        NotInvertibleError: the map loses information; the message names it.
    """
    reasons = [*_lost(plan), *(reason for value in plan.values for reason in _why_not(value))]
    reasons += [reason for date in plan.dates for reason in _coarser(date)]
    if reasons:
        raise NotInvertibleError(
            f"inverting {plan.artefact}: {'; '.join(reasons)}; write a map for the opposite direction"
        )
    return replace(
        plan,
        source=plan.target,
        target=plan.source,
        copies=tuple(Copy(copy.target, copy.source, copy.is_explicit) for copy in plan.copies),
        fixed_values=plan.source_fixed_values,
        source_fixed_values=plan.fixed_values,
        values=tuple(_turned(value) for value in plan.values),
        dates=tuple(_dates_turned(date) for date in plan.dates),
        notes=tuple(f"{id_}: no map sets it" for id_ in _unused_sources(plan)),
    )


def _uses_of_sources(plan: MapPlan) -> Counter[str]:
    uses = Counter(copy.source for copy in plan.copies)
    uses.update(source_fixed_value.component for source_fixed_value in plan.source_fixed_values)
    uses.update(source for value in plan.values for source in value.sources)
    uses.update(date.source for date in plan.dates)
    return uses


def _unused_sources(plan: MapPlan) -> list[str]:
    return [id_ for id_ in plan.source.components if id_ not in _uses_of_sources(plan)]


def _lost(plan: MapPlan) -> Iterator[str]:
    untold = _unused_sources(plan)
    for what, ids in (("dimension", plan.source.dimensions), ("measure", plan.source.measures)):
        lost = [id_ for id_ in untold if id_ in ids]
        if lost:
            yield f"{what} {', '.join(lost)} is lost"
    any_of = [
        source_fixed_value.component
        for source_fixed_value in plan.source_fixed_values
        if len(source_fixed_value.values) > 1
    ]
    if any_of:
        yield f"{', '.join(any_of)} is fixed to several values"
    twice = [id_ for id_, count in _uses_of_sources(plan).items() if count > 1]
    if twice:
        yield f"{', '.join(twice)} is mapped by several maps"
    made = Counter(target for value in plan.values for target in value.targets)
    made.update(copy.target for copy in plan.copies)
    made.update(date.target for date in plan.dates)
    made.update(fixed_value.component for fixed_value in plan.fixed_values)
    several = [id_ for id_, count in made.items() if count > 1]
    if several:
        yield f"{', '.join(several)} is set by several maps"


def _why_not(value_map: ValueMap) -> Iterator[str]:
    name = f"{', '.join(value_map.sources)} to {', '.join(value_map.targets)}"
    if (
        len(value_map.stages) != 1
        or value_map.stages[0].patterns
        or any(piece.start is not None for piece in value_map.stages[0].keys)
    ):
        yield f"{name} is mapped by expressions or substrings"
        return
    if value_map.breaks:
        yield f"{name} depends on time"
        return
    outcomes = list(value_map.stages[0].table.values())
    if any(OUTCOMES in text or AMBIGUOUS in text for text in outcomes):
        yield f"{name} has several outcomes for one value"
    elif len(set(outcomes)) < len(outcomes):
        yield f"{name} gives several values the same outcome"
    elif any(NOTHING in text.split(PARTS) for text in outcomes):
        yield f"{name} maps values to nothing"


def _turned(value_map: ValueMap) -> ValueMap:
    keys = tuple(ValueSlice(target) for target in value_map.targets)
    table = {outcome: key for key, outcome in value_map.stages[0].table.items()}
    return replace(
        value_map, sources=value_map.targets, targets=value_map.sources, stages=(Stage(keys, (), table, {}),)
    )


def _coarser(date_map: DateMap) -> Iterator[str]:
    reason = reason_not_writable(date_map.readings[0][1])
    if reason is not None:
        yield f"the date in {date_map.source} cannot be restored: {reason}"
    elif not _lossless_readings(date_map):
        yield f"{date_map.target} is less precise than the date in {date_map.source}"


def _lossless_readings(date_map: DateMap) -> list[tuple[str | None, Reading]]:
    """Return ways to read written dates, for the frequencies whose writing preserves everything that was read."""
    if len(date_map.readings) > 1:
        return []
    _, first = next(iter(date_map.readings))
    again = ((frequency, read_again(writing, first)) for frequency, writing in date_map.writings)
    return [(frequency, reading) for frequency, reading in again if reading is not None and lies_within(reading, first)]


def lossless_frequencies(date_map: DateMap) -> frozenset[str | None]:
    """Return the frequencies for which different dates stay different; None means any frequency.

    A date map of an inverse, which reads the frequency of the source, keeps dates different.
    """
    if date_map.frequency_in_source:
        return frozenset({None})
    if reason_not_writable(date_map.readings[0][1]) is not None:
        return frozenset()
    return frozenset(frequency for frequency, _ in _lossless_readings(date_map))


def _dates_turned(date_map: DateMap) -> DateMap:
    return replace(
        date_map,
        source=date_map.target,
        target=date_map.source,
        readings=tuple(_lossless_readings(date_map)),
        writings=((None, write_again(date_map.readings[0][1])),),
        frequency_in_source=not date_map.frequency_in_source,
    )
