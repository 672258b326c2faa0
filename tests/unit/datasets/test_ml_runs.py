"""Consecutive observations of SDMX-ML with the same components are read together: nothing of each may get lost."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Final

import pytest

from kafka_replica.data.files.messages import data_message_rows
from kafka_replica.data.files.messages.ml import events

_BASE: Final = "http://www.sdmx.org/resources/sdmxml/schemas/v3_0"
_MESSAGE: Final = f"""<m:StructureSpecificData xmlns:m="{_BASE}/message" xmlns:c="{_BASE}/common"
 xmlns:ss="{_BASE}/data/structurespecific"><m:Header><m:ID>t</m:ID></m:Header>
<m:DataSet>
<Series FREQ="A">
<Obs TIME="1" V="1" ST="a"/>
<Obs TIME="2" V="2" ST="b"/>
<Obs TIME="3" V="" ST="c"/>
<Obs TIME="4" V="4" ST="d"><c:Annotations><c:Annotation id="x"/></c:Annotations></Obs>
<Obs TIME="5" V="5" ST="e"><Comp id="M"><Value>1</Value><Value>2</Value></Comp></Obs>
<Obs TIME="6" V="6"/>
<Obs TIME="7" V="7"/>
<Obs TIME="8" V="8" ST="h"/>
<Obs TIME="9" V="" ST=""><c:Annotations><c:Annotation id="x"/></c:Annotations></Obs>
<Obs TIME="10" V="" ST="j"><Comp id="M"><Value>3</Value></Comp></Obs>
</Series>
<Series FREQ="M">
<Obs TIME="1" V="1" ST="a"><x:MyObs xmlns:x="urn:x" TIME="x" V="x" ST="x"/></Obs>
<Obs TIME="2" V="2" ST="b"/>
</Series></m:DataSet><m:DataSet>
<Obs FREQ="Q" TIME="1" V="1"/>
<Obs FREQ="Q" TIME="2" V="2"/>
</m:DataSet></m:StructureSpecificData>"""
_EXPECTED: Final = [
    (5, {"FREQ": "A", "TIME": "1", "V": "1", "ST": "a"}),
    (6, {"FREQ": "A", "TIME": "2", "V": "2", "ST": "b"}),
    (7, {"FREQ": "A", "TIME": "3", "ST": "c"}),
    (8, {"FREQ": "A", "TIME": "4", "V": "4", "ST": "d"}),
    (9, {"FREQ": "A", "TIME": "5", "V": "5", "ST": "e", "M": ["1", "2"]}),
    (10, {"FREQ": "A", "TIME": "6", "V": "6"}),
    (11, {"FREQ": "A", "TIME": "7", "V": "7"}),
    (12, {"FREQ": "A", "TIME": "8", "V": "8", "ST": "h"}),
    (13, {"FREQ": "A", "TIME": "9"}),
    (14, {"FREQ": "A", "TIME": "10", "ST": "j", "M": "3"}),
    (17, {"FREQ": "M", "TIME": "1", "V": "1", "ST": "a"}),
    (18, {"FREQ": "M", "TIME": "2", "V": "2", "ST": "b"}),
    (20, {"FREQ": "Q", "TIME": "1", "V": "1"}),
    (21, {"FREQ": "Q", "TIME": "2", "V": "2"}),
]


@pytest.mark.parametrize("size", [1 << 16, *chain(range(1, 40), (51, 77, 101, 333))])
def test_each_observation_of_a_run_has_its_own_line_and_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Wherever the file is cut into chunks; with empty values, and with elements within observations."""
    monkeypatch.setattr(events, "_CHUNK", size)
    path = tmp_path / "data.xml"
    path.write_text(_MESSAGE)
    found = [
        (data_message_row.line, {name: v for name, v in data_message_row.row.items() if name != "ACTION"})
        for data_message_row in data_message_rows(path)
    ]
    assert found == _EXPECTED
