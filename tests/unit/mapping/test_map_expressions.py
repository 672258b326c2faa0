"""Expressions rewritten so that Java and Rust interpret them alike."""

from __future__ import annotations

import polars as pl
import pytest

from kafka_replica.data.errors import MapError
from kafka_replica.data.mapping.portable_regexes import UnusableExpressionError, portable_expression
from kafka_replica.sdmx.values.text_types import anchored
from support.mapping.map_cases import one
from support.mapping.maps_by_hand import plan_of
from support.rules.structures_by_hand import version_of


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
        (r"\Qa.b|\E+", ["a.b|", "a.b||"], ["axb|", "a.b|a.b|"]),
        (r"[\Q]^\E]+", ["]^"], ["Q"]),
        (r"[\s-z.]+", [" -z."], ["a", "Z"]),
        ("^A|B", ["A", "AX", "B"], ["BX", "XB", "XA"]),
        ("^A$|^B$", ["A", "B"], ["AX", "XB"]),
        ("^A|^B", ["AX", "BX"], ["XA"]),
        ("A$|B", ["A", "XA", "B"], ["XB", "AX"]),
        ("a{1}", ["a"], ["aa"]),
        ("(?i)x[a-c]é", ["XAé", "xcé"], ["XAÉ", "xd"]),
        (r"\$\x41", ["$A"], ["A"]),
        ("{a}", ["{a}"], ["a"]),
        ("(?<year>[0-9]{4})", ["2020"], ["20"]),
    ],
)
def test_an_expression_matches_a_whole_value(expression: str, fitting: list[str], others: list[str]) -> None:
    """An expression matches a whole value, its beginning or end; digits and words are ASCII, the rest as in Java."""
    written = anchored(portable_expression(expression).written)
    texts = pl.Series([*fitting, *others])
    assert texts.str.contains(written).to_list() == [True] * len(fitting) + [False] * len(others)


@pytest.mark.parametrize(
    "expression",
    ["(?=a)", "(?<!a)b", r"(a)\1", "a++", r"\ba", "[a[b]]", "[a&&b]", r"\p{IsGreek}", "(?m)a", r"\uD83D\uDE00"],
)
def test_an_expression_of_only_one_engine_is_refused(expression: str) -> None:
    """An expression that only one of the engines accepts is refused."""
    with pytest.raises(UnusableExpressionError, match="do not share"):
        portable_expression(expression)


@pytest.mark.parametrize(
    "expression",
    ["(", "a)", "[", "[]", "*", "\\", "a{2}{3}", "a{3,2}", "[z-a]", r"[a-\d]", r"\x{110000}"],
)
def test_a_malformed_expression_is_reported(expression: str) -> None:
    """An expression that no engine accepts is reported as malformed."""
    with pytest.raises(UnusableExpressionError, match=r"malformed.*correct the map"):
        portable_expression(expression)


@pytest.mark.parametrize("expression", ["a^b", "a$b", "(^A)", "(^A|^B)$", "(A$)", "^^A", "A$$"])
def test_anchors_inside_an_expression_are_refused(expression: str) -> None:
    """Anchors are accepted only at the ends of the expression or its alternatives; the error says how to write them."""
    with pytest.raises(UnusableExpressionError, match=r"write \^\(A\|B\)\$"):
        portable_expression(expression)


@pytest.mark.parametrize(
    "expression",
    [r"\p{L}{1,300}", r"([A-Z\p{L}]{1,100}-){1,100}", "a{2000}", "((a{1000}){1000}){9}", "(" * 51 + "a" + ")" * 51,
     "(" * 5000],
)  # fmt: skip
def test_a_too_large_expression_is_refused_before_it_runs(expression: str) -> None:
    """An expression that is larger or nested deeper than Rust allows is refused before it runs."""
    with pytest.raises(UnusableExpressionError, match=r"too large|more than"):
        portable_expression(expression)


@pytest.mark.parametrize(
    "atom",
    ["😀", r"\p{C}", r"\P{C}", ".", "[^éñü中文语]", r"[\x{81}-\x{7FE}\x{801}-\x{FFFE}]", "(a|bb|ccc)*", "(())",
     "[ab]{9}"],
)  # fmt: skip
def test_rust_accepts_the_largest_allowed_expression(atom: str) -> None:
    """Rust accepts the largest of all accepted expressions: the estimate of its size is high enough."""
    most = next(copies for copies in range(1000, 0, -1) if _is_usable(f"(?:{atom}){{{copies}}}"))
    assert most >= 100
    assert pl.Series(["-"]).str.contains(anchored(portable_expression(f"(?:{atom}){{{most}}}").written)).to_list() == [
        False
    ]


def _is_usable(expression: str) -> bool:
    try:
        portable_expression(expression)
    except UnusableExpressionError:
        return False
    return True


def test_rust_accepts_the_deepest_allowed_nesting() -> None:
    """Rust accepts the deepest allowed nesting of groups, also where each is a repeated alternative."""
    written = anchored(portable_expression("^" + "b(" * 50 + "[a]" + ")+|c" * 50).written)
    assert pl.Series(["b" * 50 + "a"]).str.contains(written).to_list() == [True]


def test_the_leftmost_counts() -> None:
    """Before a part that must match the end as little as possible is skipped, as in Java."""
    found = portable_expression("([0-9]+)$")
    assert pl.Series(["AB123"]).str.extract(anchored(found.only(1)), 1).to_list() == ["123"]


@pytest.mark.parametrize(
    ("expression", "is_unsure"),
    [("([a-z]*)+", True), ("(a?)*(.*)", True), ("(?:([a-z]*),?)*", True), ("(?:(.*?),?)+", True), ("(|a)+", True),
     ("(|a|a){2}", True), ("((?:a??)+)b", True), ("(a+|b+)*", False), ("((a)|b)+", False), ("(?:(a)?b)+", False),
     ("(a*)?", False), ("(a*){1}", False), ("(.*)-(.*)", False)],
)  # fmt: skip
def test_repeated_over_nothing(expression: str, is_unsure: bool) -> None:
    """An expression is unsure where a part that can match nothing is repeated: Java and Rust capture differently."""
    assert portable_expression(expression).is_unsure == is_unsure


@pytest.mark.parametrize(
    ("row", "expected_text"),
    [
        (r"/([a-z]*)+/>[\1]", "row 1: a target refers to group 1, but a part"),
        ("/(/>x", "row 1: the expression .* malformed"),
        (r"/(.)/>\2", "refers to group 2"),
        (r"/\p{L}{1;300}/>x", "row 1: the expression .* too large"),
    ],
)
def test_a_row_with_an_unusable_expression_is_named(row: str, expected_text: str) -> None:
    """A map with such a row is refused when it is compiled; the error names the row."""
    with pytest.raises(MapError, match=expected_text):
        plan_of(version_of(*one("R", row)))


def test_repeated_over_nothing_unreferred() -> None:
    """An unsure expression whose groups are not used is accepted: whether it matches is the same everywhere."""
    assert plan_of(version_of(*one("R", r"/([a-z]*)+/>x\0"))).values


def test_an_expression_captures_a_single_group() -> None:
    """An expression can capture a single group; brackets in classes and escaped ones are not groups."""
    found = portable_expression(r"([(a])\((?:x)(y|(z))")
    assert found.groups == 3
    assert found.only(2) == r"(?:[(a])\((?:x)(y|(?:z))"
