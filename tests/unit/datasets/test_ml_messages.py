"""SDMX-ML data messages: groups, explicit measures, values in elements, structures, positions, and hostile files."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages import data_message_rows, located_blocks, read_data_message
from kafka_replica.data.files.messages.blocks import columns_of, rows_of
from kafka_replica.data.files.messages.ml import MlMessage
from support.datasets.ml_messages import BASE, DSD, XSI, message
from support.rules.structures_by_hand import dimension, measure, rules_of, structure, text, time, version_of

pytestmark = pytest.mark.thorough

_OLD = "http://www.SDMX.org/resources/SDMXML/schemas/v2_0"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the path of the message."""
    return tmp_path / "data.xml"


def rows_in(file: Path, text: str | bytes) -> list[dict[str, Any]]:
    """Return the rows without their structure and action, and without components that have no value."""
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    standing = {"STRUCTURE", "STRUCTURE_ID", "ACTION"}
    return [{n: v for n, v in row.items() if v is not None and n not in standing} for row in read_data_message(file)]


def _generic_group(key: dict[str, str], attributes: dict[str, str]) -> str:
    own = f"<g:GroupKey>{_generic(key)}</g:GroupKey><g:Attributes>{_generic(attributes)}</g:Attributes>"
    return f'<g:Group type="G">{own}</g:Group>'


def _generic(values: dict[str, str]) -> str:
    return "".join(f'<g:Value id="{name}" value="{value}"/>' for name, value in values.items())


def test_groups_of_flat_messages(file: Path) -> None:
    """Attributes of groups are in the rows of flat messages, generic and specific."""
    specific = '<Group CUR="CHF" TITLE="franc"/><Obs CUR="CHF" TIME_PERIOD="2010" OBS_VALUE="1"/>'
    generic = _generic_group({"CUR": "CHF"}, {"TITLE": "franc"}) + (
        f'<g:Obs><g:ObsKey>{_generic({"CUR": "CHF", "TIME_PERIOD": "2010"})}</g:ObsKey><g:ObsValue value="1"/></g:Obs>'
    )
    expected = [{"CUR": "CHF", "TIME_PERIOD": "2010", "OBS_VALUE": "1", "TITLE": "franc"}]
    assert rows_in(file, message(specific, "AllDimensions")) == expected
    assert rows_in(file, message(generic, "AllDimensions", kind="Generic")) == expected


def test_two_kinds_of_groups(file: Path) -> None:
    """Groups with different dimensions both apply to a series."""
    groups = _generic_group({"TYPE": "SP"}, {"METHOD": "average"}) + _generic_group(
        {"CUR": "CHF", "TYPE": "SP"}, {"TITLE": "franc"}
    )
    series = (
        f"<g:Series><g:SeriesKey>{_generic({'CUR': 'CHF', 'TYPE': 'SP'})}</g:SeriesKey>"
        '<g:Obs><g:ObsDimension value="2010"/><g:ObsValue value="1"/></g:Obs></g:Series>'
    )
    (row,) = rows_in(file, message(groups + series, kind="Generic"))
    assert (row["METHOD"], row["TITLE"]) == ("average", "franc")


def test_a_key_of_groups_at_the_observation(file: Path) -> None:
    """A group whose key holds the dimension at the observation applies to some observations of a series.

    The header names that dimension; where the observation names another (as official samples do), the header counts.
    """
    groups = [({"CUR": one}, {"TITLE": f"title of {one}"}) for one in ("CHF", "USD")]
    observations = '<g:Obs><g:ObsDimension id="CURRENY" value="{0}"/><g:ObsValue value="1"/></g:Obs>'
    series = (
        f"<g:Series><g:SeriesKey>{_generic({'TIME_PERIOD': '2010'})}</g:SeriesKey>"
        f"{observations.format('CHF')}{observations.format('USD')}</g:Series>"
    )
    generic = "".join(_generic_group(*group) for group in groups) + series
    specific = (
        '<Group CUR="CHF" TITLE="title of CHF"/><Group CUR="USD" TITLE="title of USD"/>'
        '<Series TIME_PERIOD="2010"><Obs CUR="CHF" OBS_VALUE="1"/><Obs CUR="USD" OBS_VALUE="1"/></Series>'
    )
    expected = [
        {"TIME_PERIOD": "2010", "CUR": one, "OBS_VALUE": "1", "TITLE": f"title of {one}"} for one in ("CHF", "USD")
    ]
    assert rows_in(file, message(generic, "CUR", kind="Generic")) == expected
    assert rows_in(file, message(specific, "CUR")) == expected


