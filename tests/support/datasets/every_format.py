"""A data set as a file of every format that is read."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any, Final

import polars as pl
import xlsxwriter  # type: ignore[import-untyped]

from support.rules.structures_by_hand import (
    DSD,
    FLOW,
    attribute,
    dimension,
    measure,
    structure,
    text,
    time,
)

STRUCTURE: Final = structure(
    dimension("FREQ", text()),
    dimension("AREA", text()),
    time(),
    measure(),
    attribute("UNIT", to="FREQ,AREA"),
    attribute("SOURCE", to="DATASET"),
    attribute("OBS_STATUS"),
)
NAMES: Final = ("FREQ", "AREA", "TIME_PERIOD", "OBS_VALUE", "UNIT", "SOURCE", "OBS_STATUS")
ROWS: Final[list[tuple[str | None, ...]]] = [
    ("M", "CH", "2014-01", "12.40", "01", "all", "A"),
    ("M", "CH", "2014-02", "1", "01", "all", None),
    ("M", "DE", "2014-01", "-3.5", "02", "all", "B"),
]
SERIES: Final = {"CH": ("01", ROWS[:2]), "DE": ("02", ROWS[2:])}
_XSI: Final = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'


def _table(separator: str, *leading: tuple[str, str]) -> bytes:
    made = io.StringIO()
    writer = csv.writer(made, delimiter=separator, lineterminator="\n")
    writer.writerow([*(name for name, _ in leading), *NAMES])
    writer.writerows([*(value for _, value in leading), *row] for row in ROWS)
    return made.getvalue().encode()


def _attributes(names: tuple[str, ...], values: tuple[str | None, ...]) -> str:
    return "".join(f' {name}="{value}"' for name, value in zip(names, values, strict=True) if value is not None)


def _compact(*, flat: bool = False) -> str:
    """Return the elements in a data set of structure-specific messages, without prefix."""
    if flat:
        return "".join(f"<Obs{_attributes(NAMES[:5] + NAMES[6:], row[:5] + row[6:])}/>" for row in ROWS)
    return "".join(
        f'<Series FREQ="M" AREA="{area}" UNIT="{unit}">'
        + "".join(f"<Obs{_attributes((*NAMES[2:4], NAMES[6]), (*row[2:4], row[6]))}/>" for row in rows)
        + "</Series>"
        for area, (unit, rows) in SERIES.items()
    )


def _ml(version: str, at: str, body: str, kind: str = "StructureSpecific") -> bytes:
    """Return a message of 2.1 or 3.0."""
    base = f"http://www.sdmx.org/resources/sdmxml/schemas/{version}"
    reference = DSD if version.startswith("v3") else '<Ref xmlns="" agencyID="T" id="D" version="1.0"/>'
    scoped, source = ("", "") if kind == "Generic" else ("ss:", ' SOURCE="all"')
    return (
        f'<m:{kind}Data xmlns:m="{base}/message" xmlns:c="{base}/common" xmlns:g="{base}/data/generic" '
        f'xmlns:ss="{base}/data/structurespecific" xmlns:n="urn:n" {_XSI}><m:Header><m:ID>t</m:ID>'
        '<m:Test>false</m:Test><m:Prepared>2020-01-01T00:00:00</m:Prepared><m:Sender id="X"/>'
        '<m:Structure structureID="S" namespace="urn:n" '
        f'dimensionAtObservation="{at}"><c:Structure>{reference}</c:Structure></m:Structure></m:Header>'
        f'<m:DataSet {scoped}structureRef="S"{source}>{body}</m:DataSet></m:{kind}Data>'
    ).encode()


def _generic(name: str, at: str) -> str:
    """Return the elements of generic messages; ``name`` is the XML attribute that names a component."""

    def given(tag: str, **values: str | None) -> str:
        inner = "".join(f'<g:Value {name}="{one}" value="{v}"/>' for one, v in values.items() if v is not None)
        return f"<g:{tag}>{inner}</g:{tag}>" if inner else ""

    return given("Attributes", SOURCE="all") + "".join(
        f"<g:Series>{given('SeriesKey', FREQ='M', AREA=area)}{given('Attributes', UNIT=unit)}"
        + "".join(
            f'<g:Obs>{at.format(row[2])}<g:ObsValue value="{row[3]}"/>{given("Attributes", OBS_STATUS=row[6])}</g:Obs>'
            for row in rows
        )
        + "</g:Series>"
        for area, (unit, rows) in SERIES.items()
    )


def _cross() -> str:
    """Return the elements of a cross-sectional data set (2.0)."""
    periods = dict.fromkeys(row[2] for row in ROWS)
    return "".join(
        f'<Group FREQ="M" TIME_PERIOD="{period}">'
        + "".join(
            f'<Section AREA="{row[1]}" UNIT="{row[4]}"><OBS_VALUE value="{row[3]}"{_attributes(NAMES[6:], row[6:])}/>'
            "</Section>"
            for row in ROWS
            if row[2] == period
        )
        + "</Group>"
        for period in periods
    )


def _ml20(kind: str, body: str) -> bytes:
    base = "http://www.SDMX.org/resources/SDMXML/schemas/v2_0"
    return (
        f'<{kind} xmlns="{base}/message" xmlns:g="{base}/generic"><Header><ID>t</ID><KeyFamilyRef>D</KeyFamilyRef>'
        f"<KeyFamilyAgency>T</KeyFamilyAgency></Header>{body}</{kind}>"
    ).encode()


def _json_text(message: dict[str, Any]) -> bytes:
    """Return JSON in which texts such as ``@12.40@`` are numbers, with their digits."""
    return re.sub(r'"@([^"]+)@"', r"\1", json.dumps(message)).encode()


def _values(*values: str) -> list[dict[str, str]]:
    return [{"id": value, "name": value} for value in values]


_STATUS: Final = {"A": 0, "B": 1, None: None}


def _json_1() -> bytes:
    """Return SDMX-JSON 1.0, flat."""
    areas, periods, units = ["CH", "DE"], ["2014-01", "2014-02"], ["01", "02"]
    observations = {
        f"0:{areas.index(str(row[1]))}:{periods.index(str(row[2]))}": [
            f"@{row[3]}@", units.index(str(row[4])), _STATUS[row[6]],
        ]
        for row in ROWS
    }  # fmt: skip
    return _json_text({"data": {
        "structure": {
            "links": [{"rel": "dataflow", "urn": FLOW}],
            "dimensions": {"observation": [
                {"id": "FREQ", "keyPosition": 0, "values": _values("M")},
                {"id": "AREA", "keyPosition": 1, "values": _values(*areas)},
                {"id": "TIME_PERIOD", "keyPosition": 2, "values": _values(*periods)},
            ]},
            "attributes": {
                "dataSet": [{"id": "SOURCE", "values": _values("all")}],
                "observation": [
                    {"id": "UNIT", "values": _values(*units)},
                    {"id": "OBS_STATUS", "values": _values("A", "B")},
                ],
            },
        },
        "dataSets": [{"action": "Information", "attributes": [0], "observations": observations}],
    }})  # fmt: skip


def _json_series() -> dict[str, Any]:
    """Return the series of a data set, with the attribute UNIT at the series."""
    return {
        f"0:{at}": {
            "attributes": [at],
            "observations": {
                str(["2014-01", "2014-02"].index(str(row[2]))): [f"@{row[3]}@", _STATUS[row[6]]] for row in rows
            },
        }
        for at, (_, rows) in enumerate(SERIES.values())
    }


def _json_1_series() -> bytes:
    """Return SDMX-JSON 1.0 with series; its attributes without codes have only names."""
    return _json_text({"data": {
        "structure": {
            "links": [{"rel": "dataflow", "urn": FLOW}],
            "dimensions": {
                "series": [{"id": "FREQ", "keyPosition": 0, "values": _values("M")},
                           {"id": "AREA", "keyPosition": 1, "values": _values("CH", "DE")}],
                "observation": [{"id": "TIME_PERIOD", "keyPosition": 2, "values": _values("2014-01", "2014-02")}],
            },
            "attributes": {
                "dataSet": [{"id": "SOURCE", "values": [{"name": "all"}]}],
                "series": [{"id": "UNIT", "values": _values("01", "02")}],
                "observation": [{"id": "OBS_STATUS", "values": _values("A", "B")}],
            },
        },
        "dataSets": [{"action": "Information", "attributes": [0], "series": _json_series()}],
    }})  # fmt: skip


def _json_2(version: str) -> bytes:
    """Return SDMX-JSON 2.0 or 2.1 with series."""
    schema = f"https://json.sdmx.org/{version}/sdmx-json-data-schema.json"
    return _json_text({"meta": {"id": "t", "schema": schema}, "data": {
        "structures": [{
            "dataSets": [0], "links": [{"rel": "dataflow", "urn": FLOW}],
            "dimensions": {
                "series": [{"id": "FREQ", "keyPosition": 0, "values": _values("M")},
                           {"id": "AREA", "keyPosition": 1, "values": _values("CH", "DE")}],
                "observation": [{"id": "TIME_PERIOD", "keyPosition": 2,
                                 "values": [{"value": "2014-01"}, {"value": "2014-02"}]}],
            },
            "measures": {"observation": [{"id": "OBS_VALUE"}]},
            "attributes": {
                "dataSet": [{"id": "SOURCE", "values": [{"value": "all"}]}],
                "series": [{"id": "UNIT", "values": [{"value": "01"}, {"value": "02"}]}],
                "observation": [{"id": "OBS_STATUS", "values": _values("A", "B")}],
            },
        }],
        "dataSets": [{"structure": 0, "action": "Information", "attributes": [0], "series": _json_series()}],
    }})  # fmt: skip


def _edi() -> bytes:
    lines = [
        "UNA:+.? ", "UNB+UNOC:3+A+B+200101:0000+I1++SDMX-EDI", "UNH+M1+GESMES:2:1:E6", "BGM+74", "NAD+Z02+T",
        "NAD+MR+B", "NAD+MS+A", "DSI+D", "STS+3+7", "IDE+5+D", "GIS+AR3", "GIS+1:::-",
        "ARR++M:CH:201401201402:710:12.40:A+1", "ARR++M:DE:201401:610:-3.5:B", "FNS+Attributes:10", "REL+Z01+1",
        "ARR+0", "IDE+Z11+SOURCE", "FTX+ACM+++all", "REL+Z01+4", "ARR+2+M:CH", "IDE+Z10+UNIT", "CDV+01", "ARR+2+M:DE",
        "IDE+Z10+UNIT", "CDV+02", "UNT+25+M1", "UNZ+1+I1",
    ]  # fmt: skip
    return "".join(f"{line}'\n" for line in lines).encode()


def _xlsx(*leading: tuple[str, str]) -> bytes:
    made = io.BytesIO()
    names, values = tuple(name for name, _ in leading), tuple(value for _, value in leading)
    with xlsxwriter.Workbook(made) as book:
        sheet = book.add_worksheet("Data")
        for number, row in enumerate([names + NAMES, *(values + row for row in ROWS)]):
            for at, value in enumerate(row):
                if value is not None:
                    sheet.write_string(number, at, value)
    return made.getvalue()


def _binary(write: str) -> bytes:
    made = io.BytesIO()
    getattr(pl.DataFrame(ROWS, schema=NAMES, orient="row"), write)(made)
    return made.getvalue()


_SDMX_CSV_2: Final = (("STRUCTURE", "dataflow"), ("STRUCTURE_ID", "T:F(1.0)"), ("ACTION", "I"))
_TIME: Final = "<g:ObsDimension value='{}'/>"
FILES: Final[dict[str, tuple[str, Callable[[], bytes]]]] = {
    "SDMX-CSV 1.0": ("csv", lambda: _table(",", ("DATAFLOW", "T:F(1.0)"))),
    "SDMX-CSV 2.0": ("csv", lambda: _table(";", *_SDMX_CSV_2)),
    "SDMX-CSV 2.1 with keys": ("csv", lambda: _table(",", *_SDMX_CSV_2, ("SERIES_KEY", "M.CH"), ("OBS_KEY", "x"))),
    "plain CSV": ("csv", lambda: _table(",")),
    "plain TSV": ("tsv", lambda: _table("\t")),
    "Parquet": ("parquet", lambda: _binary("write_parquet")),
    "Arrow file": ("arrow", lambda: _binary("write_ipc")),
    "Arrow stream": ("arrows", lambda: _binary("write_ipc_stream")),
    "SDMX-ML 2.0 compact": ("xml", lambda: _ml20("CompactData", f'<DataSet SOURCE="all">{_compact()}</DataSet>')),
    "SDMX-ML 2.0 generic": ("xml", lambda: _ml20(
        "GenericData",
        f"<DataSet><g:KeyFamilyRef>D</g:KeyFamilyRef>{_generic('concept', '<g:Time>{}</g:Time>')}</DataSet>",
    )),
    "SDMX-ML 2.1 generic": ("xml", lambda: _ml("v2_1", "TIME_PERIOD", _generic("id", _TIME), "Generic")),
    "SDMX-ML 2.1 series": ("xml", lambda: _ml("v2_1", "TIME_PERIOD", _compact())),
    "SDMX-ML 2.1 flat": ("xml", lambda: _ml("v2_1", "AllDimensions", _compact(flat=True))),
    "SDMX-ML 3.0 series": ("xml", lambda: _ml("v3_0", "TIME_PERIOD", _compact())),
    "SDMX-ML 3.0 flat": ("xml", lambda: _ml("v3_0", "AllDimensions", _compact(flat=True))),
    "SDMX-ML 2.0 cross-sectional": ("xml", lambda: _ml20(
        "CrossSectionalData", f'<DataSet SOURCE="all">{_cross()}</DataSet>',
    )),
    "SDMX-ML 3.1 series": ("xml", lambda: _ml("v3_1", "TIME_PERIOD", _compact())),
    "SDMX-ML 3.1 flat": ("xml", lambda: _ml("v3_1", "AllDimensions", _compact(flat=True))),
    "SDMX-JSON 1.0": ("json", _json_1),
    "SDMX-JSON 1.0 series": ("json", _json_1_series),
    "SDMX-JSON 2.0": ("json", lambda: _json_2("2.0.0")),
    "SDMX-JSON 2.1": ("json", lambda: _json_2("2.1")),
    "SDMX-EDI": ("edi", _edi),
    "workbook": ("xlsx", _xlsx),
    "workbook of SDMX-CSV 1.0": ("xlsx", lambda: _xlsx(("DATAFLOW", "T:F(1.0)"))),
    "workbook of SDMX-CSV 2.0": ("xlsx", lambda: _xlsx(*_SDMX_CSV_2)),
}  # fmt: skip
