"""Random messages of SDMX-JSON have the rows that an independent reader finds in them."""

from __future__ import annotations

import gc
import io
import json
from pathlib import Path
from typing import Any, Final

import pytest

from kafka_replica.common.concatenation import Concatenation
from kafka_replica.data.files.messages import data_message_rows, read_message_columns
from kafka_replica.data.files.messages.json import datasets, json_blocks
from kafka_replica.data.files.messages.json.keys import Paths
from kafka_replica.data.files.messages.uniform_values import uniform_values
from support.datasets.json_oracle import MessageMaker, expected_rows
from support.effort import examples

_NOT_COMPARED: Final = {"STRUCTURE", "STRUCTURE_ID"}


@pytest.mark.long
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
        found = [data_message_row.row for data_message_row in data_message_rows(path)]
        if not message["data"]["dataSets"][0]["series"]:
            continue  # attributes of the data set alone are tested elsewhere
        names = list(dict.fromkeys(name for row in [*found, *expected] for name in row))
        assert [_complete(row, names) for row in found] == [_complete(row, names) for row in expected], seed
        columns = {
            name: uniform_values([row.get(name) for row in expected]) for name in names if name not in _NOT_COMPARED
        }
        assert {name: each for name, each in read_message_columns(path).items() if name in columns} == columns, seed


def _complete(row: dict[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: row.get(name) for name in names if name not in _NOT_COMPARED}


def test_locations_of_rows_do_not_keep_their_values(tmp_path: Path) -> None:
    """A caller may keep the locations of many rows, which must not keep the decoded message in memory as well."""
    path = tmp_path / "data.json"
    path.write_text(json.dumps(MessageMaker(5).message()))
    kept = [block.paths for block in json_blocks(io.BytesIO(path.read_bytes()), "data.json")]
    assert any(isinstance(one, Concatenation) for one in kept)
    reached: list[Any] = [*kept]
    seen: set[int] = set()
    while reached:
        one = reached.pop()
        if id(one) not in seen and isinstance(one, (Concatenation, Paths, list, dict, tuple)):
            seen.add(id(one))
            reached += gc.get_referents(one)
            assert not isinstance(one, list) or all(isinstance(each, (str, int, Paths)) for each in one)


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
    assert [data_message_row.row["X"] for data_message_row in data_message_rows(path)] == [["a", "b"], ["a", "b"]]
    path.write_text(json.dumps(_message([0, 1, 0], None)))
    assert [data_message_row.row["X"] for data_message_row in data_message_rows(path)] == [
        ["a", "b", "a"],
        ["a", "b", "a"],
    ]
    path.write_text(json.dumps(_message([0, 1], 0)))
    assert [data_message_row.row["X"] for data_message_row in data_message_rows(path)] == ["a", "a"]


def test_a_value_of_the_series_counts_more_than_one_of_a_group(tmp_path: Path) -> None:
    """The group may depend on the observation; its value counts where the series has none."""
    path = tmp_path / "data.json"
    for at_series, expected in ((0, ["a", "a"]), (None, ["b", None])):
        message = _message(at_series, None)
        (structure,), (data_set,) = message["data"]["structures"], message["data"]["dataSets"]
        attributes = structure["attributes"]
        attributes["dimensionGroup"] = attributes["series"]
        attributes["observation"] = []
        data_set["dimensionGroupAttributes"] = {":0": [1]}
        path.write_text(json.dumps(message))
        assert [data_message_row.row["X"] for data_message_row in data_message_rows(path)] == expected