def test_observations_are_not_multiplied(file: Path) -> None:
    """Several groups whose keys share dimensions with the series give each observation one row."""
    currencies = ("CHF", "GBP", "USD")
    groups = [
        _generic_group({"CUR": currency, "TYPE": "SP"}, {"TITLE": f"title of {currency}"}) for currency in currencies
    ]
    observations = [
        f'<g:Obs><g:ObsDimension id="CURRENY" value="{currency}"/><g:ObsValue value="1"/></g:Obs>'
        for currency in currencies
    ]
    key = f"<g:SeriesKey>{_generic({'TYPE': 'SP', 'TIME_PERIOD': '2010'})}</g:SeriesKey>"
    text = message("".join([*groups, "<g:Series>", key, *observations, "</g:Series>"]), "CUR", kind="Generic")
    assert [(row["CUR"], row["TITLE"]) for row in rows_in(file, text)] == [
        (currency, f"title of {currency}") for currency in currencies
    ]


def test_observations_beside_series(file: Path) -> None:
    """A data set may have observations without a series before and after series; all are rows, in their order."""
    one, two = '<Obs A="x" TIME_PERIOD="2010" OBS_VALUE="1"/>', '<Obs A="y" TIME_PERIOD="2011" OBS_VALUE="2"/>'
    series = '<Series A="z"><Obs TIME_PERIOD="2012" OBS_VALUE="3"/></Series>'
    found = rows_in(file, message(one + series + two))
    assert [(row["A"], row["TIME_PERIOD"], row["OBS_VALUE"]) for row in found] == [
        ("x", "2010", "1"), ("z", "2012", "3"), ("y", "2011", "2"),
    ]  # fmt: skip


def test_the_action_of_1_0(file: Path) -> None:
    """Update of 1.0 is Append of later versions."""
    file.write_text(
        f'<CompactData xmlns="{_OLD.replace("v2_0", "v1_0")}/message"><Header><DataSetAction>Update</DataSetAction>'
        '</Header><DataSet><Series A="x"><Obs TIME_PERIOD="2010" OBS_VALUE="1"/></Series></DataSet></CompactData>'
    )
    assert read_data_message(file)[0]["ACTION"] == "A"


def test_a_group_without_rows(file: Path) -> None:
    """A group to which no row belongs is a row, so that its attributes are not lost."""
    body = '<Group CUR="CHF" TITLE="franc"/><Series CUR="USD"><Obs TIME_PERIOD="2010" OBS_VALUE="1"/></Series>'
    assert rows_in(file, message(body))[1:] == [{"CUR": "CHF", "TITLE": "franc"}]


def test_attributes_of_partial_keys(file: Path) -> None:
    """``Atts`` of 3.x has the attributes of the data set, or of a part of the key; it may come last."""
    body = '<Series CUR="USD"><Obs TIME_PERIOD="2010" OBS_VALUE="1"/></Series><Atts SET="all"/><Atts CUR="USD" N="1"/>'
    assert rows_in(file, message(body)) == [
        {"CUR": "USD", "TIME_PERIOD": "2010", "OBS_VALUE": "1", "SET": "all", "N": "1"}
    ]


def test_an_explicit_measure_is_put_in_the_dimension(file: Path) -> None:
    """An observation that names its measure by its type has that measure in the dimension."""
    body = '<Series SEX="T"><Obs xsi:type="n:BIRTHS" OBS_VALUE="1"/><Obs type="DEATHS" OBS_VALUE="2"/></Series>'
    found = rows_in(file, message(body, "DEMO", more='explicitMeasures="true"'))
    assert found == [
        {"SEX": "T", "DEMO": "BIRTHS", "OBS_VALUE": "1"}, {"SEX": "T", "DEMO": "DEATHS", "OBS_VALUE": "2"},
    ]  # fmt: skip
    with pytest.raises(DatasetError, match="give the rules of the structure"):
        rows_in(file, message('<Obs xsi:type="n:X"/>', "AllDimensions", more='explicitMeasures="true"'))


def test_an_explicit_measure_may_have_the_qualified_type_alone(file: Path) -> None:
    """The attribute ``type`` of 2.1 names the measure where there is no ``xsi:type``."""
    series = (
        '<Series TIME_PERIOD="2010"><Obs ss:type="POP" OBS_VALUE="1"/><Obs xsi:type="n:AREA" OBS_VALUE="2"/></Series>'
    )
    rows = rows_in(file, message(series, "INDICATOR", more='explicitMeasures="true"'))
    assert [(row["INDICATOR"], row["OBS_VALUE"]) for row in rows] == [("POP", "1"), ("AREA", "2")]


