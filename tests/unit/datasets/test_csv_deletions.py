"""Deletions in SDMX-CSV do not become wider when they are read or written."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from kafka_replica.data.polars import validate
from kafka_replica.data.polars.datasets import read_sdmx_csv, rows_of, write_sdmx_csv
from support.datasets.deletions import NAMED, named_rows
from support.rules.structures_by_hand import attribute, dimension, measure, rules_of, structure, text, time, version_of


@pytest.mark.parametrize("action", ["D", "Delete", "delete", "", None])
def test_a_deletion_that_gives_a_name_without_a_code(action: str | None, tmp_path: Path) -> None:
    """The value is the empty text, which validation refuses, so that the row does not delete the data of all codes.

    The action is that of the row, or else that of the rules.
    """
    rules = rules_of(version_of(*NAMED), action="information" if action else "delete")
    path = tmp_path / "data.csv"
    path.write_text(named_rows(action))
    frame = read_sdmx_csv(path, rules=rules)
    assert frame["A"].to_list() == ["", "a", "a", None, "a"]
    assert frame["O"].to_list() == [None, "", None, None, ""]
    assert frame["L"].to_list() == [None, None, [""], None, None]
    errors_by_row = validate(rows_of(frame, rules), rules)["_errors"].to_list()
    found = [
        [error["severity"] for error in errors or () if error["rule"] == "deletion-wide"] for errors in errors_by_row
    ]
    assert found == [["error"], ["error"], ["error"], [], ["warning"]]


def test_names_without_codes_in_other_rows(tmp_path: Path) -> None:
    """Rows that do not delete have no value where they give a name without a code, as in files without names."""
    path = tmp_path / "data.csv"
    path.write_text(named_rows("M"))
    frame = read_sdmx_csv(path, rules=rules_of(version_of(*NAMED)))
    assert frame["A"].to_list() == [None, "a", "a", None, "a"]
    assert frame.select("O", "L").null_count().row(0) == (5, 5)


def test_findings_on_empty_texts_name_the_components() -> None:
    """The message names the possible components; next to another value, an empty attribute is only a warning."""
    rules = rules_of(version_of(structure(dimension("A", text()), time(), measure(), attribute("O"))))
    frame = pl.DataFrame({"ACTION": ["D"] * 3, "A": ["", "a", "a"], "TIME_PERIOD": ["2020"] * 3,
                          "OBS_VALUE": ["-", None, "-"], "O": ["x", "", ""]})  # fmt: skip
    found = [(error["severity"], error["message"]) for errors in validate(frame, rules)["_errors"] for error in errors]
    written = "is an empty text, which is written as no value, so"
    assert found == [
        ("error", f"one of A, TIME_PERIOD {written} more would be deleted"),
        ("error", f"one of OBS_VALUE, O {written} more would be deleted"),
        ("warning", f"one of OBS_VALUE, O {written} it would not be deleted"),
    ]


def test_dimensions_whose_ids_begin_with_an_underscore_are_written(tmp_path: Path) -> None:
    """A deletion keeps each dimension that it names; only the project's own columns are left out."""
    rules = rules_of(version_of(structure(dimension("A", text()), dimension("_B", text()), time(), measure())))
    frame = pl.DataFrame({"ACTION": ["D"], "A": ["a"], "_B": ["x"], "_source": [1]})
    write_sdmx_csv(frame, tmp_path / "data.csv", rules)
    assert (tmp_path / "data.csv").read_text().splitlines() == [
        "STRUCTURE,STRUCTURE_ID,ACTION,A,_B", "datastructure,T:D(1.0),D,a,x"
    ]  # fmt: skip
