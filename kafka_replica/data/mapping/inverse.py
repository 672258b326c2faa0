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
from kafka_replica.data.mapping.granularity import forgotten, lies_within, read_again, write_again
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
    reasons = [*_lost(plan), *(reason for one in plan.values for reason in _why_not(one))]
    reasons += [reason for one in plan.dates for reason in _coarser(one)]
    if reasons:
        raise NotInvertibleError(
            f"inverting {plan.artefact}: {'; '.join(reasons)}; write a map for the opposite direction"
        )
    return replace(
        plan,
        source=plan.target,
        target=plan.source,
        copies=tuple(Copy(one.target, one.source, one.is_explicit) for one in plan.copies),
        fixed_values=plan.source_fixed_values,
        source_fixed_values=plan.fixed_values,
        values=tuple(_turned(one) for one in plan.values),
        dates=tuple(_dates_turned(one) for one in plan.dates),
        notes=tuple(f"{id_}: no map sets it" for id_ in _unused_sources(plan)),
    )


def _uses_of_sources(plan: MapPlan) -> Counter[str]:
    uses = Counter(one.source for one in plan.copies)
    uses.update(one.component for one in plan.source_fixed_values)
    uses.update(source for one in plan.values for source in one.sources)
    uses.update(one.source for one in plan.dates)
    return uses


def _unused_sources(plan: MapPlan) -> list[str]:
    return [id_ for id_ in plan.source.components if id_ not in _uses_of_sources(plan)]


def _lost(plan: MapPlan) -> Iterator[str]:
    untold = _unused_sources(plan)
    for what, ids in (("dimension", plan.source.dimensions), ("measure", plan.source.measures)):
        lost = [id_ for id_ in untold if id_ in ids]
        if lost:
            yield f"{what} {', '.join(lost)} is lost"
    any_of = [one.component for one in plan.source_fixed_values if len(one.values) > 1]
    if any_of:
        yield f"{', '.join(any_of)} is fixed to several values"
    twice = [id_ for id_, count in _uses_of_sources(plan).items() if count > 1]
    if twice:
        yield f"{', '.join(twice)} is mapped by several maps"
    made = Counter(target for one in plan.values for target in one.targets)
    made.update(one.target for one in plan.copies)
    made.update(one.target for one in plan.dates)
    made.update(one.component for one in plan.fixed_values)
    several = [id_ for id_, count in made.items() if count > 1]
    if several:
        yield f"{', '.join(several)} is set by several maps"


def _why_not(one: ValueMap) -> Iterator[str]:
    name = f"{', '.join(one.sources)} to {', '.join(one.targets)}"
    if len(one.stages) != 1 or one.stages[0].patterns or any(piece.start is not None for piece in one.stages[0].keys):
        yield f"{name} is mapped by expressions or substrings"
        return
    if one.breaks:
        yield f"{name} depends on time"
        return
    outcomes = list(one.stages[0].table.values())
    if any(OUTCOMES in text or AMBIGUOUS in text for text in outcomes):
        yield f"{name} has several outcomes for one value"
    elif len(set(outcomes)) < len(outcomes):
        yield f"{name} gives several values the same outcome"
    elif any(NOTHING in text.split(PARTS) for text in outcomes):
        yield f"{name} maps values to nothing"


def _turned(one: ValueMap) -> ValueMap:
    keys = tuple(ValueSlice(target) for target in one.targets)
    table = {outcome: key for key, outcome in one.stages[0].table.items()}
    return replace(one, sources=one.targets, targets=one.sources, stages=(Stage(keys, (), table, {}),))


def _coarser(one: DateMap) -> Iterator[str]:
    reason = forgotten(one.readings[0][1])
    if reason is not None:
        yield f"the date in {one.source} cannot be restored: {reason}"
    elif not _lossless_readings(one):
        yield f"{one.target} is less precise than the date in {one.source}"


def _lossless_readings(one: DateMap) -> list[tuple[str | None, Reading]]:
    """Return ways to read written dates, for the frequencies whose writing preserves everything that was read."""
    if len(one.readings) > 1:
        return []
    _, first = next(iter(one.readings))
    again = ((frequency, read_again(writing, first)) for frequency, writing in one.writings)
    return [(frequency, reading) for frequency, reading in again if reading is not None and lies_within(reading, first)]


def _dates_turned(one: DateMap) -> DateMap:
    return replace(
        one,
        source=one.target,
        target=one.source,
        readings=tuple(_lossless_readings(one)),
        writings=((None, write_again(one.readings[0][1])),),
        frequency_in_source=not one.frequency_in_source,
    )