@pytest.mark.parametrize(
    ("body", "kind", "expected_text"),
    [
        (f"<g:Obs><g:ObsKey>{_generic({'A': 'x'})}{_generic({'A': 'y'})}</g:ObsKey></g:Obs>", "Generic", "A has two"),
        ('<g:Obs><g:ObsValue value="1"/><g:ObsValue value="2"/></g:Obs>', "Generic", "OBS_VALUE has two"),
        ('<g:Obs><g:ObsDimension id="T" value="1"/><g:ObsDimension id="T" value="2"/></g:Obs>', "Generic", "T has two"),
        ('<Obs A="1"><Comp id="A"><Value>2</Value></Comp></Obs>', "StructureSpecific", "A has two"),
        (
            '<Obs><Comp id="A"><Value>1</Value></Comp><Comp id="A"><Value>2</Value></Comp></Obs>', "StructureSpecific",
            "A has two",
        ),
    ],
)  # fmt: skip
def test_a_second_value_of_a_component_is_refused(body: str, kind: str, expected_text: str, file: Path) -> None:
    """Two values in one element are an error, because one would be lost; the same value twice does no harm."""
    with pytest.raises(DatasetError, match=f"line 3: {expected_text} values in one element"):
        rows_in(file, message(body, "AllDimensions", kind=kind))
    same = body.replace('"y"', '"x"').replace('"2"', '"1"').replace(">2<", ">1<")
    assert len(rows_in(file, message(same, "AllDimensions", kind=kind))) == 1


def test_values_as_elements(file: Path) -> None:
    """Components with several values, languages or markup are lists, languages and texts; the language is English."""
    body = (
        '<Series CUR="USD"><Comp id="MANY"><Value>a</Value><Value>b</Value></Comp>'
        '<Comp id="ONE"><Value>c</Value></Comp>'
        '<Comp id="TEXT"><Value><c:Text>one &amp;</c:Text><c:Text xml:lang="fr">un</c:Text></Value></Comp>'
        '<Comp id="MARK"><Value><p class="x">a &lt; b</p></Value></Comp>'
        '<Obs TIME_PERIOD="2010"><Comp id="OBS_VALUE"><Value>1.0</Value><Value>2</Value></Comp></Obs></Series>'
    )
    assert rows_in(file, message(body)) == [{
        "CUR": "USD", "TIME_PERIOD": "2010", "OBS_VALUE": ["1.0", "2"], "MANY": ["a", "b"], "ONE": "c",
        "TEXT": [{"language": "en", "text": "one &"}, {"language": "fr", "text": "un"}],
        "MARK": '<p class="x">a &lt; b</p>',
    }]  # fmt: skip


def test_annotations_and_metadata_are_no_components(file: Path) -> None:
    """Annotations, reference metadata and empty values are left out; a note says so of metadata, once."""
    body = (
        '<Series CUR="USD" NOTE=""><c:Annotations><c:Annotation><Value>x</Value></c:Annotation></c:Annotations>'
        '<Obs TIME_PERIOD="2010" OBS_VALUE="1"/><Metadata><Obs A="1"/></Metadata></Series>\n<Metadata/>'
    )
    assert rows_in(file, message(body)) == [{"CUR": "USD", "TIME_PERIOD": "2010", "OBS_VALUE": "1"}]
    notes: list[str] = []
    assert len(list(located_blocks(file, note=notes.append))) == 1
    assert notes == ["reference metadata was not read; the first is in line 3"]


def old(body: str, kind: str = "CompactData") -> str:
    """Return a message of 2.0."""
    return (
        f'<{kind} xmlns="{_OLD}/message" xmlns:c="{_OLD}/compact" '
        f'xmlns:k="urn:sdmx:org.sdmx.infomodel.keyfamily.KeyFamily=T:D:compact">{body}</{kind}>'
    )


_SERIES = '<{0}Series CUR="USD"><{0}Obs TIME_PERIOD="2010" OBS_VALUE="1"/></{0}Series>'


@pytest.mark.parametrize(
    ("text", "structure"),
    [
        (message(_SERIES.format("")), ("datastructure", "T:D(1.0)")),
        (message(_SERIES.format("")).replace(f"<c:Structure>{DSD}</c:Structure>", ""), None),
        (
            message(_SERIES.format("")).replace(f"<c:Structure>{DSD}</c:Structure>", "").replace(
                'namespace="urn:n"', f'namespace="{DSD.replace("DataStructure", "Dataflow")}:ObsLevelDim:TIME_PERIOD"'
            ),
            ("dataflow", "T:D(1.0)"),
        ),
        (
            old(f"<k:DataSet>{_SERIES.format('k:')}</k:DataSet>"),
            ("datastructure", "T:D(*)"),
        ),
        (
            old(f'<DataSet dataflowAgencyID="T" dataflowID="F">{_SERIES.format("")}</DataSet>'),
            ("dataflow", "T:F(*)"),
        ),
        (
            old(
                f"<Header><KeyFamilyRef>D</KeyFamilyRef><KeyFamilyAgency>T</KeyFamilyAgency></Header>"
                f"<c:DataSet>{_SERIES.format('c:')}</c:DataSet>", "MessageGroup",
            ),
            ("datastructure", "T:D(*)"),
        ),
        (f"<Envelope><Body>{message(_SERIES.format(''))}</Body></Envelope>", ("datastructure", "T:D(1.0)")),
    ],
    ids=["header", "none", "namespace", "2.0 namespace", "2.0 data set", "2.0 group of messages", "envelope"],
)  # fmt: skip
def test_the_structure_is_found_wherever_it_is_named(text: str, structure: tuple[str, str] | None, file: Path) -> None:
    """The structure is named in the header, the data set or a namespace, or nowhere."""
    file.write_text(text)
    (row,) = read_data_message(file)
    found = (row["STRUCTURE"], row["STRUCTURE_ID"]) if "STRUCTURE" in row else None
    assert found == structure
    assert row["OBS_VALUE"] == "1"


