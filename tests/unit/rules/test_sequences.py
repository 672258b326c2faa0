"""The facets of sequences: descending ones, ranges without a sequence, and numbers of many digits."""

from __future__ import annotations

from decimal import Decimal

import polars as pl
import pytest

from kafka_replica.data.polars.condition_translation import ConditionTranslator
from kafka_replica.data.schemas.facets import restriction_steps
from kafka_replica.data.validation.conditions import CompareInt, ComponentText, Constant, Number, ScaledDecimal
from kafka_replica.data.validation.evaluation import evaluate_condition
from kafka_replica.data.validation.example_values import example_values
from kafka_replica.data.validation.facets import facet_violations
from kafka_replica.data.validation.sequences import sequence_bounds
from kafka_replica.sdmx import TextFormat

START, END = Decimal(10), Decimal(2)
DESCENDING = TextFormat(interval=Decimal(-2), start_value=START, end_value=END)
NO_SEQUENCE = TextFormat(is_sequence=False, interval=Decimal(-2), start_value=END, end_value=START)


def _ignored(_: str) -> None:
    """Ignore what is left unchecked."""


@pytest.mark.parametrize(
    ("text_type", "format_", "wanted"),
    [
        ("Integer", TextFormat(start_value=END, end_value=START), (2, 10)),
        ("Integer", DESCENDING, (2, 10)),
        ("Integer", NO_SEQUENCE, (None, None)),
        ("InclusiveValueRange", NO_SEQUENCE, (2, 10)),
        ("ExclusiveValueRange", NO_SEQUENCE, (2, 10)),
    ],
)
def test_bounds_of_sequences_and_ranges(
    text_type: str, format_: TextFormat, wanted: tuple[int | None, int | None]
) -> None:
    """A descending sequence begins with its highest number; ranges have bounds without a sequence, too."""
    assert sequence_bounds(text_type, format_) == wanted
    written = "".join(restriction_steps("xs:decimal", text_type, format_))
    kind = "Exclusive" if text_type == "ExclusiveValueRange" else "Inclusive"
    expected = f'<xs:min{kind} value="2"/><xs:max{kind} value="10"/>' if None not in wanted else ""
    assert written == expected


@pytest.mark.parametrize("format_", [DESCENDING, TextFormat(interval=Decimal(-2), end_value=END)])
def test_examples_of_a_descending_sequence_satisfy_its_facets(format_: TextFormat) -> None:
    """At least one example of a descending sequence violates no facet."""
    broken = [one.condition for one in facet_violations("N", "Integer", format_, _ignored, Constant(value=False))]
    fine = [
        value
        for value in example_values("Integer", format_)
        if not any(evaluate_condition(one, {"N": value}) for one in broken)
    ]
    assert len(fine) >= 3


@pytest.mark.parametrize(
    ("value", "decimals", "wanted"),
    [
        ("9" * 18, 0, 10**18 - 1),
        ("-" + "0" * 5000 + "9" * 18, 0, 1 - 10**18),
        ("1" + "0" * 18, 0, None),
        ("-1" + "0" * 18, 0, None),
        ("9223372036854775807", 0, None),
        ("99999999999999999.9", 1, 10**18 - 1),
        ("100000000000000000.0", 1, None),
        ("1" * 5000, 0, None),
    ],
)
def test_scaled_numbers_of_more_than_18_digits_are_unknown(value: str, decimals: int, wanted: int | None) -> None:
    """A number that is known can be added to another of 18 digits without leaving 64-bit integers."""
    number = ScaledDecimal(ComponentText("N"), decimals)
    found = pl.DataFrame({"N": [value]}).select(ConditionTranslator({"N": pl.col("N")}).number(number)).item()
    assert found == wanted
    known = evaluate_condition(CompareInt(number, "=", Number(0 if wanted is None else wanted)), {"N": value})
    assert known is (None if wanted is None else True)


@pytest.mark.parametrize("value", ["-9", "-900000000000000000", "-999999999999999999"])
def test_long_steps_are_checked_below_the_start(value: str) -> None:
    """A number far below the start is compared with steps of almost 18 digits."""
    format_ = TextFormat(interval=Decimal(6 * 10**17), start_value=None)
    [*_, step] = facet_violations("N", "BigInteger", format_, _ignored, Constant(value=False))
    assert step.rule == "sequence"
    assert (
        pl.DataFrame({"N": [value]}).select(ConditionTranslator({"N": pl.col("N")}).condition(step.condition)).item()
        is True
    )
