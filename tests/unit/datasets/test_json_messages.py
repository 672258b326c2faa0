"""SDMX-JSON data messages are read without loss, or refused with the location of the error."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages import located_blocks, read_data_message
from kafka_replica.errors import UsageError
from support.effort import examples

FLOW = "urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=T:F(1.0)"


def rows_in(message: Any) -> list[dict[str, Any]]:
    """Return the rows of a message, given as objects or bytes, each without components that have no value."""
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    return [
        {name: value for name, value in row.items() if value is not None}
        for row in read_data_message("m", content=data)
    ]


def codes(name: str, *ids: str, **more: Any) -> dict[str, Any]:
    """Return a component with listed values."""
    return {"id": name, "values": [{"id": id_} for id_ in ids], **more}


def message(dataset: dict[str, Any], **structure: Any) -> dict[str, Any]:
    """Return a message of 2.0 with the dimensions A (a0, a1), B (b0, b1) in series and T (t0, t1) in observations."""
    dimensions = {
        "series": [codes("A", "a0", "a1", keyPosition=0), codes("B", "b0", "b1", keyPosition=1)],
        "observation": [codes("T", "t0", "t1", keyPosition=2)],
    }
    return {"data": {"structures": [{"dimensions": dimensions, **structure}], "dataSets": [dataset]}}


def on_groups(groups: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a message with one series, and with the group attributes G and H."""
    dataset = {"dimensionGroupAttributes": groups, "series": {"0:0": {"observations": {"0": [1], "1": [2]}}}, **more}
    return message(dataset, attributes={"dimensionGroup": [codes("G", "g0", "g1"), {"id": "H"}]})


def test_groups_do_not_erase_each_other() -> None:
    """A null of one group leaves the value of another; groups may depend on any dimensions, also on that of time."""
    found = rows_in(on_groups({"0::": [1, None], "0:0:": [None, "h"], "::1": [None, None]}))
    assert [(row["G"], row["H"]) for row in found] == [("g1", "h")] * 2
    found = rows_in(on_groups({"::1": [0], "0:0:1": [None, "h"], "::": [None]}))
    assert [(row.get("G"), row.get("H")) for row in found] == [(None, None), ("g0", "h")]


def test_groups_that_contradict_each_other() -> None:
    """Two values of one attribute for the same observations are an error that names both groups."""
    for second in ("0:0:", "0::1", "0::~"):
        with pytest.raises(DatasetError) as error:
            rows_in(on_groups({"0::": [0], second: [1]}))
        assert f'dimensionGroupAttributes["{second}"]: G is' in str(error.value)
        assert 'dimensionGroupAttributes["0::"] gives' in str(error.value)


@pytest.mark.parametrize(("action", "off"), [("Merge", "~"), ("Delete", None)])
def test_a_group_without_observations(action: str, off: str | None) -> None:
    """A group to which no observation belongs is a row, so that updates and deletions of its attributes are kept."""
    found = rows_in(on_groups({"1::": [0]}, action=action))
    others = {} if off is None else {"B": off, "T": off}
    assert found[2:] == [{"ACTION": action[0], "A": "a1", **others, "G": "g0"}]


def test_attributes_of_a_data_set_without_observations() -> None:
    """Attributes of an empty data set are a row."""
    found = rows_in(message({"action": "Merge", "attributes": ["x"]}, attributes={"dataSet": [{"id": "S"}]}))
    assert found == [{"ACTION": "M", "A": "~", "B": "~", "T": "~", "S": "x"}]


_AT_LEVELS = {
    "dataSet": [{"id": "S", "relationship": {"dataflow": {}}}],
    "dimensionGroup": [{"id": "G", "relationship": {"dimensions": ["A"]}}],
    "series": [{"id": "U", "relationship": {"dimensions": ["A", "B"]}}],
}  # fmt: skip