_LATE = old(
    f"<Header><ID>t</ID></Header><k:DataSet>{_SERIES.format('k:')}<!-- --><k:SiblingGroup CUR=\"USD\" TITLE=\"franc\"/>"
    f"{_SERIES.format('k:').replace('USD', 'CHF')}</k:DataSet>"
)  # fmt: skip
_SCHEMAS = f'{XSI} xsi:schemaLocation="{_OLD}/message SDMXMessage.xsd {_OLD}/cross SDMXCrossSectionalData.xsd"'


@pytest.mark.parametrize(
    "text",
    [
        _LATE.replace("<CompactData", f"<CompactData {_SCHEMAS}"),
        _LATE.replace("<ID>t", "<ID>CrossSectionalData"),
        f"<!-- like <CrossSectionalData> --><?xml-stylesheet ?>{_LATE}",
        f"<Envelope><!-- like <CrossSectionalData> -->{_LATE}</Envelope>",
        _LATE.replace("<k:", "<é:").replace("</k:", "</é:").replace("xmlns:k", "xmlns:é"),
        _LATE.replace("<!-- -->", "<!-- the next <DataSet begins later -->"),
    ],
    ids=["location of schemas", "id", "comment before", "comment in an envelope", "prefix", "comment between"],
)
def test_groups_after_series_are_found_whatever_else_a_message_has(text: str, file: Path) -> None:
    """Neither names in other places, nor comments, nor letters of a prefix hide a group that comes after its series."""
    titles = [(row["CUR"], row.get("TITLE")) for row in rows_in(file, text)]
    assert titles == [("USD", "franc"), ("CHF", None)]


def test_observations_of_a_series_may_have_different_components(file: Path) -> None:
    """Observations of a series may have different components, empty ones, types and elements; none is nested."""
    body = '<Series CUR="USD"><Obs TIME_PERIOD="1" A="1"/>' + (
        '<Obs TIME_PERIOD="2"/><Obs TIME_PERIOD="3" A=""/><Obs TIME_PERIOD="4" xsi:type="n:x"/>'
        '<Obs TIME_PERIOD="5" A="1"><Comp id="B"><Value>1</Value></Comp></Obs>' * 30
    )
    found = rows_in(file, message(body + '</Series><Series CUR="CHF"><Obs TIME_PERIOD="1" C="1"/></Series>'))
    usd = {"CUR": "USD"}
    assert found[:5] == [
        usd | {"TIME_PERIOD": "1", "A": "1"}, usd | {"TIME_PERIOD": "2"}, usd | {"TIME_PERIOD": "3"},
        usd | {"TIME_PERIOD": "4"}, usd | {"TIME_PERIOD": "5", "A": "1", "B": "1"},
    ]  # fmt: skip
    assert found[-1] == {"CUR": "CHF", "TIME_PERIOD": "1", "C": "1"}
    assert len(found) == 1 + 4 * 30 + 1


def test_several_data_sets(file: Path) -> None:
    """Each data set has its own action, attributes and groups, and its own rows."""
    first = '<Series CUR="USD"><Obs TIME_PERIOD="1" OBS_VALUE="1"/></Series><Group CUR="USD" TITLE="first"/>'
    second = (
        '</m:DataSet><m:DataSet ss:structureRef="S" ss:action="Delete" SET="b"><Series CUR="USD"/>'
        '<Group CUR="USD" TITLE="second"/>'
    )
    rows_in(file, message(first + second))
    names = ("ACTION", "SET", "CUR", "TITLE", "TIME_PERIOD")
    assert [tuple(row[name] for name in names) for row in read_data_message(file)] == [
        ("I", None, "USD", "first", "1"), ("D", None, "USD", None, None),
        ("D", "b", None, None, None), ("D", None, "USD", "second", None),
    ]  # fmt: skip


