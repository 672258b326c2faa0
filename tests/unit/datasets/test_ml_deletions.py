"""Deletions in SDMX-ML delete what they name, and nothing more; parts that are not read delete nothing.

Source: SDMX 2.1, Section 3A, Part IV, on the action delete.
"""

from __future__ import annotations

from typing import Any

import pytest

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.ml import message as ml_message
from support.datasets.deletions import RULES, cross_sectional, found_in, generic_of_20, specific

_OTHERS = ("Merge", "Append", "Replace", "Information")
_NOTHING = "the data set in line 3 has the action delete, but nothing that was read names what is deleted"
_OPEN = "leaves a dimension open, and the data set has a restriction that is not applied"
_UNREAD = "names nothing, or something that is not read; it deletes nothing"
_SERIES = '<Series A="1" B="2"/>'
_OBS = '<Obs A="1" B="2" TIME_PERIOD="2020"/>'
_KEY = {"A": "1", "B": "2", "TIME_PERIOD": "2020"}


@pytest.mark.parametrize(
    ("body", "attributes", "expected"),
    [
        ('<Section B="2"><Obs value="1"/></Section>', ' A="1" TIME_PERIOD="2020"', [{**_KEY, "OBS_VALUE": "1"}]),
        ('<Section B="2"><Obs value="1"/></Section>', ' A="1" TIME_PERIOD="2020" TITLE="x"',
         [{**_KEY, "OBS_VALUE": "1", "TITLE": "x"}, {"A": "1", "TIME_PERIOD": "2020", "TITLE": "x"}]),
        ("", ' A="1" TIME_PERIOD="2020"', []),
        ("", ' A="1" TITLE="x"', [{"A": "1", "TITLE": "x"}]),
    ],
)  # fmt: skip
def test_dimensions_of_a_cross_sectional_data_set_restrict_its_rows(
    body: str, attributes: str, expected: list[dict[str, Any]]
) -> None:
    """Dimensions of the element DataSet (2.0, ``crossSectionalAttachDataSet``) do not delete a slice."""
    rows, notes = found_in(cross_sectional(body, attributes))
    assert rows == expected
    assert bool(rows) != any("it deletes nothing" in note for note in notes)


@pytest.mark.parametrize("action", _OTHERS)
def test_a_data_set_with_dimensions_alone_has_no_row(action: str) -> None:
    """No row is invented for the dimensions of a data set without observations, but its attributes are a row."""
    letter = action[0]
    assert found_in(cross_sectional("", ' A="1" TIME_PERIOD="2020"', action), action=letter) == ([], [])
    assert found_in(specific("", ' A="1"', action), action=letter) == ([], [])
    off = {"B": "~", "TIME_PERIOD": "~"}
    for made in (cross_sectional("", ' A="1" TITLE="x"', action), specific("", ' A="1" TITLE="x"', action)):
        assert found_in(made, action=letter) == ([{"A": "1", "TITLE": "x", **off}], [])


def test_attributes_that_may_be_dimensions_are_not_deleted_without_rules() -> None:
    """Without rules, XML attributes of a cross-sectional data set only restrict its observations."""
    made = cross_sectional('<Section B="2"><Obs value="1"/></Section>', ' A="1"')
    rows, notes = found_in(made, None)
    assert rows == [{"A": "1", "B": "2", "OBS_VALUE": "1"}]
    assert any("may be dimensions or attributes" in note for note in notes)
    rows, notes = found_in(cross_sectional("", ' A="1"'), None)
    assert (rows, any("nothing that was read names what is deleted" in note for note in notes)) == ([], True)


