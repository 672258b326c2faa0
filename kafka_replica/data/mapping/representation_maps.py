r"""Rows of representation maps as stages of look-ups.

If several rows match a value, these rules decide, from the standard (SDMX 3.1 Section 6, chapter 13) where it has one:

- Rows of plain values come first, then those with expressions or substrings in their order: expressions are "a
  catch-all if nothing else matches", and the first matching one counts (13.6.1).
- Several rows with the same plain values give several outcomes, so several series (13.1).
- A row with a validity period has precedence over the same values without one; it applies to periods that begin in it
  (13.9).
- ``\1`` in a target is the first group; groups are counted over all sources of the row (13.6.1).
- A row without targets maps to nothing (Section 2, RepresentationMap).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

from kafka_replica.common.wording import counted
from kafka_replica.data.errors import MapError
from kafka_replica.data.mapping.model import (
    AMBIGUOUS,
    MARKS,
    NOTHING,
    OPEN,
    OUTCOMES,
    PARTS,
    UNTIMED,
    Stage,
    ValueMap,
    ValuePattern,
    ValueSlice,
    group_mark,
)
from kafka_replica.data.mapping.portable_regexes import PortableExpression, UnusableExpressionError, portable_expression
from kafka_replica.sdmx.model import MappedValue, RepresentationMapping
from kafka_replica.sdmx.values.periods import period

_REFERENCE: Final = re.compile(r"\\(0|[1-9][0-9]{0,8})")
_CONTROL: Final = re.compile(MARKS)
_MOST_ENTRIES: Final = 1_000_000
_MOST_SPANS: Final = 5_000


class _Row(NamedTuple):
    """A parsed row of a representation map."""

    keys: tuple[ValueSlice, ...]
    key: str
    patterns: tuple[ValuePattern, ...]
    outcome: str
    groups: frozenset[int]
    valid_from_s: int | None
    valid_to_s: int | None

    @property
    def is_timed(self) -> bool:
        return self.valid_from_s is not None or self.valid_to_s is not None

    @property
    def is_plain(self) -> bool:
        return not self.patterns and all(piece.start is None for piece in self.keys)

    def spans(self, spans: Sequence[int]) -> range:
        """Return the numbers of the time spans, given by their first seconds, in which the row is valid."""
        start = 0 if self.valid_from_s is None else bisect_left(spans, self.valid_from_s)
        return range(start, len(spans) if self.valid_to_s is None else bisect_left(spans, self.valid_to_s))


def value_map_of(
    sources: Sequence[str],
    targets: Sequence[str],
    mappings: Sequence[RepresentationMapping],
    dimensions: frozenset[str],
    artefact: str,
) -> ValueMap:
    """Return a component map with the rows of its representation map.

    Args:
        sources: the source components.
        targets: the target components.
        mappings: the rows.
        dimensions: the dimensions of the target, in which outcomes may differ.
        artefact: the representation map.

    Raises:
        MapError: a row does not fit the components, or has an expression that cannot be used; or the validities of the
            rows are too many.
    """
    rows = [_row(number, mapping, sources, targets, artefact) for number, mapping in enumerate(mappings, start=1)]
    breaks = sorted({second for row in rows for second in (row.valid_from_s, row.valid_to_s) if second is not None})
    spans = [(breaks[0] - 1 if breaks else 0), *breaks]
    key_places = [place for place, target in enumerate(targets) if target in dimensions]
    _check_size(rows, spans, artefact)
    plain = [row for row in rows if row.is_plain]
    stages = [_stage(plain, spans, key_places, takes_all=True)] if plain else []
    run: list[_Row] = []
    for row in rows:
        if row.is_plain:
            continue
        if run and (row.keys, row.patterns) != (run[0].keys, run[0].patterns):
            stages.append(_stage(run, spans, key_places, takes_all=False))
            run = []
        run.append(row)
    if run:
        stages.append(_stage(run, spans, key_places, takes_all=False))
    return ValueMap(tuple(sources), tuple(targets), tuple(stages), tuple(breaks), artefact)


def _stage(rows: Sequence[_Row], spans: Sequence[int], key_places: Sequence[int], *, takes_all: bool) -> Stage:
    """Return the stage of rows with one shape, of which all valid ones count, or only the first."""
    by_key: dict[str, list[_Row]] = {}
    for row in rows:
        by_key.setdefault(row.key, []).append(row)
    table: dict[str, str] = {}
    timed: dict[str, str] = {}
    for key, alike in by_key.items():
        always = [row for row in alike if not row.is_timed]
        if always:
            table[key] = _outcomes(always, key_places) if takes_all else always[0].outcome
        if len(always) == len(alike):
            continue
        # If only the first one counts, rows after one that is always valid never count.
        first = alike if takes_all else takewhile(lambda row: row.is_timed, alike)
        held = {
            number: _outcomes(holding, key_places) if takes_all else holding[0].outcome
            for number, holding in _by_span(first, spans).items()
        }
        timed |= {f"{key}{PARTS}{number}": text for number, text in held.items()}
        if key_places:
            others = [] if len(held) == len(spans) else [table.get(key)]
            timed[f"{key}{PARTS}{OPEN}"] = _at_any_time([*held.values(), *others], key_places)
    groups = sorted({group for row in rows for group in row.groups})
    return Stage(rows[0].keys, rows[0].patterns, table, timed, tuple(groups))


def _by_span(rows: Iterable[_Row], spans: Sequence[int]) -> dict[int, list[_Row]]:
    """Return the rows with a validity that are valid in each time span, by the number of the span."""
    found: dict[int, list[_Row]] = {}
    for row in rows:
        if row.is_timed:
            for number in row.spans(spans):
                found.setdefault(number, []).append(row)
    return found


def _at_any_time(outcomes: Sequence[str | None], key_places: Sequence[int]) -> str:
    """Return the outcome of a deletion without a period: ambiguous if its dimensions depend on the period."""
    known = [outcome for outcome in outcomes if outcome is not None and outcome != AMBIGUOUS]
    keys = {
        frozenset(tuple(one.split(PARTS)[place] for place in key_places) for one in outcome.split(OUTCOMES))
        for outcome in known
    }  # fmt: skip
    return known[0] if len(known) == len(outcomes) and len(keys) == 1 else AMBIGUOUS


def _check_size(rows: Sequence[_Row], spans: Sequence[int], of: str) -> None:
    """Refuse rows whose validities make too many time spans, or too many entries in tables. Raises MapError."""
    entries = sum(len(row.spans(spans)) for row in rows if row.is_timed)
    if len(spans) > _MOST_SPANS or entries > _MOST_ENTRIES:
        raise MapError(
            f"compiling {of}: the validities of its rows make {counted(len(spans), 'time span')} and "
            f"{entries:,} entries by time span, but only {_MOST_SPANS:,} and {_MOST_ENTRIES:,} are possible; use fewer "
            "different validities, or divide the map"
        )


def _outcomes(rows: Sequence[_Row], key_places: Sequence[int]) -> str:
    outcomes = list(dict.fromkeys(row.outcome for row in rows))
    if len(outcomes) == 1:
        return outcomes[0]
    keys = {tuple(outcome.split(PARTS)[place] for place in key_places) for outcome in outcomes}
    return OUTCOMES.join(outcomes) if len(keys) == len(outcomes) else AMBIGUOUS


def span_number(breaks: Sequence[int], second: int | None) -> str:
    """Return the number of the time span that a second is in, as it is written in the keys of timed tables."""
    return UNTIMED if second is None else str(sum(second >= break_ for break_ in breaks))


def _row(number: int, mapping: RepresentationMapping, sources: Sequence[str], targets: Sequence[str], of: str) -> _Row:
    if len(mapping.sources) != len(sources) or len(mapping.targets) > len(targets):
        ends = f"{counted(len(mapping.sources), 'source')} and {counted(len(mapping.targets), 'target')}"
        raise MapError(
            f"compiling {of}: row {number} has {ends}, but {', '.join(sources)} are mapped to {', '.join(targets)}; "
            "correct the map"
        )
    if any(_CONTROL.search(text) for text in (*(source.value for source in mapping.sources), *mapping.targets)):
        raise MapError(f"compiling {of}: row {number} has control characters, which XML does not allow")
    keys: list[ValueSlice] = []
    parts: list[str] = []
    patterns: list[ValuePattern] = []
    unsure: set[int] = set()
    for component, value in zip(sources, mapping.sources, strict=True):
        if value.is_reg_ex:
            expression = _expression(number, component, value, of)
            before = sum(pattern.groups for pattern in patterns)
            if expression.is_unsure:
                unsure.update(range(before + 1, before + expression.groups + 1))
            patterns.append(ValuePattern(_slice(number, component, value, of), expression.written, expression.groups))
        else:
            keys.append(_slice(number, component, value, of))
            parts.append(value.value)
    outcome, groups = _target(number, mapping, targets, sum(pattern.groups for pattern in patterns), of)
    if groups & unsure:
        raise MapError(
            f"compiling {of}: row {number}: a target refers to group {min(groups & unsure)}, but a part of its "
            "expression may match nothing and is repeated, where Java and Rust capture different texts; rewrite it so "
            "that each repetition matches at least one character, such as ([a-z]*) instead of ([a-z]*)+"
        )
    return _Row(
        tuple(keys), PARTS.join(parts), tuple(patterns), outcome, groups,
        _bound(number, mapping.valid_from, of, end=False), _bound(number, mapping.valid_to, of, end=True),
    )  # fmt: skip


def _slice(number: int, component: str, value: MappedValue, of: str) -> ValueSlice:
    """Return a slice (Section 2): both indexes count from zero; the value's length shows if the last is included."""
    start, end = value.start_index, value.end_index
    if (start or 0) < 0 or (end is not None and end < (start or 0)):
        raise MapError(
            f"compiling {of}: row {number}: the part of {component} from {start or 0} to {end} is invalid; correct "
            "the map"
        )
    if start is None and end is None:
        return ValueSlice(component)
    first = start or 0
    if end is None:
        return ValueSlice(component, first)
    length = end - first
    return ValueSlice(
        component, first, length + 1 if len(value.value) == length + 1 and not value.is_reg_ex else length
    )


