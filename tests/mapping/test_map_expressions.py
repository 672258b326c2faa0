"""Expressions rewritten so that Java and Rust read them alike."""

from __future__ import annotations

import polars as pl
import pytest

from kafka_replica.mapping.regexes import UnusableExpressionError, usable
from kafka_replica.rules.texts import anchored


@pytest.mark.parametrize(
    ("expression", "fitting", "others"),
    [
        ("A", ["A"], ["AA", "a", "", "A\n"]),
        ("A|B", ["A", "B"], ["AB", "A|B"]),
        ("^[A-G]", ["A", "GZ", "B\nC"], ["H", "", "ZA"]),
        ("[0-2]$", ["0", "x2"], ["3", "20x"]),
        ("^A.*B$", ["AB", "AxB"], ["ABx", "A\nB"]),
        (r"\d{2}\.\w+\s?", ["12.a_", "12.a "], ["12.", "٣٣.a"]),
        (r"[\d\-_]+", ["1-_"], ["a"]),
        (r"[^\\\]a-c]", ["d", "["], ["a", "]", "\\"]),
        ("a+?b*?", ["a", "aab"], ["b"]),
        (r"\p{Lu}\p{IsL}*", ["Äx"], ["äx"]),
        (r"\Qa.b|\E+", ["a.b|", "a.b|a.b|"], ["axb|"]),
        ("(?i)x[a-c]é", ["XAé", "xcé"], ["XAÉ", "xd"]),
        (r"\$\x41", ["$A"], ["A"]),
        ("{a}", ["{a}"], ["a"]),
        ("(?<year>[0-9]{4})", ["2020"], ["20"]),
    ],
)
def test_what_fits(expression: str, fitting: list[str], others: list[str]) -> None:
    """The whole value, the beginning or the end; digits and words are ASCII, other classes as Java has them."""
    written = anchored(usable(expression).written)
    texts = pl.Series([*fitting, *others])
    assert texts.str.contains(written).to_list() == [True] * len(fitting) + [False] * len(others)


@pytest.mark.parametrize(
    "expression",
    ["(?=a)", "(?<!a)b", r"(a)\1", "a++", r"\ba", "a^b", "[a[b]]", "[a&&b]", "(", "a)", "[", "[]", "*", "a{2000}",
     r"\p{IsGreek}", "(?m)a", "\\"],
)  # fmt: skip
def test_what_cannot_be_used(expression: str) -> None:
    """What only one of the engines reads, or none, is refused."""
    with pytest.raises(UnusableExpressionError):
        usable(expression)


def test_one_group_alone() -> None:
    """An expression is run with one group capturing; brackets in classes and escapes are no groups."""
    found = usable(r"([(a])\((?:x)(y|(z))")
    assert found.groups == 3
    assert found.only(2) == r"(?:[(a])\((?:x)(y|(?:z))"
