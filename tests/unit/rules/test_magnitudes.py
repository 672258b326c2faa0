"""Numbers of any length are compared with bounds exactly: as the decimal numbers that they are."""

from __future__ import annotations

import operator as operators
import re
from decimal import Decimal
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica.data.polars import validate
from kafka_replica.data.validation.conditions import ComponentText, Operator
from kafka_replica.data.validation.evaluation import evaluate_condition
from kafka_replica.data.validation.exact_comparison import exact_comparison
from kafka_replica.data.validation.facets import number_comparison
from support.rules.structures_by_hand import (
    attribute,
    dimension,
    findings_of_rows,
    measure,
    rules_of,
    structure,
    table,
    text,
    version_of,
)

HOW: Final = {"<": operators.lt, "<=": operators.le, ">": operators.gt, ">=": operators.ge}
OPERATORS = st.sampled_from(sorted(HOW))
DIGITS = st.text("0123456789", max_size=45) | st.text("09", max_size=30)


@st.composite
def numbers(draw: st.DrawFn) -> str:
    """Return a number without an exponent, as data may write it."""
    whole, fraction = draw(DIGITS), draw(st.none() | DIGITS)
    if fraction is None or not (whole or fraction):
        return draw(st.sampled_from(["", "+", "-"])) + (whole or "0") + ("" if fraction is None else ".")
    return f"{draw(st.sampled_from(['', '+', '-']))}{whole}.{fraction}"


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[str, str]:
    """Return a number, and one that differs by little or nothing."""
    number = Decimal(draw(numbers()))
    step = draw(st.sampled_from(["0", "1", "-1", "0.1", "1e-20", "-1e-20", "1e-40"]))
    import decimal

    with decimal.localcontext(prec=200):
        other = number + Decimal(step)
    return f"{number:f}", f"{other:f}" + draw(st.sampled_from(["", "0" if "." in f"{other:f}" else ".", ""]))


@pytest.mark.thorough
@given(numbers() | neighbours().map(lambda pair: pair[0]), OPERATORS, numbers())
def test_the_expression_matches_exactly_the_compared_numbers(number: str, operator: Operator, bound: str) -> None:
    """The expression matches exactly the numbers for which the comparison holds, or fails."""
    check(number, operator, bound)


@pytest.mark.thorough
@given(neighbours(), OPERATORS)
def test_numbers_that_differ_by_little(pair: tuple[str, str], operator: Operator) -> None:
    """The last of 45 digits before and after the point counts."""
    check(pair[1], operator, pair[0])


def check(number: str, operator: Operator, bound: str) -> None:
    """Compare the expression, and the whole condition, with Python's decimal numbers."""
    wanted = HOW[operator](Decimal(number), Decimal(bound))
    found = exact_comparison(operator, Decimal(bound))
    assert (re.fullmatch(found.expression, number) is not None) is (wanted is not found.negated), found
    assert evaluate_condition(number_comparison(ComponentText("X"), operator, Decimal(bound)), {"X": number}) is wanted


BIG = 12345678901234567890123456789


@pytest.mark.parametrize(
    ("low", "high", "value", "is_good"),
    [
        (BIG, BIG, str(BIG), True), (BIG, BIG, str(BIG + 1), False), (BIG, BIG, str(BIG - 1), False),
        (-BIG, BIG, str(-BIG - 1), False), (-BIG, BIG, f"-00{BIG}", True), (-BIG, BIG, f"+{BIG}", True),
        (10**400, 10**401, str(10**400 - 1), False), (10**400, 10**401, str(10**400), True),
        (10**400, 10**401, str(10**401 + 1), False), (0, 0, "-0", True), (0, 9, "-1", False),
    ],
)  # fmt: skip
def test_bounds_of_big_integers(low: int, high: int, value: str, is_good: bool) -> None:
    """A column of texts is checked against bounds of any length."""
    body = structure(
        dimension("A", text()), measure(), attribute("N", text("BigInteger", minValue=str(low), maxValue=str(high)))
    )
    rules = rules_of(version_of(body))
    [found] = findings_of_rows(validate(table([{"A": "a", "OBS_VALUE": "1", "N": value}]), rules))
    assert (found == []) is is_good, found
    assert found == [] or found[0].startswith("range N")
