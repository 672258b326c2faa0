"""Cheap conditions that are true for every row that violates a rule, so that few rows need the full checks.

Most values are common, such as an allowed code or a month of this century. A single look-up shows whether a value is
one of them, whereas rules may be numerous and complex. A row that a screen selects may still be valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Final

from kafka_replica.data.validation.conditions import (
    And,
    ComponentText,
    Concat,
    Condition,
    Constant,
    In,
    IsNull,
    Matches,
    Not,
    Or,
    RegexGroup,
    nodes_of,
    some,
)
from kafka_replica.data.validation.evaluation import evaluate_condition
from kafka_replica.data.validation.model import Check, Rules
from kafka_replica.data.validation.patterns import python_form

_SEPARATOR: Final = "\x1f"
_YEARS: Final = range(1950, 2051)
_FIRST_DAY: Final = date(2000, 1, 1)
_DAYS: Final = 31 * 365
_MOST: Final = 5000
_LETTERS: Final = frozenset("ASTQMWD")
"""The frequencies whose periods are precomputed."""
_QUICK: Final = frozenset({"time-period", "calendar", "frequency", "dimension-missing"})
"""The rules whose evaluation for a period is fast enough to test many thousands of periods."""


def screening_conditions(
    rules: Rules, checks: Sequence[Check], several: frozenset[str] = frozenset()
) -> list[Condition]:
    """Return, for each check, a condition that is true for each row that violates it; checks may share a condition.

    Args:
        rules: the rules that the checks belong to.
        checks: the checks of each row.
        several: the components whose columns have several values.
    """
    found = {check: check.broken for check in checks}
    timed = _about_time(rules, checks)
    if timed and not several & frozenset().union(*(check.looks_at for check in timed)):
        condition = _usual_period(rules, timed)
        if condition is not None:
            found |= dict.fromkeys(timed, condition)
    for column in rules.columns:
        mine = [check for check in checks if check.looks_at == {column.id}]
        if column.enumeration is None or column.id in several or not mine:
            continue
        fine = column.values.intersection(*(_surely(c.broken, column.id, column.values, wanted=False) for c in mine))
        if fine:
            found |= dict.fromkeys(mine, _unless(Not(In(ComponentText(column.id), fine)), [column.id], mine))
    return list(found.values())


def narrowed_condition(condition: Condition, screen: Condition) -> Condition:
    """Simplify a condition for the rows that the screen selects, which lack the values that it excludes."""
    match screen:
        case Not(In(ComponentText(id_), fine)) | Or((IsNull(_), Not(In(ComponentText(id_), fine)))):
            return _without(condition, id_, fine)
    return condition


def _without(condition: Condition, id_: str, fine: frozenset[str]) -> Condition:
    match condition:
        case In(ComponentText(component) as value, known) if component == id_ and not known.isdisjoint(fine):
            return In(value, known - fine)
        case Not(inner):
            return Not(_without(inner, id_, fine))
        case And(parts):
            return And(tuple(_without(part, id_, fine) for part in parts))
        case Or(parts):
            return Or(tuple(_without(part, id_, fine) for part in parts))
    return condition


def _about_time(rules: Rules, checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return the checks that only read the time dimension and the frequency, and that Python can evaluate."""
    time = next((column.id for column in rules.columns if column.is_time), None)
    freq = _frequency(checks, time)
    return tuple(
        check
        for check in checks
        if time in check.looks_at and check.looks_at <= {time, freq} and _is_readable(check.broken)
    )


def _is_readable(condition: Condition) -> bool:
    """Return whether Python can read all expressions of a condition, so that ``evaluate_condition`` works."""
    expressions = (node.expression for node in nodes_of(condition) if isinstance(node, Matches | RegexGroup))
    return all(python_form(expression) is not None for expression in expressions)


def _frequency(checks: Sequence[Check], time: str | None) -> str | None:
    frequency_check = next((check for check in checks if check.rule == "frequency"), None)
    return None if frequency_check is None else next(iter(frequency_check.looks_at - {time}), None)


def _usual_period(rules: Rules, checks: tuple[Check, ...]) -> Condition | None:
    time = next(column.id for column in rules.columns if column.is_time)
    freq = _frequency(checks, time)
    if freq is None:
        # Weeks and days are left out: there are many, each has a cost, and most data has none.
        fine = _fine_periods(checks, time, None, _LETTERS - {"W", "D"})
        return _unless(Not(In(ComponentText(time), fine)), [time], checks) if fine else None
    column = rules.column(freq)
    codes = frozenset() if column is None else column.values & _LETTERS
    if not codes:
        return None
    fine = _fine_periods(checks, time, freq, codes)
    return _unless(Not(In(Concat((freq, time), _SEPARATOR), fine)), [freq, time], checks) if fine else None


@lru_cache(maxsize=64)
def _fine_periods(checks: tuple[Check, ...], time: str, freq: str | None, codes: frozenset[str]) -> frozenset[str]:
    """Return periods that violate no check, each preceded by its frequency if there is one."""
    quick = all(check.rule in _QUICK for check in checks)
    return frozenset(
        period if freq is None else f"{code}{_SEPARATOR}{period}"
        for code in sorted(codes)
        for period in (_periods(code) if quick or code != "D" else ())
        if not any(
            evaluate_condition(check.broken, {time: period} if freq is None else {time: period, freq: code})
            for check in checks
        )
    )


def _periods(code: str) -> Iterator[str]:
    """Return the common texts of a frequency's periods."""
    if code == "A":
        return map(str, _YEARS)
    if code == "M":
        return (f"{year}-{month:02}" for year in _YEARS for month in range(1, 13))
    if code == "W":
        return (f"{year}-W{week:02}" for year in _YEARS for week in range(1, 54))
    if code == "D":
        return (str(_FIRST_DAY + timedelta(days=day)) for day in range(_DAYS))
    count = {"S": 2, "T": 3, "Q": 4}[code]
    return (f"{year}-{code}{number}" for year in _YEARS for number in range(1, count + 1))


def _unless(condition: Condition, components: Sequence[str], checks: Sequence[Check]) -> Condition:
    """Return the condition, extended to missing values if the checks can be violated without a value."""
    needs_a_value = all(evaluate_condition(check.broken, {}) is not True for check in checks)
    missing = [IsNull(component) for component in components]
    return condition if needs_a_value and len(components) == 1 else some(*missing, condition)


def _surely(  # noqa: PLR0911 - one return per kind of node
    condition: Condition, id_: str, values: frozenset[str], *, wanted: bool
) -> frozenset[str]:
    """Return the values of a component for which a condition is certain to be true, or certain to be false."""
    nothing: frozenset[str] = frozenset()
    match condition:
        case Constant(value):
            return values if value is wanted else nothing
        case IsNull(component) if component == id_:
            return nothing if wanted else values
        case In(ComponentText(component), known) if component == id_:
            return values & known if wanted else values - known
        case Matches(ComponentText(component)) if component == id_ and len(values) <= _MOST:
            return frozenset(each for each in values if evaluate_condition(condition, {id_: each}) is wanted)
        case Not(inner):
            return _surely(inner, id_, values, wanted=not wanted)
        case And(parts) | Or(parts):
            found = [_surely(part, id_, values, wanted=wanted) for part in parts]
            return values.intersection(*found) if isinstance(condition, And) is wanted else nothing.union(*found)
    return nothing
