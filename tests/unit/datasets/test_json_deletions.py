"""Deletions in SDMX-JSON delete what they name, and nothing more.

Source: SDMX-JSON data message, field guide 2.1, ``action``.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.datasets.deletions import Found, found_in

_LEVELS = {
    "dataSet": [{"id": "S", "relationship": {"dataflow": {}}}],
    "dimensionGroup": [{"id": "G", "relationship": {"dimensions": ["A"]}}],
    "series": [{"id": "U", "relationship": {"dimensions": ["A", "B"]}}],
}  # fmt: skip
_NOTHING = "dataSets[0] has the action delete, but nothing that was read names what is deleted; it deletes nothing"
_OBSERVATION = {"observations": {"0": None}}
_KEY = {"A": "a0", "B": "b0", "T": "t0"}


def _component(name: str, *ids: str) -> dict[str, Any]:
    return {"id": name, "values": [{"id": id_} for id_ in ids]}


def _deleted(
    *datasets: dict[str, Any], attributes: dict[str, Any] = _LEVELS, dimensions: dict[str, Any] | None = None
) -> Found:
    dimensions = dimensions or {
        "series": [_component("A", "a0", "a1"), _component("B", "b0", "b1")],
        "observation": [_component("T", "t0", "t1")],
    }
    structure = {"dimensions": dimensions, "attributes": attributes}
    body = {"structures": [structure], "dataSets": [{"action": "Delete", **one} for one in datasets]}
    return found_in(json.dumps({"data": body}))


@pytest.mark.parametrize("member", ["series", "observations", "dimensionGroupAttributes", "attributes"])
@pytest.mark.parametrize("is_null", [False, True])
def test_an_empty_member_names_nothing(member: str, is_null: bool) -> None:
    """Services that write the list of deletions even if it is empty do not delete all data."""
    empty: Any = None if is_null else [] if member == "attributes" else {}
    rows, notes = _deleted({member: empty}, {member: empty, "annotations": []})
    assert rows == []
    assert len(notes) == 1
    assert notes[0].startswith(_NOTHING)
    assert notes[0].endswith("(the same applies to 1 more)")


def test_all_data_is_deleted_by_its_key_or_by_a_data_set_alone() -> None:
    """A key without any dimension names all data; so does a data set without a member that could name data."""
    every: list[dict[str, Any]] = [
        {}, {"annotations": []}, {"series": {":": {}}}, {"observations": {"::": None}}, {"observations": {"::": []}}
    ]  # fmt: skip
    for dataset in every:
        assert _deleted(dataset) == ([{}], [])


@pytest.mark.parametrize("more", [{"reportingBegin": "2020"}, {"reportingEnd": "2020"}, {"filter": "B=b0"}])
def test_restrictions_that_are_not_applied(more: dict[str, Any]) -> None:
    """In a data set with a restriction, only rows with all dimensions are deleted."""
    series = {"0:0": _OBSERVATION, "0:1": {}, ":1": _OBSERVATION, "1:0": {"observations": {"0": None, "": None}}}
    rows, notes = _deleted({"series": series, "attributes": ["s"], **more})
    assert rows == [_KEY, {**_KEY, "A": "a1"}]
    assert any("open delete nothing (the same applies to 3 more)" in note for note in notes)
    flat = {"observations": {"0:0:0": None, "0::0": None}, **more}
    assert _deleted(flat)[0] == [_KEY]
    rows, notes = _deleted({"series": {"0:0": _OBSERVATION}, **more})
    assert (rows, any("open" in note for note in notes)) == ([_KEY], False)


@pytest.mark.parametrize("name", ["validFrom", "validTo", "publicationYear", "publicationPeriod"])
def test_descriptions_of_the_message_restrict_no_deletion(name: str) -> None:
    """These members select no data; only a data set that names nothing keeps all data with them."""
    assert _deleted({"series": {"0:0": {}}, name: "2020"}) == ([{"A": "a0", "B": "b0"}], [])
    rows, notes = _deleted({name: "2020"})
    assert (rows, len(notes)) == ([], 1)


@pytest.mark.parametrize("values", [{"values": []}, {}])
def test_a_dimension_of_the_data_set_without_values(values: dict[str, Any]) -> None:
    """A dimension of the data set that has no value leaves all rows open, and deletes nothing."""
    dimensions = {
        "dataSet": [{"id": "A", **values}],
        "series": [_component("B", "b0")],
        "observation": [_component("T", "t0")],
    }
    every: list[dict[str, Any]] = [{"0": {}}, {"0": _OBSERVATION}]
    for series in every:
        rows, notes = _deleted({"series": series}, dimensions=dimensions)
        assert rows == []
        assert any("a dimension without values; rows that leave a dimension open" in note for note in notes)


def test_unknown_members_of_open_series() -> None:
    """A series with an unknown member deletes nothing if it leaves a dimension open, which the member may restrict."""
    series = {"0:0": {**_OBSERVATION, "filter": 1}, ":0": {**_OBSERVATION, "filter": 1}}
    rows, notes = _deleted({"series": series})
    assert rows == [_KEY]
    assert any('series[":0"], of a data set with the action delete' in note for note in notes)


@pytest.mark.parametrize(
    "dataset",
    [
        {"dimensionGroupAttributes": {"0::": ["g"]}, "series": {"1:1": {}}},
        {"dimensionGroupAttributes": {"0::": ["g"]}},
        {"attributes": ["s"], "dimensionGroupAttributes": {"1::": ["g"]}},
    ],
)
def test_attributes_that_belong_to_no_row_are_noted(dataset: dict[str, Any]) -> None:
    """A note reports attributes that are presented above the level to which they are attached, and reach no row."""
    attached = {"relationship": {"dimensions": ["A", "B"]}}
    rows, notes = _deleted(
        dataset, attributes={"dataSet": [{"id": "S", **attached}], "dimensionGroup": [{"id": "G", **attached}]}
    )
    assert rows == [{"A": "a1", "B": "b1"}] * ("series" in dataset)
    assert any("presents attributes that are attached below it, and has no series" in note for note in notes)


def test_a_series_whose_attributes_are_presented_above_it() -> None:
    """Only the attributes are deleted, which is less than the whole series, and a note reports it."""
    attributes = {"dataSet": [{"id": "S", "relationship": {"observation": {}}}]}
    rows, notes = _deleted({"attributes": ["s"], "series": {"0:1": {}, "1:1": {}}}, attributes=attributes)
    assert rows == [{"A": "a0", "B": "b1", "S": "s"}, {"A": "a1", "B": "b1", "S": "s"}]
    assert len(notes) == 1
    assert "only these are deleted, not the whole series (the same applies to 1 more)" in notes[0]