def _rows_to_delete(
    dataset: dict[str, Any], attributes: dict[str, Any] = _AT_LEVELS, **structure: Any
) -> list[dict[str, Any]]:
    """Return the rows of a data set with the action delete, without the action."""
    found = rows_in(message({"action": "Delete", **dataset}, attributes=attributes, **structure))
    assert all(row.pop("ACTION") == "D" for row in found)
    return found


def test_deletions_delete_what_they_name() -> None:
    """Each level is deleted on its own; only a data set that names nothing is a row that deletes all data."""
    series = {"0:0": {}, "0:1": {"attributes": ["u"], "observations": {"0": None, "1": None}}}
    assert _rows_to_delete({}) == [{}]
    assert _rows_to_delete({"series": {}, "observations": None, "annotations": []}) == []
    assert _rows_to_delete({"attributes": ["s"]}) == [{"S": "s"}]
    assert _rows_to_delete({"dimensionGroupAttributes": {"0::": ["g"]}}) == [{"A": "a0", "G": "g"}]
    for unclear in ({"attributes": [None]}, {"dimensionGroupAttributes": {"0::": [None]}}, {"key": "a0"}):
        assert _rows_to_delete(unclear) == []
        notes: list[str] = []
        data = json.dumps(message({"action": "Delete", **unclear}, attributes=_AT_LEVELS)).encode()
        assert list(located_blocks("m", content=data, note=notes.append)) == []
        assert "it deletes nothing" in notes[-1]
    named = {"attributes": ["s"], "dimensionGroupAttributes": {"0::": ["g"]}, "series": series}
    assert _rows_to_delete(named) == [
        {"A": "a0", "B": "b0"},
        {"A": "a0", "B": "b1", "U": "u"}, {"A": "a0", "B": "b1", "T": "t0"}, {"A": "a0", "B": "b1", "T": "t1"},
        {"S": "s"}, {"A": "a0", "G": "g"},
    ]  # fmt: skip
    for action in ("Append", "Merge", "Replace", "Information", None):
        assert rows_in(message({"action": action})) == []


@pytest.mark.parametrize("relationship", [{"observation": {}}, {"primaryMeasure": "V"}, {"dimensions": ["T"]}, None])
def test_attributes_presented_above_their_level_are_deleted_below(relationship: dict[str, Any] | None) -> None:
    """Attributes of observations that a message presents once, at a higher level, are only deleted where rows are.

    Source: SDMX-JSON data message, field guide 2.1: a single value can be presented at a higher level.
    """
    levels = {
        level: [{"id": one, "relationship": relationship}]
        for level, one in (("dataSet", "S"), ("dimensionGroup", "G"), ("series", "U"))
    }
    series = {"0:0": {"attributes": ["u"], "observations": {"0": None}}, "0:1": {"observations": {"1": None}}}
    given_at = {"attributes": ["s"], "dimensionGroupAttributes": {"0::": ["g"]}}
    assert _rows_to_delete({**given_at, "series": series}, levels) == [
        {"A": "a0", "B": "b0", "T": "t0", "S": "s", "G": "g", "U": "u"},
        {"A": "a0", "B": "b1", "T": "t1", "S": "s", "G": "g"},
    ]
    alone = _rows_to_delete(given_at, levels)
    assert alone == ([] if relationship else [{"S": "s"}, {"A": "a0", "G": "g"}])


@pytest.mark.parametrize("empty", [None, {}, {"id": None}, {"id": ""}, ""])
def test_deletions_whose_keys_have_empty_values(empty: Any) -> None:
    """An index that leads to nothing is an error in a deletion, because no value would mean any value."""
    dimensions = {"series": [{"id": "A", "values": [empty]}], "observation": [codes("T", "t0")]}
    every: list[dict[str, Any]] = [{"0": {}}, {"0": {"observations": {"0": None}}}]
    for series in every:
        with pytest.raises(DatasetError, match="0 is the index of an empty value of A"):
            _rows_to_delete({"series": series}, dimensions=dimensions)
    assert _rows_to_delete({"series": {"": {"observations": {"0": None}}}}, dimensions=dimensions) == [{"T": "t0"}]
    dimensions = {"dataSet": [{"id": "A", "values": [empty]}], "observation": [codes("T", "t0")]}
    with pytest.raises(DatasetError, match="the value of A is empty"):
        _rows_to_delete({}, dimensions=dimensions)


