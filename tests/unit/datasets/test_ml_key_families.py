"""Data of SDMX-ML 1.0 and 2.0 with a key family whose time dimension and primary measure have names of their own."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import polars as pl
import pytest

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages import data_message_rows
from kafka_replica.data.polars import split, validate
from kafka_replica.data.validation import Rules
from support.datasets.deletions import found_in
from support.rules.corpus_structures import snapshot_of
from support.rules.structures_by_hand import rules_of

_SCHEMAS: Final = "http://www.SDMX.org/resources/SDMXML/schemas"
_CONCEPTS: Final = ("FREQ", "TYPE", "PERIOD", "AMOUNT", "STOCKS", "FLOWS", "OBS_STATUS", "OBS_CONF")
_CONCEPTS_OF_21: Final = ("TIME_PERIOD", "OBS_VALUE")
_TIME: Final = '<s:TimeDimension conceptRef="PERIOD"/>'
_VALUE: Final = '<s:PrimaryMeasure conceptRef="AMOUNT"><s:TextFormat textType="Double"/></s:PrimaryMeasure>'
_MEASURES: Final = (
    '<s:CrossSectionalMeasure conceptRef="STOCKS" measureDimension="TYPE" code="P"/>'
    '<s:CrossSectionalMeasure conceptRef="FLOWS" measureDimension="TYPE" code="Q"/>'
)
_ATTRIBUTE: Final = (
    '<s:Attribute conceptRef="OBS_STATUS" attachmentLevel="Observation" assignmentStatus="Conditional"/>'
)
_ROW: Final = {"FREQ": "A", "TYPE": "P", "TIME_PERIOD": "2000", "OBS_VALUE": "3.14"}


@cache
def _rules(components: str = _TIME + _VALUE + _MEASURES + _ATTRIBUTE) -> Rules:
    """Return the rules of a key family of 2.0 with the dimensions FREQ and TYPE, and these components."""
    concepts = "".join(
        f'<s:Concept id="{id_}" agencyID="T"><s:Name>n</s:Name></s:Concept>' for id_ in (*_CONCEPTS, *_CONCEPTS_OF_21)
    )
    codes = "".join(f'<s:Code value="{id_}"><s:Description>n</s:Description></s:Code>' for id_ in "APQ")
    dimensions = "".join(
        f'<s:Dimension conceptRef="{id_}" codelist="CL" codelistAgency="T"{mark}/>'
        for id_, mark in (("FREQ", ' isFrequencyDimension="true"'), ("TYPE", ' isMeasureDimension="true"'))
    )
    text = (
        f'<Structure xmlns="{_SCHEMAS}/v2_0/message" xmlns:s="{_SCHEMAS}/v2_0/structure"><Header><ID>S</ID>'
        '<Test>true</Test><Prepared>2026-01-01</Prepared><Sender id="T"/></Header><CodeLists>'
        f'<s:CodeList id="CL" agencyID="T" version="1.0"><s:Name>n</s:Name>{codes}</s:CodeList></CodeLists>'
        f"<Concepts>{concepts}</Concepts><KeyFamilies>"
        f'<s:KeyFamily id="D" agencyID="T" version="1.0"><s:Name>n</s:Name><s:Components>{dimensions}{components}'
        "</s:Components></s:KeyFamily></KeyFamilies></Structure>"
    )
    return rules_of(snapshot_of(text.encode()))


def _message(kind: str, body: str, version: str = "2_0", attributes: str = "", data: str = "k:") -> str:
    return (
        f'<{kind}Data xmlns:m="{_SCHEMAS}/v{version}/message" xmlns:g="{_SCHEMAS}/v{version}/generic" '
        'xmlns:k="urn:sdmx:org.sdmx.infomodel.keyfamily.KeyFamily=T:D:compact">'
        f"<{data}DataSet{attributes}>{body}</{data}DataSet></{kind}Data>"
    ).replace(f"{kind}Data", f"m:{kind}Data")


def _read(text: str, rules: Rules | None = None, action: str = "I") -> list[dict[str, Any]]:
    rows, notes = found_in(text, rules or _rules(), action=action)
    assert notes == []
    return rows


def _bad(rows: list[dict[str, Any]]) -> int:
    return split(validate(pl.DataFrame(rows), _rules()))[1].height


_SERIES: Final = (
    '<k:Series FREQ="A" TYPE="P"><k:Obs {0}="2000" {1}="3.14" {2}/>'
    '<k:Obs {0}="2001" {1}=" 4 " {2}/><k:Obs {1}="5" {0}="2002"/></k:Series>'
)


@pytest.mark.parametrize("version", ["1_0", "2_0"])
@pytest.mark.parametrize(
    ("time", "value"), [("PERIOD", "AMOUNT"), ("TIME_PERIOD", "OBS_VALUE"), ("PERIOD", "OBS_VALUE")]
)
@pytest.mark.parametrize("status", ["", 'OBS_STATUS=""', 'OBS_STATUS="x"'])
def test_compact_data_by_the_names_of_concepts(time: str, value: str, status: str, version: str) -> None:
    """The concepts of the time dimension and the primary measure, and their ids since 2.1, name the same columns."""
    rows = _read(_message("Compact", _SERIES.format(time, value, status), version))
    more = {"OBS_STATUS": "x"} if "x" in status else {}
    later = [_ROW | {"TIME_PERIOD": "2001", "OBS_VALUE": "4"} | more, _ROW | {"TIME_PERIOD": "2002", "OBS_VALUE": "5"}]
    assert rows == [_ROW | more, *later]
    assert _bad(rows[:1]) == 0


def test_flat_data_and_groups_by_the_names_of_concepts() -> None:
    """Observations without a series, and keys of groups, name the time dimension by its concept, too."""
    flat = '<k:Obs FREQ="A" TYPE="P" PERIOD="2000" AMOUNT="3.14"/><k:Obs FREQ="A" TYPE="P" PERIOD="2001" AMOUNT="1"/>'
    group = '<k:Group FREQ="A" PERIOD="2000" OBS_STATUS="x"/>'
    rows = [_ROW, _ROW | {"TIME_PERIOD": "2001", "OBS_VALUE": "1"}]
    assert _read(_message("Compact", flat)) == rows
    assert _read(_message("Compact", group + flat)) == [rows[0] | {"OBS_STATUS": "x"}, rows[1]]


def test_generic_data_by_the_names_of_concepts() -> None:
    """A group's key in generic data names the time dimension by its concept; observations do not name it."""
    values = '<g:Value concept="FREQ" value="A"/><g:Value concept="TYPE" value="P"/>'
    series = f"<g:SeriesKey>{values}</g:SeriesKey>"
    obs = '<g:Obs><g:Time>2000</g:Time><g:ObsValue value="3.14"/></g:Obs>'
    group = (
        f'<g:Group><g:GroupKey>{values}<g:Value concept="PERIOD" value="2000"/></g:GroupKey>'
        '<g:Attributes><g:Value concept="OBS_STATUS" value="x"/></g:Attributes></g:Group>'
    )
    text = _message("Generic", f"{group}<g:Series>{series}{obs}</g:Series>", data="m:")
    assert _read(text) == [_ROW | {"OBS_STATUS": "x"}]


