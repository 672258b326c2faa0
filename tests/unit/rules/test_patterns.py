"""Patterns of XML Schema in the form for Java and Rust, and the examples made for them."""

from __future__ import annotations

import polars as pl
import pytest

from kafka_replica.data.polars.regex_matching import matches_whole_text
from kafka_replica.data.validation.conditions import ComponentText, Matches
from kafka_replica.data.validation.evaluation import evaluate_condition
from kafka_replica.data.validation.patterns import python_form, translated_pattern

LETTERS = "abyz059-A\\"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("pattern", "fitting"),
    [
        ("[^a-z-[0-9]]", "-A\\"),
        ("[a-z-[^b-y-[z]]]", "byz"),
        ("[^a-y-[^0-9-[A]]]", "059A"),
        (r"[\D-[^a-z]]", "abyz"),
        (r"[^\D-[5]]", "09"),
        (r"\\", "\\"),
        (r"[\\a]", "a\\"),
    ],
)
@pytest.mark.parametrize("times", ["", "{1,1000}"], ids=["once", "too large for Rust"])
def test_classes_without_others_have_the_characters_of_the_standard(pattern: str, fitting: str, times: str) -> None:
    """A subtraction leaves the same characters out in Rust's expressions and in those for Python."""
    written = translated_pattern(f"(?:{pattern}|\\p{{Lo}}{times}){times}").expression
    texts = pl.Series("text", list(LETTERS))
    found = pl.DataFrame(texts).select(matches_whole_text(pl.col("text"), written)).to_series().to_list()
    assert "".join(char for char, is_in in zip(LETTERS, found, strict=True) if is_in) == fitting


@pytest.mark.parametrize(
    ("pattern", "text", "wanted"),
    [
        (r"\\", "\\", True),
        (r"\\x{2}", "\\xx", True),
        (r"\\p{2}", "\\pp", True),
        (r"a&&b", "a&&b", True),
        (r"[a-z-[b]]", "a", None),
        (r"[\Da]", "a", None),
        (r"\p{L}", "a", None),
    ],
)
def test_python_reads_patterns_without_inner_classes_and_categories(
    pattern: str, text: str, wanted: bool | None
) -> None:
    """Python's form matches the same texts, or is missing."""
    assert (
        evaluate_condition(Matches(ComponentText("A"), translated_pattern(pattern).expression), {"A": text}) is wanted
    )
    assert (python_form(translated_pattern(pattern).expression) is None) is (wanted is None)


@pytest.mark.parametrize(
    "pattern", ["((a{1000}){1000}){1000}", "(a{1000}){1000}" * 9, "a{1000}" * 90, "(a{9}|b){1000}", "x{500}"]
)
def test_examples_of_repetitions_have_a_limited_length(pattern: str) -> None:
    """There is at least one example, and none has more than 10,000 characters."""
    found = translated_pattern(pattern).examples
    assert found
    assert max(map(len, found)) <= 10_000


@pytest.mark.parametrize("pattern", ["[^a-z-[0-9]]", r"[^\s-[x]]", r"[a-z-[abc]]"])
def test_examples_are_not_among_the_subtracted_characters(pattern: str) -> None:
    """An example of a class with a subtraction matches."""
    found = translated_pattern(pattern)
    assert all(pl.select(matches_whole_text(pl.lit(one), found.expression)).item() for one in found.examples)
