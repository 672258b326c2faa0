"""White space around values in SDMX-ML: it is not part of numbers and periods, but of texts and codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_replica.data.files.messages import read_data_message
from kafka_replica.data.polars import split, validate
from kafka_replica.data.validation import Rules
from support.datasets.ml_messages import message
from support.rules.structures_by_hand import (
    attribute,
    coded,
    codelist,
    dimension,
    measure,
    rules_of,
    structure,
    text,
    time,
    version_of,
)

_PERIOD, _VALUE, _COUNT = " 2010 ", "&#10;3.70 ", " 7"
_OLD = "http://www.SDMX.org/resources/SDMXML/schemas/v2_0"


@pytest.fixture(scope="module")
def rules() -> Rules:
    """The rules of T:D(1.0)."""
    many = 'minOccurs="0" maxOccurs="unbounded"'
    return rules_of(
        version_of(structure(
            dimension("AREA", coded("CL")), time(), measure(), attribute("NOTE"), attribute("COUNT", text("Integer")),
            attribute("MANY", text("Integer"), occurs=many), attribute("YEAR", text("GregorianYear"), to="DATASET"),
        ), codelist("CL", ["X"]))
    )  # fmt: skip


def rows_of(file: Path, content: str, rules: Rules | None) -> list[dict[str, Any]]:
    """Return the rows without their structure and action, and without components that have no value."""
    file.write_text(content)
    left_out = {"STRUCTURE", "STRUCTURE_ID", "ACTION"}
    rows = read_data_message(file, rules)
    return [{name: value for name, value in row.items() if value is not None and name not in left_out} for row in rows]


_OBS = f'<Obs TIME_PERIOD="{_PERIOD}" OBS_VALUE="{_VALUE}" COUNT="{_COUNT}" NOTE=" a "/>'
_KEY, _NOTE = '<g:Value id="AREA" value=" X"/>', '<g:Value id="NOTE" value=" a "/>'
_GENERIC = (
    f'<g:ObsValue value="{_VALUE}"/><g:Attributes>{_NOTE}<g:Value id="COUNT" value="{_COUNT}"/></g:Attributes></g:Obs>'
)
LAYOUTS = {
    "the first observation": message(f'<Series AREA=" X">{_OBS}</Series>'),
    "a later observation": message(
        f'<Series AREA=" X"><Obs TIME_PERIOD="2009" OBS_VALUE="1" COUNT="1" NOTE="1"/>{_OBS}</Series>'
    ),
    "flat": message(_OBS.replace("<Obs ", '<Obs AREA=" X" '), "AllDimensions"),
    "elements": message(
        f'<Series AREA=" X"><Obs TIME_PERIOD="{_PERIOD}" NOTE=" a ">'
        f'<Comp id="OBS_VALUE"><Value>{_VALUE}</Value></Comp><Comp id="COUNT"><Value>{_COUNT}</Value></Comp>'
        "</Obs></Series>"
    ),
    "generic": message(
        f"<g:Series><g:SeriesKey>{_KEY}</g:SeriesKey><g:Obs>"
        f'<g:ObsDimension value="{_PERIOD}"/>{_GENERIC}</g:Series>', kind="Generic",
    ),
    "generic, flat": message(
        f'<g:Obs><g:ObsKey>{_KEY}<g:Value id="TIME_PERIOD" value="{_PERIOD}"/></g:ObsKey>{_GENERIC}', "AllDimensions",
        kind="Generic",
    ),
    "cross-sectional": (
        f'<CrossSectionalData xmlns="{_OLD}/message"><DataSet><Section TIME_PERIOD="{_PERIOD}">'
        f'<OBS_VALUE AREA=" X" value="{_VALUE}" COUNT="{_COUNT}" NOTE=" a "/></Section></DataSet></CrossSectionalData>'
    ),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_white_space_around_numbers_and_periods_is_left_out(layout: str, rules: Rules, tmp_path: Path) -> None:
    """Numbers and periods are read without white space around them, as in XML Schema; texts and codes keep it."""
    row = rows_of(tmp_path / "data.xml", LAYOUTS[layout], rules)[-1]
    assert row == {"AREA": " X", "TIME_PERIOD": "2010", "OBS_VALUE": "3.70", "COUNT": "7", "NOTE": " a "}
    unknown = rows_of(tmp_path / "data.xml", LAYOUTS[layout], None)[-1]
    assert unknown["OBS_VALUE"] == "\n3.70 "


def test_values_of_other_levels(rules: Rules, tmp_path: Path) -> None:
    """White space is left out in lists and in values of the data set, too; a value of nothing else is not a value."""
    body = (
        '<Series AREA="X"><Obs TIME_PERIOD="2009" OBS_VALUE=" "/><Obs TIME_PERIOD="2010" OBS_VALUE="  "/>'
        '<Obs TIME_PERIOD="2011"><Comp id="MANY"><Value> 1\n</Value><Value>2</Value></Comp></Obs></Series>'
    )
    content = message(body).replace('structureRef="S"', 'structureRef="S" YEAR=" 2000"')
    rows = rows_of(tmp_path / "data.xml", content, rules)
    shared = {"AREA": "X", "YEAR": "2000"}
    assert rows == [
        shared | {"TIME_PERIOD": "2009"}, shared | {"TIME_PERIOD": "2010"},
        shared | {"TIME_PERIOD": "2011", "MANY": ["1", "2"]},
    ]  # fmt: skip
    generic = '<g:Series><g:Obs><g:ObsDimension value=" "/><g:ObsValue value=" "/></g:Obs></g:Series>'
    assert rows_of(tmp_path / "data.xml", message(generic, kind="Generic"), rules) == [{}]


def test_the_row_is_valid(rules: Rules, tmp_path: Path) -> None:
    """A number with white space around it, which the schema of the structure allows, is valid."""
    file = tmp_path / "data.xml"
    file.write_text(message(f'<Series AREA="X">{_OBS}</Series>'))
    good, bad = split(validate(read_data_message(file, rules), rules))
    assert (good.height, bad.height) == (1, 0), bad
