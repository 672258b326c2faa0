"""Sample data in every format, a topic with its structures, and the commands that process the same files."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

from kafka_replica import Replica
from kafka_replica.cli.run import run_command
from kafka_replica.cli.structure_source import snapshot_of_files
from kafka_replica.sdmx.samples import extra_files, sample_files
from kafka_replica.testing import FakeTopic

FLOW = "KR_DEMO:LABOUR(1.0)"
FLOW_URN = f"urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow={FLOW}"
MAP = "KR_DEMO:LABOUR_TO_PANEL(1.0)"
STRUCTURES = (sample_files()[0].parent, *(path for path in extra_files() if path.suffix == ".xml"))
LABOUR_CSV = next(path for path in extra_files() if path.suffix == ".csv").read_bytes()
SERIES = ("FREQ", "REF_AREA", "INDICATOR", "SEX")
_STRUCTURE = ("STRUCTURE", "STRUCTURE_ID", "ACTION")


def rows() -> list[dict[str, str]]:
    """Return the rows of the sample data, without its structure."""
    found = csv.DictReader(io.StringIO(LABOUR_CSV.decode()))
    return [{name: value for name, value in row.items() if name not in _STRUCTURE} for row in found]


def plain_csv() -> bytes:
    """Return the sample data as CSV with component ids as column names."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows()[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows())
    return text.getvalue().encode()


def csv_1() -> bytes:
    """Return the sample data as SDMX-CSV 1.0."""
    first, *rest = plain_csv().decode().splitlines()
    return "\n".join([f"DATAFLOW,{first}", *(f"{FLOW},{line}" for line in rest), ""]).encode()


def structure_specific(version: str) -> bytes:
    """Return the sample data as SDMX-ML, with all dimensions at the observation."""
    base = f"http://www.sdmx.org/resources/sdmxml/schemas/{version}"
    namespace = f"{FLOW_URN}:ObsLevelDim:AllDimensions"
    reference = '<Ref xmlns="" agencyID="KR_DEMO" id="LABOUR" version="1.0" class="Dataflow"/>'
    used = FLOW_URN if version == "v3_0" else reference
    observations = "".join(
        f"<Obs {' '.join(f'{name}={quoteattr(value)}' for name, value in row.items() if value)}/>" for row in rows()
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><m:StructureSpecificData xmlns:m="{base}/message" '
        f'xmlns:c="{base}/common" xmlns:ss="{base}/data/structurespecific" xmlns:n="{namespace}" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><m:Header><m:ID>T</m:ID><m:Test>false</m:Test>'
        '<m:Prepared>2026-01-01T00:00:00</m:Prepared><m:Sender id="X"/>'
        f'<m:Structure structureID="S1" namespace="{namespace}" dimensionAtObservation="AllDimensions">'
        f"<c:StructureUsage>{used}</c:StructureUsage></m:Structure></m:Header>"
        '<m:DataSet ss:structureRef="S1" xsi:type="n:DataSetType" ss:dataScope="DataStructure" '
        f'ss:action="Information">{observations}</m:DataSet></m:StructureSpecificData>'
    ).encode()


def sdmx_json(version: str) -> bytes:
    """Return the sample data as SDMX-JSON 1.0 or 2.0, flat."""
    found = rows()
    dimensions, attributes = (*SERIES, "TIME_PERIOD"), ("UNIT_MEASURE", "OBS_STATUS", "DECIMALS")
    values = {name: sorted({row[name] for row in found}) for name in (*dimensions, *attributes)}

    def described(name: str, place: int) -> dict[str, Any]:
        return {"id": name, "name": name, "keyPosition": place, "values": [{"id": one} for one in values[name]]}

    structure = {
        "links": [{"rel": "dataflow", "urn": FLOW_URN}],
        "dimensions": {"observation": [described(name, i) for i, name in enumerate(dimensions)]},
        "attributes": {"observation": [described(name, i) for i, name in enumerate(attributes)]},
        **({} if version == "1.0" else {"measures": {"observation": [{"id": "OBS_VALUE", "name": "v"}]}}),
    }
    observations = {
        ":".join(str(values[name].index(row[name])) for name in dimensions): [
            row["OBS_VALUE"], *(values[name].index(row[name]) for name in attributes),
        ] for row in found
    }  # fmt: skip
    dataset = {"action": "Information", "links": structure["links"], "observations": observations}
    content = {"structures": [structure]} if version != "1.0" else {"structure": structure}
    return json.dumps({"meta": {}, "data": {**content, "dataSets": [dataset]}}).encode()


FILES = {
    "labour.csv": LABOUR_CSV, "labour.1.0.csv": csv_1(), "plain.csv": plain_csv(),
    "ml21.xml": structure_specific("v2_1"), "ml30.xml": structure_specific("v3_0"),
    "json1.json": sdmx_json("1.0"), "json2.json": sdmx_json("2.0"),
}  # fmt: skip
"""The sample data by file name, in every format."""


def labour_topic(name: str = "fake") -> FakeTopic:
    """Return a topic with the structures of the sample data, in one transaction."""
    topic, snapshot = FakeTopic(name), snapshot_of_files(STRUCTURES)
    with topic.transaction() as transaction:
        for key in snapshot:
            record = snapshot.get(key)
            assert record is not None
            assert record.value is not None
            transaction.put(record.key, record.value, headers=record.headers)
    return topic


class Results(NamedTuple):
    """The files that a command writes."""

    report: dict[str, Any]
    good: str
    rejected: str


def by_command(
    command: str,
    folder: Path,
    name: str,
    *options: str,
    content: bytes | None = None,
    rejected_encoding: str = "utf-8",
) -> Results:
    """Process sample data, or other content, with a command; as in the service, the report names no file."""
    data, out = folder / name, folder / "out"
    data.write_bytes(FILES[name] if content is None else content)
    places = [part for path in STRUCTURES for part in ("--structures", str(path))]
    assert run_command([command, str(data), *places, "--out", str(out), *options]) in {0, 3}
    report = json.loads((out / "report.json").read_text())
    assert {sample.pop("file") for sample in report["samples"]} <= {str(data)}
    report["samples"] = [{**sample, "file": None} for sample in report["samples"]]
    return Results(report, (out / "good.csv").read_text(), (out / "rejected.csv").read_text(rejected_encoding))


def comparable(report: dict[str, Any], replica: Replica) -> dict[str, Any]:
    """Return a report of the service as the command would write it, which calls its version 1 and lists no findings."""
    assert report["version"] == replica.snapshot().version
    return {**report, "version": 1, "listed_findings": None}
