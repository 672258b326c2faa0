"""The result of a component map for a row: the text of one outcome or several, or NULL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kafka_replica.data.mapping.mapping_engine import Expression, MappingEngine
from kafka_replica.data.mapping.model import (
    MARKS,
    OPEN,
    PARTS,
    UNTIMED,
    Stage,
    ValueMap,
    ValuePattern,
    ValueSlice,
    group_mark,
)
from kafka_replica.data.mapping.portable_regexes import PortableExpression as Rewritten
from kafka_replica.sdmx.values.text_types import anchored

_MARK: Final = re.compile("\x02([0-9]+)\x03")


def outcome_of_map(
    engine: MappingEngine, value_map: ValueMap, begins_s: Expression | None, is_open: Expression
) -> Expression:
    """Return the outcome from the first stage that has a rule for the row's values.

    Args:
        engine: the engine that runs the plan.
        value_map: the component map.
        begins_s: the second in which the row's period begins.
        is_open: whether a row without a period is of any period.
    """
    span = _span(engine, value_map, begins_s, is_open)
    stages = [_of_stage(engine, stage, span) for stage in value_map.stages]
    return engine.coalesce(stages) if stages else engine.text(None)


def _span(engine: MappingEngine, value_map: ValueMap, begins_s: Expression | None, is_open: Expression) -> Expression:
    """Return the number of the time span, as text."""
    if begins_s is None or not value_map.breaks:
        return engine.text(UNTIMED)
    none = engine.is_null(begins_s)
    untimed = engine.case([(none & is_open, engine.text(OPEN)), (none, engine.text(UNTIMED))])
    return engine.coalesce([untimed, _between(engine, value_map.breaks, begins_s, 0, len(value_map.breaks))])


def _between(engine: MappingEngine, breaks: Sequence[int], begins_s: Expression, first: int, last: int) -> Expression:
    """Return the number of the time span among these, by binary search, so that expressions stay flat."""
    if first == last:
        return engine.text(str(first))
    middle = (first + last) // 2
    is_later = begins_s >= engine.number(breaks[middle])
    later = _between(engine, breaks, begins_s, middle + 1, last)
    return engine.coalesce([engine.case([(is_later, later)]), _between(engine, breaks, begins_s, first, middle)])


def _of_stage(engine: MappingEngine, stage: Stage, span: Expression) -> Expression:
    value = _found(engine, stage, span)
    if not stage.patterns:
        return value
    fits = engine.fits(_text(engine, stage.patterns[0].text), anchored(stage.patterns[0].expression))
    for pattern in stage.patterns[1:]:
        fits = fits & engine.fits(_text(engine, pattern.text), anchored(pattern.expression))
    if stage.groups:
        # The text of a captured group is put into outcomes next to our own marks.
        for pattern in stage.patterns:
            fits = fits & ~engine.fits(_text(engine, pattern.text), MARKS)
    return engine.case([(fits, value)])


def _found(engine: MappingEngine, stage: Stage, span: Expression) -> Expression:
    """Return the entries of the tables for the row, with groups filled in."""
    texts = [_text(engine, piece) for piece in stage.keys]
    if not stage.table and not stage.timed:
        return engine.text(None)
    if not texts and not stage.timed:
        return _constant(engine, stage, stage.table[""])
    found: list[Expression] = []
    if stage.timed:
        found.append(engine.look_up(engine.joined([*(texts or [engine.text("")]), span], PARTS), stage.timed))
    if stage.table:
        found.append(
            engine.look_up(engine.joined(texts, PARTS), stage.table) if texts else _always(engine, stage, span)
        )
    value = found[0] if len(found) == 1 else engine.coalesce(found)
    for group in stage.groups:
        value = engine.replaced(value, group_mark(group), _group(engine, stage, group))
    return value


def _always(engine: MappingEngine, stage: Stage, span: Expression) -> Expression:
    """Return an outcome that does not depend on values, as one value per row."""
    return engine.case([(~engine.is_null(span), engine.text(stage.table[""]))])


def _constant(engine: MappingEngine, stage: Stage, outcome_: str) -> Expression:
    """Return an outcome that is the same for all rows except for its groups."""
    pieces = _MARK.split(outcome_)
    texts = [
        engine.text(piece) if place % 2 == 0 else _group(engine, stage, int(piece))
        for place, piece in enumerate(pieces)
    ]
    return texts[0] if len(texts) == 1 else engine.joined(texts, "")


def _group(engine: MappingEngine, stage: Stage, number: int) -> Expression:
    """Return the text that a group captured; 0 is the whole text that the first expression matches."""
    if number == 0:
        return _text(engine, stage.patterns[0].text)
    before = 0
    for pattern in stage.patterns:
        if number <= before + pattern.groups:
            only = Rewritten(pattern.expression, pattern.groups).only(number - before)
            return engine.group(_text(engine, pattern.text), anchored(only))
        before += pattern.groups
    raise AssertionError(number)


def _text(engine: MappingEngine, piece: ValueSlice | ValuePattern) -> Expression:
    if isinstance(piece, ValuePattern):
        piece = piece.text
    text = engine.source(piece.component)
    return text if piece.start is None else engine.slice(text, piece.start, piece.length)