def test_two_names_of_a_component_in_one_element() -> None:
    """Different values under both names are an error that names the line; equal values are one value."""
    series = '<k:Series FREQ="A" TYPE="P">\n<k:Obs PERIOD="2000" TIME_PERIOD="{}" AMOUNT="3.14"/></k:Series>'
    assert _read(_message("Compact", series.format("2000"))) == [_ROW]
    with pytest.raises(DatasetError, match="line 2: TIME_PERIOD has two values in one element: '2000' and '2001'"):
        _read(_message("Compact", series.format("2001")))


def test_names_of_components_are_no_names_of_concepts() -> None:
    """A concept that is the id of another component is that component, and newer messages have only ids."""
    components = _TIME + '<s:PrimaryMeasure conceptRef="OBS_VALUE"/>' + _ATTRIBUTE.replace("OBS_STATUS", "PERIOD")
    series = '<k:Series FREQ="A" TYPE="P"><k:Obs PERIOD="x" TIME_PERIOD="2000" OBS_VALUE="3.14"/></k:Series>'
    assert _read(_message("Compact", series), _rules(components)) == [_ROW | {"PERIOD": "x"}]
    both = '<s:TimeDimension conceptRef="PERIOD"/><s:PrimaryMeasure conceptRef="PERIOD"/>'
    series = '<k:Series FREQ="A" TYPE="P"><k:Obs PERIOD="2000"/></k:Series>'
    assert _read(_message("Compact", series), _rules(both)) == [{"FREQ": "A", "TYPE": "P", "PERIOD": "2000"}]
    newer = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"
    text = _message("StructureSpecific", series).replace(f"{_SCHEMAS}/v2_0/message", newer)
    assert _read(text) == [{"FREQ": "A", "TYPE": "P", "PERIOD": "2000"}]


