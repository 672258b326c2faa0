"""Deletions in SDMX-CSV do not become wider when they are read or written."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from kafka_replica.data.polars import validate
from kafka_replica.data.polars.datasets import read_sdmx_csv, rows_of, write_sdmx_csv
from support.rules.structures_by_hand import (
    coded,
    codelist,
    dimension,
    measure,
    rules_of,
    structure,
    text,
    time,
    version_of,
)

_HEADER = "STRUCTURE;STRUCTURE_ID;STRUCTURE_NAME;ACTION;A;Name of A;B;Name of B;TIME_PERIOD;Time"


@pytest.mark.parametrize("action", ["D", "Delete", "delete"])
def test_a_deletion_that_gives_a_name_without_a_code(action: str, tmp_path: Path) -> None:
    """The name is the value and violates the code list, so that the row does not delete the data of all codes."""
    rules = rules_of(
        version_of(
            codelist("CL", ["a", "b"]),
            structure(dimension("A", coded("CL")), dimension("B", coded("CL")), time(), measure()),
        )
    )
    rows = (f"{action};;Annual;a;x;;", f"{action};a;Annual;;;;", f"{action};;;a;x;;", "M;;Annual;a;x;2020;")
    lines = [f"datastructure;T:D(1.0);n;{row}" for row in rows]
    (tmp_path / "data.csv").write_text("\n".join([_HEADER, *lines, ""]))
    frame = read_sdmx_csv(tmp_path / "data.csv", rules=rules)
    assert frame["A"].to_list() == ["Annual", "a", None, None]
    errors_by_row = validate(rows_of(frame, rules), rules)["_errors"].to_list()
    found = [[error["rule"] for error in errors or ()] for errors in errors_by_row]
    assert "code-unknown" in found[0]
    assert found[1:3] == [[], []]


def test_dimensions_whose_ids_begin_with_an_underscore_are_written(tmp_path: Path) -> None:
    """A deletion keeps each dimension that it names; only the project's own columns are left out."""
    rules = rules_of(version_of(structure(dimension("A", text()), dimension("_B", text()), time(), measure())))
    frame = pl.DataFrame({"ACTION": ["D"], "A": ["a"], "_B": ["x"], "_source": [1]})
    write_sdmx_csv(frame, tmp_path / "data.csv", rules)
    assert (tmp_path / "data.csv").read_text().splitlines() == [
        "STRUCTURE,STRUCTURE_ID,ACTION,A,_B", "datastructure,T:D(1.0),D,a,x"
    ]  # fmt: skip