@pytest.mark.parametrize(
    "dataset",
    [
        {"reportingBegin": "2020"}, {"reportingEnd": "2021"}, {"validFrom": "2020-01-01"}, {"validTo": "2020-01-01"},
        {"publicationYear": 2020}, {"publicationPeriod": "2020"},
        {"series": {":": {"filter": 1}}}, {"series": {"0:0": {"filter": 1}}},
        {"series": {"0:0": {"attributes": [None]}}},
    ],
)  # fmt: skip
def test_deletions_that_are_restricted_by_what_is_not_read(dataset: dict[str, Any]) -> None:
    """A data set or series that names more than was read does not delete all data, or the whole series."""
    assert _rows_to_delete(dataset) == []
    notes: list[str] = []
    data = json.dumps(message({"action": "DELETE", **dataset}, attributes=_AT_LEVELS)).encode()
    assert list(located_blocks("m", content=data, note=notes.append)) == []
    assert "it deletes nothing" in "".join(notes)


def test_a_deletion_in_a_message_with_errors() -> None:
    """A data set may be empty because its service has failed, so it does not delete all data."""
    whole = message({"action": "Delete"})
    assert rows_in(whole) == [{"ACTION": "D"}]
    assert rows_in({**whole, "errors": [{"code": 500, "title": "failed"}]}) == []
    without = {"dataSet": [{"id": "A", "values": []}], "observation": [codes("T", "t0")]}
    assert _rows_to_delete({}, dimensions=without) == []


def test_an_attribute_on_several_levels() -> None:
    """The value of the lowest level counts, and null does not erase the value of a higher level."""
    flat = {"0:0:0": [1, None], "0:0:1": [2, "o"], "1:0:0": [3, None]}
    levels = {"dataSet": [{"id": "X"}], "dimensionGroup": [{"id": "X"}], "observation": [{"id": "X"}]}
    dataset = {"attributes": ["d"], "dimensionGroupAttributes": {"1::": ["g"]}, "observations": flat}
    assert [row["X"] for row in rows_in(message(dataset, attributes=levels))] == ["d", "o", "g"]


def test_several_data_sets_structures_and_actions() -> None:
    """Each data set has its action and its structure, which it names or which names it."""
    whole = message({"action": "Replace", "structure": 1, "observations": {"0:0:0": [1]}})
    other = json.loads(json.dumps(whole["data"]["structures"][0]).replace('"A"', '"Z"'))
    whole["data"]["structures"] = [whole["data"]["structures"][0] | {"dataSets": [1]}, other]
    whole["data"]["dataSets"].append({"action": "Delete", "series": {"1:": {}, "0:1": {"observations": {"1": None}}}})
    assert rows_in(whole) == [
        {"ACTION": "R", "Z": "a0", "B": "b0", "T": "t0", "OBS_VALUE": "1"},
        {"ACTION": "D", "A": "a1"},
        {"ACTION": "D", "A": "a0", "B": "b1", "T": "t1"},
    ]


def test_json_values_stay_as_written() -> None:
    """Numbers stay as they are written; values may be several, in languages, listed, or intentionally missing."""
    values = b'[12.40, 1E5, 99999999999999999999999, -0.0, true, "", "#N/A", [0, 1], [0], [[1, "x"], "y"], {"en": "t"}]'
    listed = [{"names": {"en": "one", "fr": "un"}, "name": "one"}, {"value": "v"}, {"values": ["a", "b"]}]
    names = ["M", "N", "O", "P", "Q", "R", "S", "T1", "T2", "U", "V"]
    components: list[dict[str, Any]] = [{"id": name} for name in names]
    components[7:9] = [codes("T1", "p", "q"), {"id": "T2", "values": listed}]
    data = json.dumps(message({"observations": {"0:0:0": "@"}}, measures={"observation": components})).encode()
    row = rows_in(data.replace(b'"@"', values))[0]
    one = [{"language": "en", "text": "one"}, {"language": "fr", "text": "un"}]
    assert {name: row.get(name) for name in names} == {
        "M": "12.40", "N": "1E5", "O": "99999999999999999999999", "P": "-0.0", "Q": "true", "R": None, "S": "#N/A",
        "T1": ["p", "q"], "T2": [one], "U": ['[1, "x"]', "y"], "V": [{"language": "en", "text": "t"}],
    }  # fmt: skip