def test_names_of_concepts_without_rules() -> None:
    """Without rules, it is unknown which concept is the time dimension, so columns have the names in the message."""
    text = _message("Compact", '<k:Series FREQ="A"><k:Obs TIME="2000" OBS_VALUE="1"/></k:Series>')
    assert found_in(text, None, action="I") == ([{"FREQ": "A", "TIME": "2000", "OBS_VALUE": "1"}], [])


_SECTION: Final = '<k:Group PERIOD="2000" FREQ="A"><k:Section>{}</k:Section></k:Group>'


def test_cross_sectional_measures_are_codes_of_the_measure_dimension() -> None:
    """With rules, the row has the code of the measure dimension, and the value is that of the primary measure."""
    body = '<k:STOCKS value="3.14"/><k:FLOWS value="1.00" OBS_STATUS="x"/><k:STOCKS TYPE="P" OBS_STATUS="y"/>'
    rows = _read(_message("CrossSectional", _SECTION.format(body)))
    assert rows == [
        _ROW,
        _ROW | {"TYPE": "Q", "OBS_VALUE": "1.00", "OBS_STATUS": "x"},
        {"FREQ": "A", "TYPE": "P", "TIME_PERIOD": "2000", "OBS_STATUS": "y"},
    ]
    assert _bad(rows[:2]) == 0


def test_a_cross_sectional_measure_of_another_code_is_refused() -> None:
    """A code of the measure dimension that contradicts the name of the element would be lost."""
    for text in (
        _SECTION.format('\n<k:STOCKS TYPE="Q" value="1"/>'),
        _SECTION.format('\n<k:STOCKS value="1"/>').replace("FREQ", 'TYPE="Q" FREQ'),
    ):
        with pytest.raises(DatasetError, match="line 2: STOCKS is the measure of TYPE=P, but TYPE is 'Q' there"):
            _read(_message("CrossSectional", text))


@pytest.mark.parametrize("version", ["1_0", "2_0"])
@pytest.mark.parametrize("name", ["AMOUNT", "OBS_VALUE", "Obs"])
def test_an_observation_named_by_the_concept_of_the_primary_measure(name: str, version: str) -> None:
    """The name of the element is that of its measure, and not a code or a column of its own."""
    rules = _rules(_TIME + _VALUE + _ATTRIBUTE)
    text = _message("CrossSectional", _SECTION.format(f'<k:{name} TYPE="P" value=" 3.14 "/>'), version)
    assert _read(text, rules) == [_ROW]
    assert split(validate(pl.DataFrame(_read(text, rules)), rules))[1].height == 0


@pytest.mark.parametrize("element", ["STOCKS", "Obs TYPE='P'"])
def test_two_values_of_the_primary_measure_in_one_observation(element: str) -> None:
    """The value of the concept, or that of the observation itself, would be lost."""
    text = _message("CrossSectional", _SECTION.format(f'\n<k:{element} AMOUNT="9" value="3"/>'))
    with pytest.raises(DatasetError, match=r"line 2: .* has two values of OBS_VALUE: '9' and '3'"):
        _read(text)
    assert _read(text.replace('"9"', '"3"')) == [_ROW | {"OBS_VALUE": "3"}]