@pytest.mark.parametrize(
    ("body", "attributes", "expected"),
    [
        ('<Series B="2"/>', ' A="1"', [{"A": "1", "B": "2"}]),
        ('<Obs B="2" TIME_PERIOD="2020"/>', ' A="1"', [_KEY]),
        ('<Series B="2" U="x"><Obs TIME_PERIOD="2020"/></Series>', ' A="1"', [{"A": "1", "B": "2", "U": "x"}, _KEY]),
        ('<Group B="2" G="x"/>', ' A="1"', [{"A": "1", "B": "2", "G": "x"}]),
        ('<Series B="2"/>', ' A="1" TITLE="x"', [{"A": "1", "B": "2"}, {"A": "1", "TITLE": "x"}]),
        ("", ' A="1"', []),
        ('<Series B="2"/>', ' A=""', []),
    ],
)  # fmt: skip
def test_dimensions_of_a_specific_data_set_restrict_its_rows(
    body: str, attributes: str, expected: list[dict[str, Any]]
) -> None:
    """A dimension on the element DataSet, which the standard does not have there, never makes a deletion wider."""
    rows, notes = found_in(specific(body, attributes))
    assert rows == expected
    assert bool(rows) != any(_NOTHING in note for note in notes)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("<OBS_VALUE/>", "the observation OBS_VALUE names nothing"),
        ("<Section><OBS_VALUE/></Section>", "the observation OBS_VALUE names nothing"),
        ('<Section><Obs A="1" value=" "/></Section>', "value has no value"),
        ('<Section><Other A="1"/></Section>', "Other has no value, and is neither Obs nor the code"),
        ('<Section A="1"><Obs B="2"><Obs TIME_PERIOD="2020"/></Obs></Section>', "the element Obs is within"),
    ],
)
def test_unclear_elements_of_cross_sectional_deletions(body: str, error: str) -> None:
    """An element that names nothing, or names a measure without its value, is an error whatever its name."""
    with pytest.raises(DatasetError, match=f"line 1: {error}.* so it is unknown what is deleted"):
        found_in(cross_sectional(body))


def test_cross_sectional_observations_are_deleted_as_a_whole() -> None:
    """The only measure is the name of an observation, and a code of the only missing dimension names that dimension."""
    for name in ("Obs", "OBS_VALUE"):
        made = cross_sectional(f'<Group A="1" TIME_PERIOD="2020"><Section><{name} B="2"/></Section></Group>')
        assert found_in(made) == ([_KEY], [])
    made = cross_sectional('<Group A="1" TIME_PERIOD="2020"><Section><x2/></Section></Group>'.replace("x2", "TWO"))
    assert found_in(made) == ([{**_KEY, "B": "TWO"}], [])


@pytest.mark.parametrize(
    "body",
    [
        "<x:note/>", "<x:Annotations/>", '<Section A="1"><x:note/></Section>',
        '<Section A="1"><x:only/><Obs B="2"/></Section>', '<Section A="1"><Obs B="2"><x:only/></Obs></Section>',
        '<Section A="1" x:B="2"><Obs TIME_PERIOD="2020"/></Section>', '<x:only/><Section A="1"><Obs B="2"/></Section>',
    ],
)  # fmt: skip
def test_extensions_in_cross_sectional_deletions(body: str) -> None:
    """Elements and XML attributes in other namespaces are not observations, and what they may restrict is kept."""
    rows, notes = found_in(cross_sectional(body))
    assert rows == []
    assert any("it deletes nothing" in note for note in notes)


@pytest.mark.parametrize(
    "body",
    [
        '<Series A="1" x:B="2"/>', '<Series A="1" x:B="2"><Obs TIME_PERIOD="2020"/></Series>',
        '<Series A="1"><x:key/><Obs TIME_PERIOD="2020"/></Series>', '<Obs A="1" x:B="2"/>',
        '<Group A="1" G="x" x:B="2"/>', '<Group A="1" G="x"><x:key/></Group>', '<Obs A="1" type="B1"/>',
        '<Obs A="1" ss:type="B1"/>', '<Series A="1"><Obs TIME_PERIOD="2020" type="B1"/></Series>',
    ],
)  # fmt: skip
def test_parts_in_other_namespaces_may_restrict_a_deletion(body: str) -> None:
    """XML attributes that are not read count like elements, and so does a type without explicit measures."""
    rows, notes = found_in(specific(body))
    assert rows == []
    assert any(_UNREAD in note for note in notes)


def test_types_and_languages_do_not_restrict_a_deletion() -> None:
    """XML attributes of the W3C name no data."""
    made = specific('<Series xsi:type="t" A="1" B="2"><Obs xsi:type="t" xml:lang="en" TIME_PERIOD="2020"/></Series>')
    assert found_in(made) == ([_KEY], [])
    assert found_in(specific('<Group type="G" A="1" G="x"/>')) == ([{"A": "1", "G": "x"}], [])
    made = specific('<Series A="1" x:B="2"/><Series A="1" B="2"/>')
    assert found_in(made)[0] == [{"A": "1", "B": "2"}]  # only the part of one series is not read


