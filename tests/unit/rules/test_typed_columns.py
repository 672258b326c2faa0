"""Columns of other types than text, on polars."""

from __future__ import annotations

import polars as pl

from kafka_replica.data.polars import validate
from support.rules.structures_by_hand import (
    attribute,
    dimension,
    findings_of_rows,
    rules_of,
    structure,
    text,
    version_of,
)
from support.rules.typed_cases import typed_findings, typed_frame, typed_rules


def test_typed_values_count_as_sdmx_writes_them() -> None:
    """Values count as SDMX would write them: a whole double is an integer, decimals have no superfluous digits."""
    assert findings_of_rows(validate(typed_frame(), typed_rules())) == typed_findings()


def test_texts_in_several_languages() -> None:
    """Only ``isMultiLingual="false"`` and types without languages forbid texts in several languages (2.1 and 3.0)."""
    formats = {
        "SAID": text(isMultiLingual="true"),
        "OPEN": text(),
        "ONE": text(isMultiLingual="false"),
        "N": text("Integer"),
    }
    made = structure(dimension("ID", text()), *(attribute(name, format_) for name, format_ in formats.items()))
    pairs = pl.List(pl.Struct({"key": pl.String, "value": pl.String}))
    one, two = [{"key": "en", "value": "7"}], [{"key": "en", "value": "7"}, {"key": "de", "value": "8"}]
    frame = pl.DataFrame({"ID": ["1", "2"], **{name: pl.Series([one, two], dtype=pairs) for name in formats}})
    assert findings_of_rows(validate(frame, rules_of(version_of(made)))) == [[], ["language ONE 7;8", "language N 7;8"]]