@pytest.mark.parametrize(
    "values",
    ["PERIOD='2000' TIME_PERIOD=' 2000'", "TIME_PERIOD='2000 ' PERIOD='2000'", "PERIOD=' ' TIME_PERIOD='2000'",
     "PERIOD='2000' TIME_PERIOD=' '"],
)  # fmt: skip
def test_two_equal_values_with_different_whitespace(values: str) -> None:
    """Whitespace is not part of a time, so that these are one value under two names."""
    series = f'<k:Series FREQ="A" TYPE="P"><k:Obs {values} AMOUNT="3.14"/></k:Series>'
    assert _read(_message("Compact", series)) == [_ROW]
    with pytest.raises(DatasetError, match=r"TIME_PERIOD has two values in one element: '2000' and '2001'"):
        _read(_message("Compact", '<k:Series PERIOD=" 2000" TIME_PERIOD=" 2001"/>'))


def _lacking(measures: tuple[str, ...], rows: list[dict[str, Any]]) -> list[str]:
    """Return the codes of the measure dimension in rows that lack a mandatory attribute of these measures."""
    attached = "".join(f"<s:AttachmentMeasure>{one}</s:AttachmentMeasure>" for one in measures)
    attribute = _ATTRIBUTE.replace("OBS_STATUS", "OBS_CONF").replace("Conditional", "Mandatory")
    rules = _rules(_TIME + _VALUE + _MEASURES + attribute.replace("/>", f">{attached}</s:Attribute>"))
    return list(split(validate(pl.DataFrame(rows), rules))[1]["TYPE"])


@pytest.mark.thorough
def test_a_mandatory_attribute_of_a_cross_sectional_measure() -> None:
    """A row with the code of the measure has its value as the primary measure, and needs its attributes."""
    rows = _read(_message("CrossSectional", _SECTION.format('<k:STOCKS value="1"/><k:FLOWS value="2"/>')))
    rows = [row | {"OBS_CONF": None} for row in rows]
    assert [row["TYPE"] for row in rows] == ["P", "Q"]
    assert _lacking(("STOCKS",), rows) == ["P"]
    assert _lacking(("STOCKS", "FLOWS"), rows) == ["P", "Q"]
    assert _lacking(("AMOUNT",), rows) == ["P", "Q"]
    assert _lacking((), rows) == ["P", "Q"]
    without_value = [row | {"OBS_VALUE": None} for row in rows]
    assert _lacking(("STOCKS",), without_value) == ["P"]
    assert _lacking(("AMOUNT",), without_value) == ["P", "Q"]
    assert _lacking(("STOCKS",), [rows[0] | {"TYPE": "A"}]) == []
    without_column = [{name: value for name, value in row.items() if name != "OBS_CONF"} for row in rows]
    assert _lacking(("FLOWS",), without_column) == ["Q"]


def test_deletions_by_the_names_of_concepts() -> None:
    """Concepts name what is deleted, and a cross-sectional measure only deletes its own code."""
    delete = ' action="Delete"'
    series = '<k:Series FREQ="A" TYPE="P"><k:Obs PERIOD="2000" AMOUNT="3.14"/></k:Series>'
    assert _read(_message("Compact", series, attributes=delete), action="D") == [_ROW]
    text = _message("CrossSectional", _SECTION.format('<k:STOCKS value="3.14"/>'), attributes=delete)
    assert _read(text, action="D") == [_ROW]
    text = _message("CrossSectional", _SECTION.format("<k:STOCKS/>"), attributes=delete)
    with pytest.raises(DatasetError, match=r"STOCKS is one of several measures, and has no value .* it is unknown"):
        _read(text, action="D")
    text = _message("CrossSectional", _SECTION.format('<k:AMOUNT TYPE="P"/>'), attributes=delete)
    with pytest.raises(DatasetError, match=r"line 1: AMOUNT has no value, .* so it is unknown what is deleted"):
        _read(text, action="D")
    text = _message("CrossSectional", _SECTION.format('<k:Q value=" "/>'), attributes=delete)
    with pytest.raises(DatasetError, match=r"value has no value in a data set .* so it is unknown what is deleted"):
        _read(text, _rules(_TIME + _VALUE), action="D")
    for empty in ('<k:Obs PERIOD=""/>', '<k:Obs PERIOD="" TIME_PERIOD="2000"/>'):
        text = _message("Compact", f'<k:Series FREQ="A" TYPE="P">{empty}</k:Series>', attributes=delete)
        with pytest.raises(DatasetError, match="PERIOD has no value in a data set with the action delete"):
            _read(text, action="D")


