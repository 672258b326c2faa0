"""Attributes without values in SDMX-JSON data messages, and levels that services write in lower case."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages import located_blocks, read_data_message


def codes(name: str, *ids: str) -> dict[str, Any]:
    """Return a component with listed values; without ids, it has an empty list."""
    return {"id": name, "values": [{"id": id_} for id_ in ids]}


def message(dataset: dict[str, Any], /, **attributes: Any) -> dict[str, Any]:
    """Return a message of 2.0 with the dimension A (a0, a1) in series and T (t0, t1) in observations."""
    dimensions = {"series": [codes("A", "a0", "a1")], "observation": [codes("T", "t0", "t1")]}
    return {"data": {"structures": [{"dimensions": dimensions, "attributes": attributes}], "dataSets": [dataset]}}


def rows_and_notes(whole: dict[str, Any], *names: str) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Return the values of these components in each row, and the notes of the reader."""
    data, notes = json.dumps(whole).encode(), list[str]()
    for _ in located_blocks("m", content=data, note=notes.append):
        pass
    return [tuple([row.get(name) for name in names]) for row in read_data_message("m", content=data)], notes


def observed(*arrays: list[Any], **more: Any) -> dict[str, Any]:
    """Return a data set with these observations, at most two in each series."""
    series: dict[str, Any] = {}
    for index, array in enumerate(arrays):
        of_series = series.setdefault(str(index // 2), {"observations": {}})
        of_series["observations"][str(index % 2)] = array
    return {"series": series, **more}


_MIXED = [codes("E"), codes("X", "x0", "x1"), codes("F"), codes("Y", "y0", "y1")]
"""Attributes of which E and F have no values."""


def test_levels_of_the_data_set_in_lower_case() -> None:
    """The IMF and Statistics Canada write ``dataset``: its dimensions and attributes are those of ``dataSet``."""
    whole = message(observed([1], attributes=["s", 0]), dataset=[{"id": "S"}, codes("R", "r0")])
    structure = whole["data"]["structures"][0]
    structure["dimensions"]["dataset"] = [codes("FREQ", "A")]
    structure["attributes"]["dataSet"] = None
    assert rows_and_notes(whole, "FREQ", "A", "S", "R") == ([("A", "a0", "s", "r0")], [])
    structure["dimensions"]["dataset"] = None
    assert rows_and_notes(whole, "FREQ", "A") == ([(None, "a0")], [])
    structure["dimensions"]["dataset"] = [codes("FREQ", "A", "Q")]
    with pytest.raises(DatasetError, match=r"structures\[0\]\.dimensions\.dataset\[0\]: a dimension of the data set"):
        rows_and_notes(whole)
    structure["dimensions"]["dataSet"] = [codes("UNIT", "u")]
    with pytest.raises(DatasetError, match=r"structures\[0\]\.dimensions: it has both 'dataSet' and 'dataset'"):
        rows_and_notes(whole)


@pytest.mark.parametrize(
    ("kind", "level"),
    [("dimensions", "dimensionGroup"), ("measures", "dataSet"), ("measures", "dataset"), ("measures", "series")],
)
def test_components_at_a_level_that_has_none(kind: str, level: str) -> None:
    """Measures above observations, and dimensions of dimension groups, are an error, because they are not read."""
    whole = message(observed([1]))
    structure = whole["data"]["structures"][0]
    structure.setdefault(kind, {})[level] = []
    assert rows_and_notes(whole, "A") == ([("a0",)], [])
    structure[kind][level] = [codes("X", "x")]
    with pytest.raises(DatasetError, match=rf"structures\[0\]\.{kind}\.{level}: SDMX-JSON has no {kind} at this level"):
        rows_and_notes(whole)


@pytest.mark.parametrize("is_old", [True, False])
def test_an_index_of_an_attribute_without_values(is_old: bool) -> None:
    """An attribute whose list is empty has no index, so that an index is an error and not a value."""
    attributes = [codes("X", "x0"), codes("E")]

    def written(array: list[Any]) -> dict[str, Any]:
        whole = message(observed(array), observation=attributes)
        body = {"structure": whole["data"]["structures"][0], "dataSets": whole["data"]["dataSets"]}
        return body if is_old else whole

    for array in ([1], [1, 0], [1, 0, None]):
        assert rows_and_notes(written(array), "E") == ([(None,)], [])
    assert rows_and_notes(written([1, 0, "text"]), "X", "E") == ([("x0", "text")], [])
    for wrong in (0, [0]):
        with pytest.raises(
            DatasetError, match=r'observations\["0"\]\[2\]: 0 is not an index of E, which has no values'
        ):
            rows_and_notes(written([1, 0, wrong]))


def test_a_measure_with_an_empty_list_of_values() -> None:
    """The IMF lists no values of measures and gives their numbers."""
    whole = message(observed([7]))
    whole["data"]["structures"][0]["measures"] = {"observation": [codes("OBS_VALUE")]}
    assert rows_and_notes(whole, "OBS_VALUE") == ([("7",)], [])


def _left_out(level: str) -> str:
    return (
        f"dataSets[0] has arrays of attributes {level} that leave out the attributes without values (E, F); their "
        "entries were read as those of the other attributes"
    )


def test_arrays_that_leave_out_attributes_without_values() -> None:
    """An index at the position of an attribute without values shows that arrays leave out such attributes."""
    expected = [("x0", "y1", None, None)]
    names = ("X", "Y", "E", "F")
    of_data_set = message(observed([1], attributes=[0, 1]), dataSet=_MIXED)
    not_read = [
        f"dataSets[0] refers to one of the 2 values that the message lists for the attribute {id_}; the others were "
        "not read"
        for id_ in ("X", "Y")
    ]
    assert rows_and_notes(of_data_set, *names) == (expected, [_left_out("of the data set"), *not_read])
    of_group = message(observed([1], dimensionGroupAttributes={"0:": [0, 1]}), dimensionGroup=_MIXED)
    assert rows_and_notes(of_group, *names) == (expected, [_left_out("of dimension groups")])
    of_series = message({"series": {"0": {"attributes": [0, 1], "observations": {"0": [1]}}}}, series=_MIXED)
    assert rows_and_notes(of_series, *names) == (expected, [_left_out("of series")])
    in_series = message(observed([1, 0, 1]), observation=_MIXED)
    assert rows_and_notes(in_series, *names) == (expected, [_left_out("of observations")])
    flat = message({"observations": {"0:0": [1, 0, 1]}}, observation=_MIXED)
    assert rows_and_notes(flat, *names) == (expected, [_left_out("of observations")])


def test_all_arrays_of_a_level_have_the_same_order() -> None:
    """An array that could be meant both ways is read like the array that shows the order, even if that comes later."""
    left_out = message(observed([1, None, 1], [2], [3, 1, None]), observation=_MIXED)
    assert rows_and_notes(left_out, "X", "Y")[0] == [(None, "y1"), (None, None), ("x1", None)]
    complete = message(observed([1, None, 1], [2, None, 0, None, 1]), observation=_MIXED)
    assert rows_and_notes(complete, "X", "Y") == ([("x1", None), ("x0", "y1")], [])
    # The last entries may be omitted, so that arrays of different lengths are usual where none is left out.
    shorter = message(observed([1, None, 1], [2, None]), observation=_MIXED)
    assert rows_and_notes(shorter, "X", "Y") == ([("x1", None), (None, None)], [])


def test_arrays_that_could_be_meant_both_ways_are_noted() -> None:
    """Arrays are then read by position, as the field guide says."""
    unclear = message(observed([1, None, 1], [2, None, 0]), observation=_MIXED)
    note = (
        "dataSets[0] has arrays of attributes of observations that may leave out the attributes without values (E, F); "
        "they were read as if they did not"
    )
    assert rows_and_notes(unclear, "X", "Y") == ([("x1", None), ("x0", None)], [note])
    alike = message(observed([1, None, None], [2, None, None]), observation=_MIXED)
    assert rows_and_notes(alike, "X", "Y") == ([(None, None), (None, None)], [])


@pytest.mark.parametrize(
    ("arrays", "attributes"),
    [
        ([[1, 0, 1], [1, None, 0, None]], _MIXED),  # more entries than attributes with values
        ([[1, 0, 1], [1, 0, 1, "text"]], _MIXED),
        ([[1, None, 0, None, 1], [1, 0, 1]], _MIXED),  # first an array with all attributes
        ([[1, 0, 2]], _MIXED),  # not an index of Y
        ([[1, 0]], _MIXED),  # fewer entries, none of which is known to be the first
        ([[1, 0]], [codes("E"), codes("X", "x0"), {"id": "U"}]),  # U lists no values, so that 0 could be its value
    ],
)
def test_arrays_that_contradict_each_other(arrays: list[list[Any]], attributes: list[dict[str, Any]]) -> None:
    """Nothing is guessed: an entry without an attribute that it can belong to is an error."""
    with pytest.raises(DatasetError, match=r"is not an index of|there is no attribute at this position"):
        rows_and_notes(message(observed(*arrays), observation=attributes))


def test_defaults_of_attributes_that_are_left_out() -> None:
    """An attribute that no array has an entry for has its default."""
    attributes = [codes("E") | {"default": "e"}, codes("X", "x0")]
    for level, dataset in (("observation", observed([1, 0])), ("dataSet", observed([1], attributes=[0]))):
        assert rows_and_notes(message(dataset, **{level: attributes}), "E", "X")[0] == [("e", "x0")]


def test_a_text_that_is_not_listed_shows_that_its_array_is_complete() -> None:
    """Whichever array comes first: together with an index of an attribute without values, it is an error."""
    attributes = [codes("E"), codes("X", "x0", "x1", "x2")]
    shortened: list[Any] = [1, 2]
    complete: list[Any] = [1, "t"]
    for arrays in ((shortened, complete), (complete, shortened)):
        with pytest.raises(DatasetError):
            rows_and_notes(message(observed(*arrays), observation=attributes))


def test_lists_of_indexes_show_the_order_as_indexes_do() -> None:
    """An attribute of 2.0 may have several values, in whichever array."""
    attributes = [codes("E"), codes("X", "x0", "x1", "x2"), codes("Y", "y0")]
    first, second = (["x1"], "y0"), (["x1", "x2"], "y0")
    arrays = [1, 1, 0], [1, [1, 2], 0]
    for order, expected in ((arrays, [first, second]), (arrays[::-1], [second, first])):
        rows, _ = rows_and_notes(message(observed(*order), observation=attributes), "X", "Y")
        assert rows == expected


def _of_data_sets(*arrays: list[Any], **more: Any) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Return the attributes K (k0, k1, k2) and X (x0) of data sets with these arrays of attributes, and the notes."""
    attributes = [codes("K", "k0", "k1", "k2") | more, codes("X", "x0")]
    whole = message({}, dataSet=attributes)
    whole["data"]["dataSets"] = [observed([1], attributes=array) for array in arrays]
    return rows_and_notes(whole, "K", "X")


_OTHERS = "dataSets[0] refers to one of the 3 values that the message lists for the attribute K"


def test_several_listed_values_of_an_attribute_of_the_data_set() -> None:
    """The IMF lists several values and gives the index 0: they are kept if there may be several, or else noted."""
    note = f"{_OTHERS}; the others were not read"
    assert _of_data_sets([0, 0]) == ([("k0", "x0")], [note])
    assert _of_data_sets([2, 0]) == ([("k2", "x0")], [note])
    assert _of_data_sets([0, 0], maxOccurs=1)[1] == [note]
    expected = [(["k0", "k1", "k2"], "x0")], [f"{_OTHERS}, which may have several; all were read"]
    assert _of_data_sets([0, 0], maxOccurs="unbounded") == expected
    assert _of_data_sets([0, 0], maxOccurs=3) == expected
    assert _of_data_sets([0, 0], [0, 0], maxOccurs=3) == (expected[0] * 2, expected[1])


def test_values_of_the_data_set_that_need_no_note() -> None:
    """An array refers to several values, data sets to different ones, and null to none."""
    for more in ({}, {"maxOccurs": "unbounded"}):
        assert _of_data_sets([[0, 2], 0], **more) == ([(["k0", "k2"], "x0")], [])
        assert _of_data_sets([0, 0], [1, 0], **more) == ([("k0", "x0"), ("k1", "x0")], [])
        assert _of_data_sets([None, 0], [], **more) == ([(None, "x0"), (None, None)], [])


def _of_many(structures: int, sets: list[tuple[int, list[Any]]], **more: Any) -> list[tuple[Any, ...]]:
    """Return the attribute K (k0, k1) of data sets, each with the number of its structure and its array."""
    whole = message({}, dataSet=[codes("K", "k0", "k1") | more])
    whole["data"]["structures"] *= structures
    whole["data"]["dataSets"] = [observed([1], structure=number, attributes=array) for number, array in sets]
    return rows_and_notes(whole, "K")[0]


def test_values_that_other_data_sets_refer_to_are_theirs() -> None:
    """An array of indexes refers to values, too; data sets of another structure refer to other values."""
    assert _of_many(1, [(0, [0]), (0, [[1]])], maxOccurs=3) == [(["k0"],), (["k1"],)]
    assert _of_many(2, [(0, [0]), (1, [1])], maxOccurs=3) == [(["k0", "k1"],), (["k1"],)]


def test_a_deletion_may_give_the_index_of_any_value() -> None:
    """The index means neither all values, nor that others are left out."""
    attributes = [codes("K", "k0", "k1") | {"maxOccurs": 3}]
    whole = message({"action": "Delete", "attributes": [0]}, dataSet=attributes)
    assert rows_and_notes(whole, "K") == ([("k0",)], [])


@pytest.mark.parametrize("most", [[3], {"most": 3}, 0, True, "", "1", "many"])
def test_numbers_of_occurrences_that_allow_one_value(most: object) -> None:
    """A number that is wrong, or a misspelt name, is not a reason to refuse the data."""
    assert _of_many(1, [(0, [0])], maxOccurs=most) == [("k0",)]
    assert _of_many(1, [(0, [0])], maxoccurs=most) == [("k0",)]
    assert _of_many(1, [(0, [0])], maxOccurs="2") == [(["k0", "k1"],)]


_E_AND_X = [codes("E"), codes("X", "x0", "x1")]
_UNKNOWN = r"the attributes without values \(E\), and the action delete, so it is unknown what is deleted"


@pytest.mark.parametrize(
    ("level", "dataset", "attributes"),
    [
        ("series", {"series": {"0": {"attributes": [0]}}}, _E_AND_X),
        ("observation", {"series": {"0": {"observations": {"0": [None, 0]}}}}, _E_AND_X),
        ("observation", {"observations": {"0:0": [None, 0]}}, _E_AND_X),
        ("dataSet", {"attributes": [0]}, _E_AND_X),
        ("dimensionGroup", {"dimensionGroupAttributes": {"0:": [0]}}, _E_AND_X),
        ("series", {"series": {"0": {"attributes": [None, 0]}}}, [*_E_AND_X, codes("Y", "y0")]),
    ],
)
def test_a_deletion_does_not_leave_out_attributes(
    level: str, dataset: dict[str, Any], attributes: list[dict[str, Any]]
) -> None:
    """The index may be "any valid value" of E, or one of X: the wrong one of the two must not be deleted."""
    with pytest.raises(DatasetError, match=_UNKNOWN):
        rows_and_notes(message({"action": "Delete"} | dataset, **{level: attributes}))


def test_a_deletion_whose_arrays_have_all_attributes() -> None:
    """A text, or an entry for each attribute, shows which attribute is meant."""
    for array, expected in ((["-"], ("-", None)), ([None, 0], (None, "x0"))):
        whole = message({"action": "Delete", "series": {"0": {"attributes": array}}}, series=_E_AND_X)
        assert rows_and_notes(whole, "E", "X") == ([expected], [])


@pytest.mark.parametrize("empty", [[], [None]])
def test_an_empty_list_is_not_an_index(empty: list[None]) -> None:
    """Nothing then shows that arrays leave out an attribute, in whichever order they come."""
    arrays: tuple[list[Any], list[Any]] = ([1, empty], [1, empty, 1])
    for order, expected in ((arrays, [(None,), ("x1",)]), (arrays[::-1], [("x1",), (None,)])):
        assert rows_and_notes(message(observed(*order), observation=_E_AND_X), "X") == (expected, [])
    unclear = message(observed([1, empty, 1]), observation=[*_E_AND_X, codes("Y", "y0", "y1")])
    rows, notes = rows_and_notes(unclear, "X", "Y")
    assert rows == [("x1", None)]
    assert "may leave out the attributes without values (E)" in notes[0]


@pytest.mark.parametrize("given", [{"en": "a"}, True, [{"en": "a"}], [0, "t"]])
def test_any_value_that_is_not_listed_shows_that_its_array_is_complete(given: object) -> None:
    """Texts by language and booleans do so as texts do: whichever array comes first, it is an error."""
    arrays: list[list[Any]] = [[1, 1], [1, given]]
    for order in (arrays, arrays[::-1]):
        with pytest.raises(DatasetError, match=r"is not an index of"):
            rows_and_notes(message(observed(*order), observation=_E_AND_X))
    alone = message(observed([1, None, given]), observation=_E_AND_X)
    assert rows_and_notes(alone, "X")[0][0] != (None,)


def test_many_unknown_members_of_the_structure_do_not_hide_those_of_series() -> None:
    """The limits for notes on the two are apart."""
    whole = message({"series": {"0": {"extra": 1, "x-0": 1, "observations": {"0": [1]}}}})
    whole["data"]["structures"][0] |= {f"x-{at}": 1 for at in range(20)}
    notes = rows_and_notes(whole)[1]
    assert len(notes) == 12
    assert [note.partition(",")[0] for note in notes[10:]] == [
        f"dataSets[0].series[\"0\"] has the member '{name}'" for name in ("extra", "x-0")
    ]
