"""Wording shared by messages: singular and plural, and suggestions."""

from __future__ import annotations

import pytest

from kafka_replica.common.wording import counted, did_you_mean, plural_of, singular_of


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (0, "key", "0 keys"), (1, "key", "1 key"), (2, "key", "2 keys"), (1234567, "key", "1,234,567 keys"),
        (1, "entry", "1 entry"), (2, "entry", "2 entries"), (2, "branch", "2 branches"), (2, "class", "2 classes"),
        (2, "bad record", "2 bad records"),
    ],
)  # fmt: skip
def test_counts_have_the_right_noun(count: int, noun: str, text: str) -> None:
    """A count of one takes the singular, any other the plural."""
    assert counted(count, noun) == text


def test_an_irregular_plural_is_given() -> None:
    """An irregular plural can be given where the noun that changes is not the last word."""
    assert counted(1, "piece of advice", "pieces of advice") == "1 piece of advice"
    assert counted(3, "piece of advice", "pieces of advice") == "3 pieces of advice"


@pytest.mark.parametrize("noun", ["code", "category", "branch", "class", "box", "day"])
def test_singular_and_plural_are_inverse(noun: str) -> None:
    """The singular of the plural is the noun."""
    assert singular_of(plural_of(noun)) == noun


def test_suggestions_are_the_most_similar_names() -> None:
    """Suggestions are the most similar names, whatever their case; without a similar name there is none."""
    known = ["sdmx.structures", "sdmx.data", "orders"]
    assert did_you_mean("sdmx.structure", known) == "; did you mean 'sdmx.structures'?"
    assert did_you_mean("SDMX.Dta", known, 2) == "; did you mean 'sdmx.data'?"
    assert did_you_mean("sdmx.stata", known, 2).startswith("; did you mean 'sdmx.data' or ")
    assert did_you_mean("zzz", known) == ""