def test_an_empty_concept_on_a_data_set_restricts_its_deletion() -> None:
    """A dimension without a value on the element DataSet does not widen a deletion."""
    body = '<k:Section TYPE="P" FREQ="A"><k:Obs OBS_VALUE="1"/></k:Section>'
    for given in ("PERIOD=''", "PERIOD='' TIME_PERIOD=''"):
        text = _message("CrossSectional", body, attributes=f' action="Delete" {given}')
        rows, notes = found_in(text, _rules())
        assert rows == []
        assert any("it deletes nothing" in note for note in notes)


@pytest.mark.parametrize("has_rules", [True, False])
def test_the_time_of_a_group_in_10_is_the_time_dimension(has_rules: bool) -> None:
    """The schema of 1.0 defines the XML attribute ``time`` of groups; other elements and 2.0 have no such attribute."""
    rules = _rules() if has_rules else None
    body = '<k:Group time="2000" FREQ="A"><k:Section><k:Obs TYPE="P" value="3.14"/></k:Section></k:Group>'
    assert found_in(_message("CrossSectional", body, "1_0"), rules, action="I")[0] == [_ROW]
    found = found_in(_message("CrossSectional", body), rules, action="I")[0]
    assert [row["time"] for row in found] == ["2000"]
    body = body.replace("TYPE", 'time="x" TYPE')
    assert found_in(_message("CrossSectional", body, "1_0"), rules, action="I")[0] == [_ROW | {"time": "x"}]


def test_two_times_of_a_group_in_10() -> None:
    """A time that contradicts the time dimension is an error."""
    body = '<k:Group time="2000" PERIOD="2001" FREQ="A"><k:Section/></k:Group>'
    with pytest.raises(DatasetError, match="line 1: TIME_PERIOD has two values in one element: '2000' and '2001'"):
        _read(_message("CrossSectional", body, "1_0"))


def test_a_time_without_value_in_a_deletion_of_10() -> None:
    """A group's time without a value is an error in a deletion, where it could mean all times."""
    body = '<k:Group time="" FREQ="A"><k:Section><k:Obs TYPE="P"/></k:Section></k:Group>'
    with pytest.raises(DatasetError, match="time has no value in a data set with the action delete"):
        _read(_message("CrossSectional", body, "1_0", ' action="Delete"'), action="D")
    text = _message("CrossSectional", body.replace('""', '"2000"'), "1_0", ' action="Delete"')
    assert _read(text, action="D") == [{"FREQ": "A", "TYPE": "P", "TIME_PERIOD": "2000"}]


@pytest.mark.parametrize("data", ["", "m:", "k:"])
def test_groups_show_the_namespace_of_a_cross_sectional_data_set(data: str) -> None:
    """A data set without a namespace, or in that of the message, has the namespace of its first group."""
    body = (
        '<k:Group A="1"><k:Section S="x"><k:obs1 value="1.1"/></k:Section></k:Group>'
        '<x:Group xmlns:x="urn:other" A="2"><x:Section><x:obs1 value="2"/></x:Section></x:Group>'
    )
    text = _message("CrossSectional", body, data=data).replace(
        "urn:sdmx:org.sdmx.infomodel.keyfamily.", "http://k.org/"
    )
    rows, notes = found_in(text, None, action="I")
    assert rows == [{"A": "1", "S": "x", "obs1": "1.1"}]
    (note,) = notes
    assert "namespace 'urn:other' are not part of SDMX-ML and were not read; the first is 'Group'" in note


def test_a_namespace_without_the_id_of_a_key_family_names_no_structure() -> None:
    """The last part of a namespace is a format, not the id of a key family."""
    series = '<k:Series FREQ="A" TYPE="P"><k:Obs PERIOD="2000" AMOUNT="3.14"/></k:Series>'
    for namespace, has_id in (
        ("T:compact", False),
        ("T:cross", False),
        ("T:D:compact", True),
        ("T:compact:cross", True),
    ):
        text = _message("Compact", series).replace("T:D:compact", namespace)
        assert ("STRUCTURE_ID" in _located(text)) == has_id
    assert _read(_message("Compact", series).replace("T:D:compact", "T:compact")) == [_ROW]
    assert _located(_message("Compact", series).replace("T:D:compact", "T:compact(1.0)"))["STRUCTURE_ID"] == (
        "T:compact(1.0)"
    )


