"""Data with codes that contain dots, which the schema of 1.0 allows, are validated by the whole code."""

from __future__ import annotations

from typing import Final

from kafka_replica.data.polars import validate
from kafka_replica.data.validation import compile_rules
from kafka_replica.sdmx import Structures
from support.rules.corpus_structures import snapshot_of
from support.rules.structures_by_hand import findings_of_rows, table

V10: Final = "http://www.SDMX.org/resources/SDMXML/schemas/v1_0"
CODES: Final = (".01", ".1", "1", "1.5")
MESSAGE: Final = (
    f'<m:Structure xmlns:m="{V10}/message" xmlns:s="{V10}/structure"><m:Header><m:Sender id="F"/></m:Header>'
    '<m:CodeLists><s:CodeList id="CL" agency="F"><s:Name>n</s:Name>'
    + "".join(f'<s:Code value="{code}"><s:Description>d</s:Description></s:Code>' for code in CODES)
    + "</s:CodeList></m:CodeLists><m:Concepts>"
    + "".join(f'<s:Concept id="{id_}"><s:Name>n</s:Name></s:Concept>' for id_ in ("A.B", "B", "OBS_VALUE"))
    + "</m:Concepts>"
    '<m:KeyFamilies><s:KeyFamily id="K" agency="F"><s:Name>k</s:Name><s:Components>'
    '<s:Dimension concept="A.B" codelist="CL"/><s:Dimension concept="B" codelist="CL"/>'
    '<s:PrimaryMeasure concept="OBS_VALUE"/></s:Components></s:KeyFamily></m:KeyFamilies></m:Structure>'
).encode()


def test_values_and_columns_are_compared_with_the_whole_ids() -> None:
    """The columns are the whole ids of the dimensions; a part of a code is not a code."""
    rules = compile_rules(
        Structures(snapshot_of(MESSAGE)), "urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=F:K(1.0)"
    )
    assert [column.id for column in rules.columns][:2] == ["A.B", "B"]
    assert rules.columns[0].values == frozenset(CODES)
    rows = [{"A.B": code, "B": code, "OBS_VALUE": "1"} for code in CODES]
    rows += [{"A.B": "5", "B": "01", "OBS_VALUE": "1"}]
    found = findings_of_rows(validate(table(rows), rules))
    assert found[: len(CODES)] == [[], [], [], []]
    assert found[-1] == ["code-unknown A.B 5", "code-unknown B 01"]
