"""Each layout of SDMX-ML gives the same rows for the same data."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.data.files.messages import data_message_rows
from kafka_replica.data.validation import Rules
from support.datasets.ml_messages import ATTRIBUTES, DIMENSIONS, LAYOUTS, REFERENCE, Data, Place
from support.effort import examples
from support.rules.structures_by_hand import (
    attribute,
    dimension,
    group,
    measure,
    rules_of,
    structure,
    text,
    time,
    version_of,
)

_CODES = {"FREQ": ("A", "M"), "AREA": ("X", "Y", "Z<&"), "TIME_PERIOD": ("2014", "2015")}
_TEXTS = st.sampled_from(["a", "b", "ü", "x y", "<&>\"'"])


@st.composite
def data_sets(draw: st.DrawFn) -> Data:
    """Return data with attributes at every level, some of them absent."""
    keys = st.tuples(*(st.sampled_from(_CODES[dimension]) for dimension in DIMENSIONS))
    values = draw(st.dictionaries(keys, st.sampled_from(["1", "1.50", "NaN", "-3"]), min_size=1, max_size=8))
    attributes = {}
    for name, of in ATTRIBUTES.items():
        part = st.tuples(*(st.sampled_from(_CODES[one]) for one in of))
        attributes[name] = draw(st.dictionaries(part, _TEXTS, max_size=4))
    return Data(values, attributes)


@cache
def known() -> Rules:
    """Return the rules of the data."""
    return rules_of(
        version_of(structure(
            dimension("FREQ", text()), dimension("AREA", text()), time(), measure(),
            group("G_A_NAME", "AREA"), group("G_F_NAME", "FREQ"), attribute("SET", to="DATASET"),
            attribute("A_NAME", to="GROUP:G_A_NAME"), attribute("F_NAME", to="GROUP:G_F_NAME"),
            attribute("NOTE", to="FREQ,AREA"), attribute("ST"),
        ))
    )  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("with_rules", [False, True])
@settings(max_examples=examples(8))
@given(data=data_sets(), place=st.sampled_from(["before", "between", "after"]))
def test_every_layout_gives_the_same_rows(
    layout: str, with_rules: bool, data: Data, place: Place, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Rows are those of the data, wherever groups are, and with or without the rules of the structure."""
    file = tmp_path_factory.getbasetemp() / "layout.xml"
    file.write_text(LAYOUTS[layout](data, place), encoding="utf-8")
    rules = known() if with_rules else None
    rows = [data_message_row.row for data_message_row in data_message_rows(file, rules)]
    for row in rows:
        version = "*" if layout in {"compact", "generic 2.0", "cross-sectional"} else "1.0"
        assert row.pop("STRUCTURE_ID") == REFERENCE.replace("1.0", version)
        assert (row.pop("STRUCTURE"), row.pop("ACTION")) == ("datastructure", "A")
    assert sorted(rows, key=lambda row: [row[dimension] for dimension in DIMENSIONS]) == data.rows()