def _located(text: str) -> dict[str, Any]:
    (one,) = data_message_rows("m", content=text.encode())
    return one.row


_PARTS: Final = (
    '<m:CodeLists><m:CodeList id="C"><m:Code value="1"/><m:Group/></m:CodeList></m:CodeLists>'
    '\n<m:Description><m:Unit value="t"/></m:Description>'
)


def _with_parts(parts: str, attributes: str = "", after: str = "") -> str:
    series = '<k:Series FREQ="A" TYPE="P"><k:Obs PERIOD="2000" AMOUNT="3.14"/></k:Series>'
    text = _message("Compact", series, attributes=attributes)
    return text.replace("<k:DataSet", f"{parts}<k:DataSet").replace("</k:DataSet>", f"</k:DataSet>{after}")


@pytest.mark.thorough
def test_parts_before_the_data_that_are_no_data_are_skipped_with_a_note() -> None:
    """A national office writes code lists and a description between the header and the data."""
    rows, notes = found_in(_with_parts(_PARTS), _rules(), action="I")
    assert rows == [_ROW]
    assert notes == [
        f"the element {name!r} in line {line} is not part of a data message and was not read"
        for name, line in (("CodeLists", 1), ("Description", 2))
    ]
    flows = "<m:Dataflows><m:Dataflow><m:KeyFamilyRef/></m:Dataflow></m:Dataflows>"
    assert found_in(_with_parts(flows), _rules(), action="I")[0] == [_ROW]
    rows, notes = found_in(_with_parts("".join(f"<m:Note{at}/>" for at in range(1_000))), _rules(), action="I")
    assert (len(rows), len(notes)) == (1, 20)


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        ("<m:Note><k:Series/></m:Note>", "Series"), ("<m:CodeLists><x><k:obs/></x></m:CodeLists>", "obs"),
        ("<m:Dataset/>", "Dataset"), ("<Data/>", "Data"), ("<m:Series/>", "Series"), ("<m:Group/>", "Group"),
        ("<m:Note><k:Group/></m:Note>", "Group"), ("<k:Part><k:STOCKS value='1'/></k:Part>", "Part"),
        ("<m:CodeLists><k:SiblingGroup OBS_STATUS='x'/></m:CodeLists>", "SiblingGroup"),
        ("<m:CodeLists><m:DataSet/></m:CodeLists>", "DataSet"), ("<m:Attributes/>", "Attributes"),
        ("<m:GroupKey/>", "GroupKey"), ("<m:KeyFamilyRef>D</m:KeyFamilyRef>", "KeyFamilyRef"),
        ("<m:Note><m:Time>2000</m:Time></m:Note>", "Time"), ("<m:Comp id='A'/>", "Comp"), ("<m:Values/>", "Values"),
        ("<m:Observations><m:o v='1'/></m:Observations>", "Observations"), ("<SiblingGroup FREQ='A'/>", "SiblingGroup"),
    ],
)  # fmt: skip
def test_parts_before_the_data_that_may_be_data_are_refused(parts: str, name: str) -> None:
    """A part that contains an element of data, or is called almost like one, may be data."""
    with pytest.raises(DatasetError, match=f"line 2: the element '{name}' is not part of SDMX-ML data here"):
        found_in(_with_parts(f"\n{parts}"), _rules(), action="I")


def test_parts_are_refused_in_front_of_deletions_and_after_data() -> None:
    """A deletion could be restricted by such a part, and no service is known that writes one after the data."""
    with pytest.raises(DatasetError, match="line 1: the element 'CodeLists' is not part of SDMX-ML data here"):
        found_in(_with_parts(_PARTS, ' action="Delete"'), _rules())
    with pytest.raises(DatasetError, match="line 1: the element 'CodeLists' is not part of SDMX-ML data here"):
        found_in(_with_parts("", after=_PARTS), _rules(), action="I")
