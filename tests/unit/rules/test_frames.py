"""Frames accepted on polars, errors for other objects, and the contents that columns may have."""

from __future__ import annotations

from datetime import date
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from kafka_replica import UsageError
from kafka_replica.data.polars import report, validate
from support.rules.structures_by_hand import (
    attribute,
    dimension,
    findings_of_rows,
    measure,
    rules_of,
    structure,
    text,
    time,
    version_of,
)

RULES = rules_of(version_of(structure(dimension("AREA", text()), time(), attribute("NOTE", text()), measure())))
ROW = {"AREA": "AT", "TIME_PERIOD": "2020"}


@pytest.mark.parametrize(
    ("frame", "expected_text"),
    [
        (pd.DataFrame([["AT", "DE"]], columns=["AREA", "AREA"]), "reading a DataFrame as a polars frame: .*unique"),
        (
            pa.table([pa.array(["AT"]), pa.array(["DE"])], ["AREA", "AREA"]),
            "reading a Table as a polars frame: .*more than once",
        ),
        (pd.DataFrame({"AREA": ["AT", 1]}), "reading a DataFrame as a polars frame: 'int' object"),
        (pl.DataFrame([{**ROW, "AREA": ["AT"]}]), "column AREA has several values in a row, but a dimension has one"),
        (pl.DataFrame([{**ROW, "TIME_PERIOD": ["2020"]}]), "column TIME_PERIOD has several values"),
        (pl.DataFrame([{**ROW, "ACTION": ["I"]}]), "column ACTION does not contain text; give one action per row"),
    ],
    ids=["pandas, twice", "arrow, twice", "mixed", "dimension", "time", "action"],
)
def test_an_unusable_frame_is_refused_with_the_reason(frame: Any, expected_text: str) -> None:
    """The message says what is wrong with the frame."""
    with pytest.raises(UsageError, match=expected_text):
        validate(frame, RULES)


@pytest.mark.parametrize("name", ["area", "Note", "x"])
def test_a_deletion_by_a_column_whose_name_differs_in_its_letter_case_is_found(name: str) -> None:
    """A column that no component has is found in deletions, also where another column has the name in other letters."""
    frame = pl.DataFrame([{"ACTION": "D", "AREA": None, "NOTE": None, "X": None, name: "v"}])
    assert findings_of_rows(validate(frame, RULES)) == [[f"deletion-wide {name} v"]]


@pytest.mark.parametrize(
    "arguments", [{"snapshot": version_of()}, {"rules": {}}, {"action": "information"}, {"as_of": date(2020, 1, 1)}]
)
def test_arguments_that_compiled_rules_contain_are_refused(arguments: dict[str, Any]) -> None:
    """An argument that would have no effect is refused, the action, too."""
    with pytest.raises(UsageError, match="snapshot, rules, action and as_of are part of them; omit them"):
        validate(pl.DataFrame([ROW]), RULES, **arguments)


@pytest.mark.parametrize("frame", [pd.DataFrame([["AT"], ["US"]]), pl.DataFrame({"area": ["AT", "US"]})])
def test_no_known_column(frame: Any) -> None:
    """Without known columns each row lacks its dimensions, and all rows have the same key."""
    wanted = ["dimension-missing AREA", "dimension-missing TIME_PERIOD", "duplicate-key ."]
    checked = validate(frame, RULES)
    assert findings_of_rows(checked) == [wanted, wanted]
    assert report(checked, RULES).bad_rows == 2


def test_texts_by_language() -> None:
    """A dictionary in a row is a map of languages; rows cannot be compared by it, which is reported as unchecked."""
    rules = rules_of(
        version_of(structure(dimension("ID", text()), attribute("T", text(isMultiLingual="false"), "ID", "mandatory")))
    )
    found = validate([{"ID": "1", "T": {"en": "x", "de": "y"}}, {"ID": "2", "T": {"en": "x"}}, {"ID": "3"}], rules)
    assert findings_of_rows(found) == [["language T x;y"], [], ["attribute-missing T"]]
    assert report(found, rules).unchecked == ("T: whether its rows agree, because it has several languages",)


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (r"\w{1,200}", ["aé", "x" * 200], ["a b", "", "x" * 201]),
        (r"[\p{L}\s]{1,255}", ["a b", "ß"], ["1"]),
        (r"(\w{1,100}\s){1,100}", ["a b "], ["a b"]),
        (r"[0\w-[a]]{1,255}\[(x|y)", ["b[x"], ["a[x", "b[z"]),
    ],
)
@pytest.mark.thorough
def test_patterns_too_large_for_rust(pattern: str, good: list[str], bad: list[str]) -> None:
    """Counted Unicode classes that are too large for Rust are checked nevertheless."""
    rules = rules_of(version_of(structure(dimension("ID", text()), attribute("V", text(pattern=pattern)))))
    found = validate([{"ID": str(number), "V": value} for number, value in enumerate([None, *good, *bad])], rules)
    assert findings_of_rows(found) == [[]] * (1 + len(good)) + [[f"pattern V {value}".rstrip(" ")] for value in bad]


def test_a_pattern_nested_too_deep() -> None:
    """A pattern that is nested too deep is reported as unchecked."""
    deep = "(" * 300 + "a" + ")" * 300
    (expected_text,) = rules_of(version_of(structure(dimension("ID", text(pattern=deep))))).unchecked
    assert "recursion" in expected_text