def test_defaults_measures_and_annotations() -> None:
    """A default applies where an array ends, not where it has null, nor in a deletion; annotations are not values."""
    attributes = {"series": [{"id": "S", "default": "s"}], "observation": [codes("O", "o0", "o1", default="o1")]}
    observations = {"0": [], "1": [None, 7, 3]}
    series = {"0:0": {"observations": observations}}
    structure = {"measures": {"observation": []}, "attributes": attributes}
    found = rows_in(message({"action": "Merge", "series": series}, **structure))
    assert [(row.get("S"), row.get("O")) for row in found] == [("s", "o1"), ("s", None)]
    found = rows_in(message({"action": "Delete", "series": series}, **structure))
    assert [(row.get("S"), row.get("O")) for row in found] == [(None, None)] * 2


def test_other_ways_to_write_a_message() -> None:
    """Drafts of 1.0 without `data`, other encodings, NaN as a number, and addresses in place of URNs are read."""
    whole = message({"observations": {"0:0:0": [float("nan")], "0:0:1": [12.5]}}, measures=None)
    body = {"structure": whole["data"]["structures"][0], "dataSets": whole["data"]["dataSets"], "header": {"id": "x"}}
    body["structure"]["links"] = [{"rel": "dataflow", "href": "https://x.org/rest/dataflow/T/F/1.0?references=all"}]
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        found = rows_in(json.dumps(body).encode(encoding))
        assert [row["OBS_VALUE"] for row in found] == ["NaN", "12.5"]
        assert {(row["STRUCTURE"], row["STRUCTURE_ID"]) for row in found} == {("dataflow", "T:F(1.0)")}


WRONG: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda d: d.update(series={"0:5": {"observations": {"0": [1]}}}), "dataSets[0].series[\"0:5\"]: '5' is not an"),
    (lambda d: d.update(series={"0:-1": {}}), "dataSets[0].series[\"0:-1\"]: '-1' is not an index of B"),
    (lambda d: d.update(series={"0": {}}), 'dataSets[0].series["0"]: the key has 1 part, and there are 2 dimensions'),
    (lambda d: d.update(series={"0:0": {"observations": {"3": [1]}}}), '["3"]: \'3\' is not an index of T'),
    (lambda d: d.update(series={"0:0": {"observations": {"0": [1, -1]}}}), '.observations["0"][1]: -1 is not an index'),
    (lambda d: d.update(series={"0:0": {"observations": {"0": [1, 0.5]}}}), '["0"][1]: 0.5 is not an index of O'),
    (lambda d: d.update(series={"0:0": {"observations": {"0": [1, [0, 2]]}}}), '["0"][1]: 2 is not an index of O'),
    (lambda d: d.update(series={"0:0": {"observations": {"1": [1, 0, "x"]}}}), '["1"][2]: there is no component'),
    (lambda d: d.update(series={"0:0": {"observations": {"1": [{"en": 1}]}}}), '["1"][0]: {"en": 1} is not a text'),
    (lambda d: d.update(series={"0:0": {"observations": {"1": 12.5}}}), 'dataSets[0].series["0:0"].observations[...]'),
    (lambda d: d.update(series={"0:0": {"attributes": [9]}}), 'dataSets[0].series["0:0"].attributes[0]: 9 is not an'),
    (lambda d: d.update(attributes=[3]), "dataSets[0].attributes[0]: 3 is not an index of S"),
    (lambda d: d.update(structure=4), "dataSets[0].structure: 4 is not an index of the 1 structures"),
    (lambda d: d.update(structure=-1), "dataSets[0].structure: -1 is not an index"),
    (lambda d: d.update(dimensionGroupAttributes={"0:7:": [1]}), "[\"0:7:\"]: '7' is not an index of B"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "expected_text"), WRONG, ids=[expected_text for _, expected_text in WRONG])
