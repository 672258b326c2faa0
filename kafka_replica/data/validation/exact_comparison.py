"""Exact comparison of numbers of any length with a constant, as expressions over their texts.

Engines compare numbers as doubles, which have about 16 digits; BigInteger, Integer and Decimal have no limit. If two
numbers are equal as doubles, an expression over their digits decides.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Final, Literal, NamedTuple

from kafka_replica.data.validation.conditions import Operator

_ANY: Final = "[0-9]*"
_NOT_ZERO: Final = "[0-9]*[1-9][0-9]*"


class ExactComparison(NamedTuple):
    """An expression for numbers without an exponent; if ``negated``, the comparison holds if the expression fails."""

    expression: str
    negated: bool


def exact_comparison(operator: Operator, bound: Decimal) -> ExactComparison:
    """Return how to compare a number, written without an exponent, with a finite constant: ``number operator bound``.

    Args:
        operator: one of ``<``, ``<=``, ``>`` and ``>=``.
        bound: the constant.
    """
    away: Literal["<", ">"] = "<" if bound < 0 else ">"
    if operator[0] == away:
        return ExactComparison(_beyond(bound, inclusive=operator.endswith("=")), negated=False)
    return ExactComparison(_beyond(bound, inclusive=not operator.endswith("=")), negated=True)


def _beyond(bound: Decimal, *, inclusive: bool) -> str:
    """Return an expression for the numbers that are farther from zero than the constant, on its side of zero."""
    whole, _, fraction = f"{bound.copy_abs():f}".partition(".")
    whole, fraction = whole.lstrip("0"), fraction.rstrip("0")
    sign = "-" if bound < 0 else r"\+?"
    found = [rf"{sign}0*(?:{integers_above(int(whole or '0'))})(?:\.{_ANY})?"]
    found += [rf"{sign}0*{whole}\.(?:{_fractions_above(fraction)})"]
    if inclusive:
        equal = rf"0*{whole}\.{fraction}0*" if fraction else rf"0*{whole}(?:\.0*)?"
        found.append(f"{sign if whole or fraction else '[+-]?'}{equal}")
    return "|".join(f"(?:{one})" for one in found)


def integers_above(number: int) -> str:
    """Return an expression for the integers, without leading zeros, that are greater than a number of at least 0."""
    digits = str(number)
    longer = rf"[1-9][0-9]{{{len(digits)},}}"
    return "|".join([longer, *_greater_at_a_place(digits, lambda rest: rf"[0-9]{{{rest}}}")])


def _fractions_above(digits: str) -> str:
    """Return an expression for the digits after a decimal point whose value is greater than the given ones."""
    return "|".join([*_greater_at_a_place(digits, lambda _rest: _ANY), digits + _NOT_ZERO])


def _greater_at_a_place(digits: str, tail: Callable[[int], str]) -> list[str]:
    return [
        f"{digits[:place]}[{int(digit) + 1}-9]{tail(len(digits) - place - 1)}"
        for place, digit in enumerate(digits)
        if digit != "9"
    ]