def _expression(number: int, component: str, value: MappedValue, of: str) -> PortableExpression:
    try:
        return portable_expression(value.value)
    except UnusableExpressionError as error:
        raise MapError(
            f"compiling {of}: row {number}: the expression {value.value!r} for {component} cannot be used: {error}"
        ) from error


def _target(
    number: int, mapping: RepresentationMapping, targets: Sequence[str], groups: int, of: str
) -> tuple[str, frozenset[int]]:
    """Return the outcome, with placeholders for groups, and the groups that it refers to."""
    if not any(source.is_reg_ex for source in mapping.sources):
        written = [text or NOTHING for text in mapping.targets]
        return PARTS.join(written + [NOTHING] * (len(targets) - len(written))), frozenset()
    used: set[int] = set()

    def marked(found: re.Match[str]) -> str:
        digits = found[1]
        while int(digits) > groups and len(digits) > 1:  # the longest number that is a group, as in Java
            digits = digits[:-1]
        if int(digits) > groups:
            raise MapError(
                f"compiling {of}: row {number}: a target refers to group {digits}, but its expressions have {groups}; "
                "correct the map"
            )
        used.add(int(digits))
        return group_mark(int(digits)) + found[1][len(digits) :]

    written = [_REFERENCE.sub(marked, text) or NOTHING for text in mapping.targets]
    return PARTS.join(written + [NOTHING] * (len(targets) - len(written))), frozenset(used)


def _bound(number: int, text: str | None, of: str, *, end: bool) -> int | None:
    if text is None:
        return None
    found = period(text)
    if found is None:
        raise MapError(f"compiling {of}: row {number}: {text!r} is not a period of validity; correct the map")
    return found.end_s if end else found.start_s