def test_a_wrong_index(change: Callable[[dict[str, Any]], Any], expected_text: str) -> None:
    """An error names its location, the value and the component; nothing is counted from the end, or left out."""
    dataset: dict[str, Any] = {}
    change(dataset)
    levels = {name: [codes(letter, "v")] for name, letter in (("dataSet", "S"), ("series", "E"), ("observation", "O"))}
    levels["dimensionGroup"] = [{"id": "G"}]
    with pytest.raises(DatasetError) as error:
        rows_in(message(dataset, attributes=levels))
    assert expected_text in str(error.value)
    assert "reading m " in str(error.value)


def test_a_structure_whose_data_sets_are_no_list() -> None:
    """Anything else than a list of data sets is an error that names its place."""
    whole = message({"observations": {"0:0:0": [1]}})
    for listed, shown in ((5, "a number"), ({"0": "x" * 10_000}, "an object"), ("x" * 10_000, "a text")):
        whole["data"]["structures"][0]["dataSets"] = listed
        expected_text = rf"structures\[0\]\.dataSets: expected a list of numbers, and it is {shown}$"
        with pytest.raises(DatasetError, match=expected_text):
            rows_in(whole)


def test_links_to_other_classes_name_no_structure_of_data() -> None:
    """A provision agreement of reference metadata does not describe data."""
    other = FLOW.replace("datastructure.Dataflow", "registry.MetadataProvisionAgreement")
    whole = message({"observations": {"0:0:0": [1]}}, links=[{"urn": other}, {"urn": FLOW}])
    assert rows_in(whole)[0]["STRUCTURE_ID"] == "T:F(1.0)"
    assert rows_in(whole)[0]["STRUCTURE"] == "dataflow"
    whole["data"]["structures"][0]["links"] = [
        {"urn": FLOW.replace("datastructure.Data", "metadatastructure.Metadata")}
    ]
    assert "STRUCTURE" not in rows_in(whole)[0]


@pytest.mark.parametrize(
    "data",
    [
        b'{"data": {"structures": [%s], "dataSets": [{"series": {"0": {"observations": {"0": [1], "0": [2]}}}}]}}',
        b'{"data": {"structures": [%s], "dataSets": [{"series": {"0": {"observations": {"0": [1]}}, "0": {}}}]}}',
        b'{"data":{"structures":[%s],"dataSets":[{"action":"Delete","action":"Merge","observations":{"0:0":[1]}}]}}',
        b'{"data":{"structures":[%s],"dataSets":[{"observations":{"0:0":[1],"\\u0030:0":[2]}}]}}',
        b'{"data":{"structures":[%s],"dataSets":[{"observations" :{"0:0":[1],"0:0":[{"a\\":":"b"}]}}]}}',
        b'{"data":{"structures":[%s],"dataSets":[{"observations":{"0\\u003a0":[1],"0\\u003a0":[2]}}]}}',
        b'{"data":{"structures":[%s],"dataSets":[{"observations":{"0:0":[1],"0:0":["a:b:c"]}}]}}',
    ],
)
def test_a_repeated_key(data: bytes) -> None:
    """A key that occurs twice in an object, of which JSON decoders lose one, is an error, not a loss."""
    structure = json.dumps({"dimensions": {"series": [codes("A", "a")], "observation": [codes("T", "t")]}}).encode()
    with pytest.raises(DatasetError, match="occurs twice in one object"):
        rows_in(data % structure)


def test_a_harmless_repeated_key() -> None:
    """A key that occurs twice with the same value, as in an official sample, loses nothing."""
    data = json.dumps(message({"observations": {"0:0:0": [1]}})).replace(
        '"keyPosition": 1', '"keyPosition": 1,' * 2 + "@"
    )
    assert len(rows_in(data.replace(",@", "").encode())) == 1


