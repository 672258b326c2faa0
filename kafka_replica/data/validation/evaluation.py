"""Evaluate conditions for one row in plain Python: slow, for generating data and for comparison with engines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from operator import add, eq, floordiv, ge, gt, le, lt, mod, mul, sub
from typing import Any, Final

from kafka_replica.data.validation.conditions import (
    MOST_DIGITS,
    And,
    AnyValue,
    Arithmetic,
    Case,
    CharLength,
    CompareDouble,
    CompareInt,
    ComponentText,
    Concat,
    Condition,
    Constant,
    In,
    IntExpression,
    IntOfText,
    IsNull,
    Matches,
    Not,
    Number,
    Or,
    RegexGroup,
    SameText,
    ScaledDecimal,
    TextExpression,
)
from kafka_replica.data.validation.patterns import python_form

_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {"<": lt, "<=": le, "=": eq, ">=": ge, ">": gt}
_COMPUTE: Final[Mapping[str, Callable[[int, int], int]]] = {"+": add, "-": sub, "*": mul, "//": floordiv, "%": mod}


def evaluate_condition(condition: Condition, row: Mapping[str, str | None]) -> bool | None:  # noqa: C901, PLR0911 - one return per kind of node
    """Return whether a condition is true for a row; None if unknown, as for an expression that Python cannot read."""
    match condition:
        case Constant(value):
            return value
        case IsNull(component):
            return row.get(component) is None
        case Matches(text, expression):
            found, fits = _text(text, row), _compiled(expression)
            return None if found is None or fits is None else fits.fullmatch(found) is not None
        case In(text, values):
            found = _text(text, row)
            return None if found is None else found in values
        case SameText(left, right):
            texts = _text(left, row), _text(right, row)
            return None if None in texts else texts[0] == texts[1]
        case CompareInt(left, operator, right):
            one, other = _number(left, row), _number(right, row)
            return None if one is None or other is None else _COMPARE[operator](one, other)
        case CompareDouble(text, operator, bound):
            number = _double(_text(text, row))
            return None if number is None else _COMPARE[operator](number, bound)
        case Not(inner):
            truth = evaluate_condition(inner, row)
            return None if truth is None else not truth
        case And(parts):
            return _all(evaluate_condition(part, row) for part in parts)
        case Or(parts):
            return _opposite(_all(_opposite(evaluate_condition(part, row)) for part in parts))
        case AnyValue(_, inner):
            return evaluate_condition(inner, row)


def _opposite(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def _all(truths: Iterable[bool | None]) -> bool | None:
    unknown = False
    for truth in truths:
        if truth is False:
            return False
        unknown = unknown or truth is None
    return None if unknown else True


@cache
def _compiled(expression: str) -> re.Pattern[str] | None:
    form = python_form(expression)
    return None if form is None else re.compile(form)


def _text(node: TextExpression, row: Mapping[str, str | None]) -> str | None:
    match node:
        case ComponentText(component):
            return row.get(component)
        case Concat(components, separator):
            parts = [row.get(each) for each in components]
            return None if None in parts else separator.join(str(part) for part in parts)
        case RegexGroup(text, expression):
            found, fits = _text(text, row), _compiled(expression)
            matched = None if found is None or fits is None else fits.fullmatch(found)
            return None if matched is None else matched[1]


def _double(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _number(node: IntExpression, row: Mapping[str, str | None]) -> int | None:  # noqa: PLR0911 - one return per kind of node
    match node:
        case Number(value):
            return value
        case IntOfText(text):
            found = _text(text, row)
            return int(found) if found and re.fullmatch("[0-9]{1,18}", found) else None
        case ScaledDecimal(text, decimals):
            return _scaled(_text(text, row), decimals)
        case CharLength(text):
            found = _text(text, row)
            return None if found is None else len(found)
        case Arithmetic(operator, left, right):
            one, other = _number(left, row), _number(right, row)
            return None if one is None or other is None else _COMPUTE[operator](one, other)
        case Case(cases):
            return next((_number(then, row) for when, then in cases if evaluate_condition(when, row)), None)
        case _:
            return None


def _scaled(text: str | None, decimals: int) -> int | None:
    found = re.fullmatch(r"\+?(-?)([0-9]*)(?:\.([0-9]*?)0*)?", text or "")
    if text is None or found is None or len(found[3] or "") > decimals:
        return None
    digits = f"{found[2]}{(found[3] or '').ljust(decimals, '0')}".lstrip("0")
    return int(f"{found[1]}0{digits}") if len(digits) <= MOST_DIGITS else None