@pytest.mark.parametrize("time", ["<Time/>", "<Time></Time>", "<Time> </Time>"])
def test_an_empty_time_does_not_delete_all_periods(time: str) -> None:
    """An element Time without text is an error, because no period would mean any period."""
    key = '<SeriesKey><Value concept="A" value="1"/></SeriesKey>'
    with pytest.raises(DatasetError, match="line 1: TIME_PERIOD has no value in a data set with the action delete"):
        found_in(generic_of_20(f'<Series>{key}<Obs>{time}<ObsValue value="1"/></Obs></Series>'))


def test_one_pass_finds_the_footer_for_all_data_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many data sets that delete all data need one additional pass over the message, not one each."""
    passes: list[object] = []
    original = ml_message._Reading.__init__

    def counted(self: Any, *args: Any, **more: Any) -> None:
        passes.append(self)
        original(self, *args, **more)

    monkeypatch.setattr(ml_message._Reading, "__init__", counted)
    bare = '</m:DataSet><m:DataSet ss:structureRef="S" ss:action="Delete">'
    assert found_in(specific(bare * 9)) == ([{}] * 10, [])
    assert len(passes) == 2


@pytest.mark.parametrize(
    ("attributes", "before"),
    [
        (' ss:dataProviderID="X"', ""), (' ss:reportingBeginDate="2020"', ""), (' x:only="X"', ""),
        ("", "<DataProvider/>"), ("", "<x:only/>"),
    ],
)  # fmt: skip
def test_restrictions_that_are_not_applied(attributes: str, before: str) -> None:
    """In a data set with a restriction, only rows with all dimensions are deleted."""
    rows, notes = found_in(specific(before + _SERIES, attributes))
    assert rows == []
    assert any(_OPEN in note for note in notes)
    rows, notes = found_in(specific(before + _OBS, attributes))
    assert rows == [_KEY]
    assert not any("it deletes nothing" in note for note in notes)
    rows, _ = found_in(specific(before + _SERIES, attributes, "Merge"), action="M")
    assert len(rows) == 1


def test_the_dataflow_of_old_data_sets_is_no_restriction_if_rows_name_it() -> None:
    """The dataflow of a data set of 2.0 is the structure of its rows, unless the data set names another one."""
    flow = ' dataflowAgencyID="E" dataflowID="F"'
    assert found_in(cross_sectional("", flow), None) == ([{}], [])
    key_family = ' keyFamilyURI="urn:sdmx:org.sdmx.infomodel.keyfamily.KeyFamily=E:K:1.0"'
    rows, notes = found_in(cross_sectional("", flow + key_family), None)
    assert (rows, any("it deletes nothing" in note for note in notes)) == ([], True)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('<Group A="1"/>', []),
        ('<Group A="1" G="x"/>', []),
        ('<Group A="1" B="2"/><Series A="1" B="3"/>', [{"A": "1", "B": "3"}]),
        ('<Group A="1" G="x"/><Series A="1" B="3"/>', [{"A": "1", "B": "3"}, {"A": "1", "G": "x"}]),
        ('<Group A="1" TIME_PERIOD="1"/><Obs A="1" TIME_PERIOD="1"/>', [{"A": "1", "TIME_PERIOD": "1"}]),
    ],
)
def test_groups_without_rules_that_may_have_no_attribute(body: str, expected: list[dict[str, Any]]) -> None:
    """A group only deletes attributes: without rules, names that are not in the keys of rows."""
    rows, notes = found_in(specific(body), None)
    assert rows == expected
    is_group_deleted = any("G" in row for row in rows)
    assert is_group_deleted != any("names no attribute; it deletes nothing" in note for note in notes)


def test_standard_attributes_in_other_namespaces() -> None:
    """The action of an extension is not that of the data set, and an extension names no structure."""
    made = specific(_SERIES).replace('ss:action="Delete"', 'x:action="Delete"')
    assert found_in(made, action="I") == ([{"A": "1", "B": "2", "TIME_PERIOD": "~"}], [])
    for extension in (' x:action="Merge"', ' x:structureRef="T"'):
        rows, _ = found_in(specific(_OBS, extension))
        assert rows == [_KEY]


def test_notes_on_deletions_are_counted() -> None:
    """A note of each kind is on the first element, with the number of the others; the data set has its own note."""
    groups = "\n".join(f'<Group A="{number}"/>' for number in range(30))
    rows, notes = found_in(specific(groups))
    assert (rows, len(notes)) == ([], 2)
    assert notes[0].startswith("the group in line 3 of")
    assert notes[0].endswith("(the same applies to 29 more)")
    assert _NOTHING in notes[1]
    assert len(found_in(specific(groups), RULES)[1]) == 2