@pytest.mark.parametrize(
    ("path", "name", "meant"),
    [
        ((), "datasets", "dataSets"),
        (("structures", 0), "Attributes", "attributes"),
        (("structures", 0, "attributes"), "dimensiongroup", "dimensionGroup"),
        (("structures", 0, "dimensions"), "Observation", "observation"),
        (("structures", 0, "dimensions", "series", 0), "value", "values"),
        (("dataSets", 0), "Series", "series"),
        (("dataSets", 0), "dimension_group_attributes", "dimensionGroupAttributes"),
        (("dataSets", 0, "series", "0:0"), "observation", "observations"),
    ],
)
def test_a_misspelt_member(path: tuple[str | int, ...], name: str, meant: str) -> None:
    """A member that is called almost like one with data is an error, because its data would be lost."""
    data = on_groups({"0::": [0]})
    place = data["data"]
    for one in path:
        place = place[one]
    place[name] = place[meant]
    with pytest.raises(DatasetError, match=f"'{name}' is not a member in SDMX-JSON; did you mean '{meant}'"):
        rows_in(data)
    del place[meant]
    with pytest.raises(DatasetError, match=f"'{name}' is not a member in SDMX-JSON; did you mean '{meant}'"):
        rows_in(data)


def test_members_that_are_not_read_are_noted() -> None:
    """A service may extend SDMX-JSON; a note names each extension of structures, data sets and series once."""
    data = on_groups({"0::": [0]}, **{"x-own": {"a": 1}})
    data["data"] |= {"structure": None}  # a known member, which is called almost like another one
    data["data"]["dataSets"][0]["series"]["0:0"]["total"] = 3
    structure = data["data"]["structures"][0]
    structure |= {"packaging": "x", "uri": "", "name": "N", "annotations": [{"id": "1"}]}
    structure["attributes"] |= {"group": [{"id": "X"}], "Series": None}
    structure["dimensions"]["series"][0]["comment"] = "y"
    notes: list[str] = []
    blocks = located_blocks("m", content=json.dumps(data).encode(), note=notes.append)
    assert sum(block.size for _, block in blocks) == 2
    assert notes == [
        "dataSets[0] has the member 'x-own', which SDMX-JSON does not define; it is not read",
        "structures[0] has the member 'packaging', which SDMX-JSON does not define; it is not read",
        "structures[0].attributes has the member 'group', which SDMX-JSON does not define; it is not read",
        "dataSets[0].series[\"0:0\"] has the member 'total', which SDMX-JSON does not define; it is not read",
    ]


@st.composite
def data_sets(draw: st.DrawFn) -> list[dict[str, str]]:
    """Draw observations with a value and attributes of series, of a group (dimension A) and of the data set."""
    keys = st.tuples(*[st.sampled_from(ids) for ids in (("a0", "a1"), ("b0", "b1"), ("t0", "t1"))])
    texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=3)
    group, series = {one: draw(texts) for one in ("a0", "a1")}, draw(st.dictionaries(keys.map(lambda k: k[:2]), texts))
    above = draw(texts)
    found = []
    for a, b, t in draw(st.sets(keys, min_size=1)):
        row = {"A": a, "B": b, "T": t, "G": group[a], "E": series.get((a, b), ""), "S": above, "OBS_VALUE": draw(texts)}
        found.append({name: value for name, value in row.items() if value})
    return found


