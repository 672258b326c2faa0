"""Random messages of SDMX-JSON have the rows that an independent reader finds in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from kafka_replica.data.files.messages import data_message_rows, read_message_columns
from kafka_replica.data.files.messages.json import datasets
from support.datasets.json_oracle import MessageMaker, expected_rows
from support.effort import examples

_NOT_COMPARED: Final = {"STRUCTURE", "STRUCTURE_ID"}


@pytest.mark.parametrize("at_once", [8192, 3], ids=["in one block", "in blocks of three"])
def test_random_messages_have_the_rows_of_the_field_guide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """Attributes at several levels, with several values or defaults, of series with and without observations."""
    monkeypatch.setattr(datasets, "_AT_ONCE", at_once)
    path = tmp_path / "data.json"
    for seed in range(examples(1_000)):
        message = MessageMaker(seed).message()
        path.write_text(json.dumps(message))
        expected = [*expected_rows(message)]
        found = [one.row for one in data_message_rows(path)]
        if not message["data"]["dataSets"][0]["series"]:
            continue  # attributes of the data set alone are tested elsewhere
        compared = [{name: value for name, value in row.items() if name not in _NOT_COMPARED} for row in found]
        for row, one in zip(compared, expected, strict=True):
            assert row == one or row.items() >= one.items(), seed
        assert {len(column) for column in read_message_columns(path).values()} == {len(expected)}, seed


def _message(at_series: Any, at_observation: Any) -> dict[str, Any]:
    """Return a message whose attribute X is at both levels; the series has two observations."""
    x = {"id": "X", "values": [{"id": "a"}, {"id": "b"}]}
    structure = {
        "dimensions": {
            "series": [{"id": "A", "values": [{"id": "a0"}]}],
            "observation": [{"id": "T", "values": [{"id": "1"}, {"id": "2"}]}],
        },
        "measures": {"observation": [{"id": "V"}]},
        "attributes": {"series": [x], "observation": [x]},
    }
    observations = {"0": ["1", at_observation], "1": ["2", at_observation]}
    series = {"0": {"attributes": [at_series], "observations": observations}}
    return {"data": {"structures": [structure], "dataSets": [{"structure": 0, "series": series}]}}


def test_several_values_of_a_series_belong_to_each_observation_without_one(tmp_path: Path) -> None:
    """Two values of a series with two observations are not given to one observation each."""
    path = tmp_path / "data.json"
    path.write_text(json.dumps(_message([0, 1], None)))
    assert [one.row["X"] for one in data_message_rows(path)] == [["a", "b"], ["a", "b"]]
    path.write_text(json.dumps(_message([0, 1, 0], None)))
    assert [one.row["X"] for one in data_message_rows(path)] == [["a", "b", "a"], ["a", "b", "a"]]
    path.write_text(json.dumps(_message([0, 1], 0)))
    assert [one.row["X"] for one in data_message_rows(path)] == ["a", "a"]
