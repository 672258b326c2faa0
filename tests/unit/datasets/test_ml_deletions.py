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
    assert any(
        "may be dimensions or attributes; without the structure's rules, they are not deleted" in note for note in notes
    )
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


@pytest.mark.parametrize("name", ["publicationYear", "publicationPeriod", "validFromDate", "validToDate"])
def test_descriptions_of_the_message_restrict_no_deletion(name: str) -> None:
    """Dates of publication select no data (2.1, ``SetAttributeGroup``); a data set without content deletes none."""
    described = f' ss:{name}="2020"'
    assert found_in(specific(_SERIES, described)) == ([{"A": "1", "B": "2"}], [])
    rows, notes = found_in(specific("", described))
    assert (rows, any(_NOTHING in note for note in notes)) == ([], True)


@pytest.mark.parametrize(("attributes", "before"), [(' ss:dataProviderID="X"', ""), ("", "<DataProvider/>")])
def test_the_provider_is_no_restriction_if_rows_name_its_agreement(attributes: str, before: str) -> None:
    """Rows of a provision agreement are those of its data provider."""
    made = specific(before + _SERIES, attributes)
    assert made.count("datastructure.DataStructure=") == 1
    made = made.replace("datastructure.DataStructure=", "registry.ProvisionAgreement=")
    assert found_in(made, None) == ([{"A": "1", "B": "2"}], [])


def test_a_series_that_is_not_deleted_leaves_later_observations_alone() -> None:
    """A part of a series that is not read restricts nothing after the series."""
    rows, _ = found_in(specific(f'<Series A="1" B="2"><x:y/></Series>{_OBS}'))
    assert rows == [_KEY]


@pytest.mark.parametrize(
    "made",
    [
        specific(f"{_SERIES}<x:only/>"), specific(f"{_SERIES}<DataProvider/>"),
        specific('<Series A="1"><Obs TIME_PERIOD="2020"/><x:only/></Series>'),
        cross_sectional('<Section A="1"><Obs B="2"/><x:only/></Section>'),
        cross_sectional('<Group A="1"><Section B="2"><Obs value="1"/></Section><x:only/></Group>'),
        cross_sectional('<Section A="1"><Obs B="2"/></Section><x:only/>'),
    ],
)  # fmt: skip
def test_a_restriction_after_an_open_deletion_is_refused(made: str) -> None:
    """A part that is not read has the same effect in every place: it never comes too late."""
    with pytest.raises(DatasetError, match=r"line \d+: a part of the .* may restrict a deletion before it"):
        found_in(made)


def test_a_restriction_after_complete_or_other_deletions_is_accepted() -> None:
    """Rows with all dimensions cannot be restricted, nor can those of other series and sections."""
    assert found_in(specific(f"{_OBS}<x:only/>"))[0] == [_KEY]
    assert found_in(specific('<Series A="1" B="2"><Obs TIME_PERIOD="2020"/><x:only/></Series>'))[0] == [_KEY]
    rows, _ = found_in(specific('<Series A="1"/><Series A="2"><x:only/></Series>'))
    assert rows == [{"A": "1"}]
    rows, _ = found_in(cross_sectional('<Section A="1"><Obs B="2"/></Section><Section A="2"><x:only/></Section>'))
    assert rows == [{"A": "1", "B": "2"}]


@pytest.mark.parametrize("action", _OTHERS)
def test_extensions_in_cross_sectional_data_are_no_observations(action: str) -> None:
    """An element in another namespace is skipped with a note, as in all other messages."""
    section = '<Section A="1" B="2" TIME_PERIOD="2020"><x:note/><Obs value="1"/></Section>'
    rows, notes = found_in(cross_sectional(section, action=action), action=action[0])
    assert rows == [{**_KEY, "OBS_VALUE": "1"}]
    assert any("'urn:extension' are not part of SDMX-ML and were not read" in note for note in notes)


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
        ('<Group A="2"/><Obs A="1" TIME_PERIOD="1"/>', [{"A": "1", "TIME_PERIOD": "1"}]),
    ],
)
def test_groups_without_rules_that_may_have_no_attribute(body: str, expected: list[dict[str, Any]]) -> None:
    """A group only deletes attributes: without rules, names that are not in the keys of rows."""
    rows, notes = found_in(specific(body), None)
    assert rows == expected
    is_group_deleted = any("G" in row for row in rows)
    text = "without the structure's rules it is unknown whether it names an attribute; it deletes nothing"
    assert is_group_deleted != any(text in note for note in notes)


def test_standard_attributes_in_other_namespaces() -> None:
    """The action of an extension is not that of the data set, and an extension names no structure."""
    made = specific(_SERIES).replace('ss:action="Delete"', 'x:action="Delete"')
    note = (
        "XML attributes of the namespace 'urn:extension' are not part of SDMX-ML and were not read; the first is "
        "'action' in line 3"
    )
    assert found_in(made, action="I") == ([{"A": "1", "B": "2", "TIME_PERIOD": "~"}], [note])
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