def written(rows: list[dict[str, str]], *, flat: bool) -> dict[str, Any]:
    """Return rows as a message; in a flat one the attributes of series are those of groups."""

    def number(row: dict[str, str], *names: str) -> str:
        return ":".join(row[name][1] for name in names)

    dataset: dict[str, Any] = {"action": "Merge", "attributes": [rows[0].get("S")], "dimensionGroupAttributes": {}}
    levels: dict[str, Any] = {"dataSet": [{"id": "S"}], "dimensionGroup": [{"id": "E"}, {"id": "G"}]}
    whole = message(dataset, attributes=levels)
    dimensions = whole["data"]["structures"][0]["dimensions"]
    for row in rows:
        dataset["dimensionGroupAttributes"][f"{number(row, 'A')}::"] = [None, row.get("G")]
        if flat:
            dataset["dimensionGroupAttributes"][f"{number(row, 'A', 'B')}:"] = [row.get("E")]
            dataset.setdefault("observations", {})[number(row, "A", "B", "T")] = [row.get("OBS_VALUE")]
        else:
            made = dataset.setdefault("series", {}).setdefault(
                number(row, "A", "B"), {"attributes": [], "observations": {}}
            )
            made["attributes"] = [row.get("E")]
            made["observations"][number(row, "T")] = [row.get("OBS_VALUE")]
    if flat:
        dimensions["observation"] = [*dimensions.pop("series"), *dimensions["observation"]]
    else:
        levels["series"] = [{"id": "E"}]
    return whole


@pytest.mark.thorough
@given(data_sets())
@settings(max_examples=examples(60))
def test_flat_and_in_series(rows: list[dict[str, str]]) -> None:
    """Data gives the same rows if it is written flat and in series."""

    def ordered(found: list[dict[str, str]]) -> list[dict[str, str]]:
        return sorted(found, key=lambda row: (row["A"], row["B"], row["T"]))

    expected = ordered([{"ACTION": "M", **row} for row in rows])
    assert ordered(rows_in(written(rows, flat=True))) == expected
    assert ordered(rows_in(written(rows, flat=False))) == expected


@pytest.mark.thorough
def test_errors_in_later_parts_have_the_right_location() -> None:
    """Observations are read in parts of some thousands, and errors in later parts have the right location."""
    periods = codes("T", *[f"p{i}" for i in range(20000)])
    observations = {str(i): [i] if i % 3 else [i, 0] for i in range(20000)}
    whole = message({"observations": observations}, attributes={"observation": [codes("O", "o")]})
    whole["data"]["structures"][0]["dimensions"] = {"observation": [periods]}
    found = rows_in(whole)
    assert [(row["T"], row["OBS_VALUE"], row.get("O")) for row in found] == [
        (f"p{i}", str(i), None if i % 3 else "o") for i in range(20000)
    ]
    observations["19000"] = [1, 1]
    with pytest.raises(DatasetError, match=r'observations\["19000"\]\[1\]: 1 is not an index'):
        rows_in(whole)


@pytest.mark.thorough
def test_deep_nesting_is_an_error() -> None:
    """Deep nesting is an error in each part of a message; from Python 3.14 on, the error may be the first type."""
    deep = b"[" * 100_000 + b"]" * 100_000
    for part in (
        b'"structures": %s',
        b'"dataSets": [{"annotations": %s}]',
        b'"structures": [{"dimensions": {}}], "dataSets": [{"series": {"": %s}}]',
    ):
        with pytest.raises(DatasetError, match=r"reading m .*(is nested too deeply|expected `object`, got `array`)"):
            rows_in(b'{"data": {%s}}' % (part % deep))


@pytest.mark.thorough
def test_damaged_json_gives_rows_or_an_error_of_the_package() -> None:
    """Damaged messages give rows or an error of the package, never another exception."""
    source = random.Random(7)
    whole = on_groups({"0::": [0, "x"]}, attributes=["s"])
    original = json.dumps(whole).encode()
    pieces = [
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b":",
        b",",
        b"-1",
        b"1e999",
        b"null",
        b"true",
        b"\xff",
        b"\\ud800",
        b"0",
        b'""',
    ]
    for _ in range(examples(3000)):
        data = bytearray(original)
        for _ in range(source.randint(1, 3)):
            start = source.randrange(len(data))
            data[start : start + source.randint(0, 4)] = source.choice(pieces)
        try:
            rows_in(bytes(data))
        except (DatasetError, UsageError) as error:
            assert "reading m" in str(error)  # noqa: PT017