_RULES = rules_of(version_of(structure(dimension("A", text()), dimension("B", text()), time(), measure())))
_ANNOTATIONS = "<c:Annotations/>"
_NOTHING = "has the action delete, but nothing that was read names what is deleted; it deletes nothing"
_NO_ATTRIBUTE = "of a data set with the action delete names no attribute; it deletes nothing"


def deleted(file: Path, body: str, attributes: str, kind: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the rows of a data set with the action delete, without their structure, and the notes."""
    action = "action" if kind == "Generic" else "ss:action"
    made = message(body, kind=kind).replace('structureRef="S">', f'structureRef="S" {action}="Delete"{attributes}>')
    file.write_text(made)
    notes: list[str] = []
    columns = columns_of(block for _, block in located_blocks(file, _RULES, note=notes.append))
    rows = [{name: value for name, value in row.items() if value is not None} for row in rows_of(columns)]
    assert all(row.pop("STRUCTURE_ID") == "T:D(1.0)" for row in rows)
    assert all((row.pop("STRUCTURE"), row.pop("ACTION")) == ("datastructure", "D") for row in rows)
    return rows, notes


@pytest.mark.parametrize("kind", ["StructureSpecific", "Generic"])
def test_a_deletion_of_a_whole_data_set(kind: str, file: Path) -> None:
    """A data set that deletes, and consists only of its element, is a row without values, which deletes all data."""
    assert deleted(file, "", "", kind) == ([{}], [])
    assert deleted(file, _ANNOTATIONS, "", kind) == ([{}], [])
    for action in ("Append", "Merge", "Replace", "Information"):
        file.write_text(file.read_text().replace('"Delete"', f'"{action}"'))
        assert f'action="{action}"' in file.read_text()
        assert read_data_message(file, _RULES) == []
        file.write_text(file.read_text().replace(f'"{action}"', '"Delete"'))


@pytest.mark.parametrize(
    ("body", "attributes", "expected", "note"),
    [
        ("", ' TITLE="x"', [{"TITLE": "x"}], None),
        ('<Comp id="TITLE"><Value>x</Value></Comp>', "", [{"TITLE": "x"}], None),
        ('<Atts TITLE="x"/>', "", [{"TITLE": "x"}], None),
        ('<Series A="1"/>', ' TITLE="x"', [{"A": "1"}, {"TITLE": "x"}], None),
        ('<Series A="1"/><Atts TITLE="x"/>', "", [{"A": "1"}, {"TITLE": "x"}], None),
        ('<Group A="1" G="x"/><Series A="1" B="2"/>', "", [{"A": "1", "B": "2"}, {"A": "1", "G": "x"}], None),
        ('<Series A="1" U="x"/>', "", [{"A": "1", "U": "x"}], None),
        ('<Series A="1" U="x"><Obs TIME_PERIOD="2020"/><Obs TIME_PERIOD="2021" S="y"/></Series>', "",
         [{"A": "1", "U": "x"}, {"A": "1", "TIME_PERIOD": "2020"}, {"A": "1", "TIME_PERIOD": "2021", "S": "y"}], None),
        ('<Obs A="1"/>', ' TITLE="x"', [{"A": "1"}, {"TITLE": "x"}], None),
        ("", ' TITLE=""', [], _NOTHING),
        ('<Comp id="TITLE"/>', "", [], _NOTHING),
        ("<Metadata/>", "", [], _NOTHING),
        ("<x:more/>", "", [], _NOTHING),
        ('<Group A="1"/>', "", [], _NO_ATTRIBUTE),
        ("<Group/>", "", [], _NO_ATTRIBUTE),
    ],
)  # fmt: skip
def test_deletions_delete_what_they_name(
    body: str, attributes: str, expected: list[dict[str, Any]], note: str | None, file: Path
) -> None:
    """Attributes are deleted on their own level; a data set of which some part is not read never deletes everything.

    Source: SDMX 2.1, Section 3A, Part IV, on the action delete.
    """
    rows, notes = deleted(file, body, attributes, "StructureSpecific")
    assert rows == expected
    assert note is None or any(note in one for one in notes)


@pytest.mark.parametrize(
    ("kind", "body", "name"),
    [
        ("StructureSpecific", '<Series A="" B=""/>', "A"),
        ("StructureSpecific", '<Series A="1" B="2" U=""/>', "U"),
        ("StructureSpecific", '<Series A="1"><Obs TIME_PERIOD="2020"/><Obs TIME_PERIOD=""/></Series>', "TIME_PERIOD"),
        ("StructureSpecific", '<Obs A="" TIME_PERIOD="2020"/>', "A"),
        ("StructureSpecific", '<Series A="1"><Comp id="U"/></Series>', "U"),
        ("StructureSpecific", '<Obs A="1"><Comp id="U"><Value></Value></Comp></Obs>', "U"),
        ("StructureSpecific", '<Group A="" G="x"/>', "A"),
        ("Generic", '<g:Series><g:SeriesKey><g:Value id="A" value=""/></g:SeriesKey></g:Series>', "A"),
        ("Generic", "<g:Series><g:Obs><g:ObsDimension/></g:Obs></g:Series>", "ObsDimension"),
    ],
)
def test_deletions_with_empty_values(kind: str, body: str, name: str, file: Path) -> None:
    """A component without value in a series, observation or group is an error, because none would mean any value."""
    with pytest.raises(DatasetError, match=f"line 3: {name} has no value in a data set with the action delete"):
        deleted(file, body, "", kind)


@pytest.mark.parametrize(
    ("body", "attributes", "note"),
    [
        ("<Series/>", "", "the series in line 3 of"),
        ("<Series><Metadata/></Series>", "", "the series in line 3 of"),
        ('<Series A="1"><Metadata/></Series>', "", "the series in line 3 of"),
        ('<Series A="1"><x:key/></Series>', "", "the series in line 3 of"),
        ('<Series A="1"><Obs/></Series>', "", "the observation in line 3 of"),
        ('<Obs A="1"><x:key/></Obs>', "", "the observation in line 3 of"),
        ("", ' ss:reportingBeginDate="2020"', _NOTHING),
        ("", ' reportingEndDate="2020"', _NOTHING),
        ("", ' ss:validFromDate="2020-01-01"', _NOTHING),
        ("", ' dataProviderID="FR"', _NOTHING),
        ("", ' x:only="A=1"', _NOTHING),
        ("<DataProvider/>", "", _NOTHING),
        ("<x:Annotations/>", "", _NOTHING),
    ],
)
def test_deletions_that_are_restricted_by_what_is_not_read(body: str, attributes: str, note: str, file: Path) -> None:
    """Parts that name more than was read, or nothing, delete nothing instead of everything that they could mean."""
    rows, notes = deleted(file, body, attributes, "StructureSpecific")
    assert rows == []
    assert any(note in one for one in notes)
    assert any("it deletes nothing" in one for one in notes)


def test_a_deletion_in_a_message_with_a_footer(file: Path) -> None:
    """A data set may be empty because its service has failed, so it does not delete all data."""
    deleted(file, "", "", "StructureSpecific")
    end = "</m:StructureSpecificData>"
    assert end in file.read_text()
    footer = '<m:Footer><m:Message code="413" severity="Error"><c:Text>too large</c:Text></m:Message></m:Footer>'
    file.write_text(file.read_text().replace(end, footer + end))
    notes: list[str] = []
    assert list(located_blocks(file, _RULES, note=notes.append)) == []
    assert any(_NOTHING in one for one in notes)


def test_the_action_delete_in_any_case(file: Path) -> None:
    """The action is recognized as in validation, so that a series is not switched off, and inherits nothing."""
    for written in ("delete", "DELETE", " Delete "):
        deleted(file, '<Series A="1"/>', ' TITLE="x"', "StructureSpecific")
        file.write_text(file.read_text().replace('"Delete"', f'"{written}"'))
        found = [{n: v for n, v in row.items() if v is not None} for row in read_data_message(file, _RULES)]
        assert [(row["ACTION"], row.get("A"), row.get("TITLE")) for row in found] == [
            ("D", "1", None),
            ("D", None, "x"),
        ]
        assert all("TIME_PERIOD" not in row for row in found)


def test_cross_sectional_deletions_without_key(file: Path) -> None:
    """An observation that names nothing, or names a component without value, is an error in a deletion."""
    for body in ("<Section><Obs/></Section>", '<Section A=""><Obs B="1"/></Section>'):
        file.write_text(
            f'<CrossSectionalData xmlns="{_OLD}/message"><Header/><DataSet action="Delete">{body}</DataSet>'
            "</CrossSectionalData>"
        )
        with pytest.raises(DatasetError, match="so it is unknown what is deleted"):
            read_data_message(file, _RULES)


def test_old_groups_with_series_in_deletions(file: Path) -> None:
    """A generic group of 2.0 whose series are deleted is not said to delete nothing."""
    key = '<Value concept="A" value="1"/>'
    series = f'<Series><SeriesKey>{key}<Value concept="B" value="2"/></SeriesKey></Series>'
    for own in ("", '<Attributes><Value concept="G" value="x"/></Attributes>'):
        group = f"<Group><GroupKey>{key}</GroupKey>{own}{series}</Group>"
        file.write_text(
            f'<GenericData xmlns="{_OLD}/message"><Header/><DataSet action="Delete">{group}</DataSet></GenericData>'
        )
        notes: list[str] = []
        found = columns_of(block for _, block in located_blocks(file, _RULES, note=notes.append))
        rows = [{name: value for name, value in row.items() if value is not None} for row in rows_of(found)]
        assert {"ACTION": "D", "A": "1", "B": "2"} in rows
        assert notes == []


def test_deletions_in_generic_messages(file: Path) -> None:
    """Attributes of a generic data set or group are deleted on their own, and a group without attributes is noted."""
    series = f"<g:Series><g:SeriesKey>{_generic({'A': '1'})}</g:SeriesKey></g:Series>"
    own = f"<g:Attributes>{_generic({'TITLE': 'x'})}</g:Attributes>"
    group = _generic_group({"A": "1"}, {"G": "x"})
    assert deleted(file, own, "", "Generic")[0] == [{"TITLE": "x"}]
    assert deleted(file, own + group + series, "", "Generic")[0] == [{"A": "1"}, {"TITLE": "x"}, {"A": "1", "G": "x"}]
    rows, notes = deleted(
        file, f"<g:Group type='G'><g:GroupKey>{_generic({'A': '1'})}</g:GroupKey></g:Group>", "", "Generic"
    )
    assert (rows, any(_NO_ATTRIBUTE in one for one in notes)) == ([], True)


def test_a_deletion_in_old_messages(file: Path) -> None:
    """Compact and cross-sectional data sets of 2.0 without any element delete all data as well."""
    for kind in ("CompactData", "CrossSectionalData"):
        file.write_text(
            f'<{kind} xmlns="{_OLD}/message"><Header/><DataSet action="Delete"/>'
            f'<DataSet action="Replace"/><DataSet action="Replace" TITLE="x"/></{kind}>'
        )
        off = {"A": "~", "B": "~", "TIME_PERIOD": "~"}
        found = [{n: v for n, v in row.items() if v is not None} for row in read_data_message(file, _RULES)]
        assert found == [{"ACTION": "D"}, {"ACTION": "R", "TITLE": "x", **off}]


@pytest.mark.parametrize("kind", ["StructureSpecific", "Generic"])
def test_attributes_of_a_data_set_without_rows(kind: str, file: Path) -> None:
    """Attributes of a data set without rows are a row with all dimensions switched off, so that they are not lost."""
    own = f"<g:Attributes>{_generic({'TITLE': 'x'})}</g:Attributes>" if kind == "Generic" else ""
    made = message(own, kind=kind)
    file.write_text(made if own else made.replace('structureRef="S">', 'structureRef="S" TITLE="x">'))
    (row,) = read_data_message(file, _RULES)
    assert row == {
        "STRUCTURE": "datastructure", "STRUCTURE_ID": "T:D(1.0)", "ACTION": "I", "TITLE": "x",
        "A": "~", "B": "~", "TIME_PERIOD": "~",
    }  # fmt: skip
    assert [one.line for one in data_message_rows(file)] == [3]


def test_cross_sectional_measures(file: Path) -> None:
    """Without the rules of the structure, a cross-sectional measure is a component of its own."""
    text = (
        f'<CrossSectionalData xmlns="{_OLD}/message"><Header/><DataSet AREA="X"><Group TIME_PERIOD="2010"><Section>'
        '<BIRTHS value="1" SEX="T"/><Obs value="2" SEX="F"/></Section></Group></DataSet></CrossSectionalData>'
    )
    shared = {"AREA": "X", "TIME_PERIOD": "2010"}
    assert rows_in(file, text) == [shared | {"SEX": "T", "BIRTHS": "1"}, shared | {"SEX": "F", "OBS_VALUE": "2"}]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252"])
def test_declared_encodings_are_read(encoding: str, file: Path) -> None:
    """The encoding is that of the declaration; groups are found in all encodings."""
    body = _SERIES.format("") + '<Group CUR="USD" TITLE="grün"/>'
    text = f'<?xml version="1.0" encoding="{encoding}"?>' + message(body)
    assert rows_in(file, text.encode(encoding))[0]["TITLE"] == "grün"


@pytest.mark.parametrize("declared", ["utf-8", "utf-16", "iso-8859-1", "shift_jis", "unknown"])
def test_a_byte_order_mark_counts_more_than_the_declaration(declared: str, file: Path) -> None:
    """A file that an editor saved as UTF-8 with a mark is read as such, whatever its declaration says."""
    text = f'<?xml version="1.0" encoding="{declared}"?>\n' + message(
        _SERIES.format("") + '<Group CUR="USD" TITLE="grün"/>'
    )
    assert rows_in(file, text.encode("utf-8-sig"))[0]["TITLE"] == "grün"


def test_each_row_has_the_line_of_its_element(file: Path) -> None:
    """Each row has the line of its element, also beyond 65,535 lines and after blank lines at the beginning."""
    series = '\n<Series CUR="USD">\n<Obs TIME_PERIOD="1"/>\n\n<Obs TIME_PERIOD="2"/></Series>' + "\n" * 70_000
    file.write_text("\n\n" + message(series + '<Series CUR="CHF"/>\n<Group CUR="X" TITLE="t"/>'))
    assert [data_message_row.line for data_message_row in data_message_rows(file)] == [7, 9, 70_009, 70_010]


def test_a_message_with_only_a_footer_is_refused_with_its_text(file: Path) -> None:
    """The footer can be read; a message with nothing but a footer is refused with its text."""
    footer = "<m:Footer><m:Message code='510'><c:Text>too much</c:Text></m:Message></m:Footer>"
    file.write_text(message(_SERIES.format("")).replace("</m:Str", footer + "</m:Str", 2).replace(footer, "", 1))
    read = MlMessage(lambda: file.open("rb"), "data.xml")
    assert len(list(read.blocks())) == 1
    assert read.footers == ("510: too much",)
    file.write_text(f'<m:GenericData xmlns:m="urn:m" xmlns:c="urn:c"><m:Header/>{footer}</m:GenericData>')
    with pytest.raises(DatasetError, match="too much"):
        read_data_message(file)


_DEEP = 200_000
_MANY = " ".join(f"A{i}='{i}'" for i in range(2_000))
HOSTILE: dict[str, tuple[str | bytes, str]] = {
    "entities": ('<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><a>&b;</a>', "document type"),
    "document type": ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "document type"),
    "nesting": ("<a>" * _DEEP, "nested"),
    "nesting in a message": (message("<g:Attributes>" * _DEEP, kind="Generic"), "nested"),
    "nesting in values": (message("<Series><Comp id='A'><Value>" + "<p>" * _DEEP), "nested"),
    "nesting in annotations": (message("<Series><Annotations>" + "<p>" * _DEEP), "nested"),
    "nesting in a header": (f'<m:GenericData xmlns:m="{BASE}/v2_1/message"><m:Header>' + "<a>" * _DEEP, "nested"),
    "nesting in footers": (f'<m:GenericData xmlns:m="{BASE}/v2_1/message"><m:Footer>' + "<a>" * _DEEP, "nested"),
    "cross-sectional nesting": (f'<CrossSectionalData xmlns="{_OLD}/message"><DataSet>' + "<Group>" * _DEEP, "nested"),
    "a long attribute": (message(f'<Series A="{"x" * 6_000_000}"/>'), "more than 4,194,304 bytes"),
    "many attributes": (message(f"<Series><Obs {_MANY}/></Series>"), "more than 1,000 components"),
    "names": (message("".join(f"<x:A{i}/>" for i in range(150_000))), "different names"),
    "an unknown encoding": ('<?xml version="1.0" encoding="x-unknown"?><a/>', "unknown encoding"),
    "another encoding": (b'<?xml version="1.0" encoding="UTF-8"?><a b="\xff"/>', "not well-formed"),
    "cut": (message(_SERIES.format(""))[:-30], "not well-formed"),
    "many attributes in a later observation": (
        message(f'<Series><Obs A="1"/><Obs {_MANY}/></Series>'), "more than 1,000 components",
    ),
    "observations in observations": (message("<Series><Obs><Obs/></Obs></Series>"), "no meaning"),
    "structures": ("<m:Structure xmlns:m='urn:m'/>", "not an SDMX-ML data message"),
    "another end": ("<m:GenericData xmlns:m='urn:m'></a>", "not well-formed"),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param("names", marks=pytest.mark.long), *(name for name in HOSTILE if name != "names")]
)
def test_a_hostile_file_is_refused_in_little_memory(name: str, file: Path) -> None:
    """A hostile or damaged file is refused with an error that names it, in little memory."""
    text, expected_text = HOSTILE[name]
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    tracemalloc.start()
    try:
        with pytest.raises(DatasetError, match=rf"data\.xml.*{expected_text}"):
            list(data_message_rows(file))
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()


def test_a_damaged_gzip_file(file: Path) -> None:
    """A compressed file that is cut is refused."""
    file.write_bytes(b"\x1f\x8b\x08\x00cut")
    with pytest.raises(DatasetError, match=r"data\.xml: the gzip data is truncated"):
        read_data_message(file)


def _observations(count: int) -> Iterator[str]:
    for number in range(count):
        yield f'<Series CUR="{number}"><Obs TIME_PERIOD="2010" OBS_VALUE="{number}"/></Series>'


@pytest.mark.long
@pytest.mark.parametrize("group", ['<Group CUR="1" TITLE="late"/>', ""])
def test_memory_does_not_depend_on_the_number_of_rows(group: str, file: Path) -> None:
    """Memory does not depend on the number of rows, also if the file is read twice because a group comes last."""
    peaks = []
    for count in (2_000, 20_000):
        file.write_text(message("".join(_observations(count)) + group))
        tracemalloc.start()
        assert sum(1 for _ in data_message_rows(file)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.5 + 3_000_000
