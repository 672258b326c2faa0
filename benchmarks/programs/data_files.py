"""Data messages read into columns, against parsers that only parse them.

    python -m benchmarks.programs.data_files OBSERVATIONS PASSES

SDMX-ML with series is compared with lxml's iterparse, which clears each element; SDMX-JSON with msgspec, which decodes
the message into plain objects. The program prints the processor time of each, in seconds: the best of the passes,
which take turns.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from lxml import etree

from benchmarks.programs.common import tell
from kafka_replica.data.files.messages import read_message_columns

_PER_SERIES: Final = 120
"""The observations of a series: ten years of months."""
_BASE: Final = "http://www.sdmx.org/resources/sdmxml/schemas/v3_0"
_DSD: Final = "urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=BENCH:EXR(1.0)"
_PERIODS: Final = [f"{2010 + at // 12}-{at % 12 + 1:02}" for at in range(_PER_SERIES)]


def write_ml(path: Path, observations: int) -> None:
    """Write a structure-specific message with series of exchange rates."""
    with path.open("w") as file:
        file.write(
            f'<m:StructureSpecificData xmlns:m="{_BASE}/message" xmlns:c="{_BASE}/common" '
            f'xmlns:ss="{_BASE}/data/structurespecific"><m:Header><m:ID>t</m:ID><m:Structure structureID="S" '
            f'namespace="urn:n" dimensionAtObservation="TIME_PERIOD"><c:Structure>{_DSD}</c:Structure></m:Structure>'
            '</m:Header><m:DataSet ss:structureRef="S">\n'
        )
        for number in range(observations // _PER_SERIES):
            file.write(
                f'<Series FREQ="M" CURRENCY="C{number}" CURRENCY_DENOM="EUR" EXR_TYPE="SP00" EXR_SUFFIX="A" '
                f'TITLE="Rate of currency {number}">\n'
            )
            for period, value in _values(number):
                file.write(f'<Obs TIME_PERIOD="{period}" OBS_VALUE="{value}" OBS_STATUS="A" OBS_CONF="F"/>\n')
            file.write("</Series>\n")
        file.write("</m:DataSet></m:StructureSpecificData>")


def write_json(path: Path, observations: int) -> None:
    """Write SDMX-JSON 2.0 with series, with the same observations."""
    count = observations // _PER_SERIES
    message = {
        "data": {
            "structures": [{
                "dataSets": [0], "links": [{"rel": "datastructure", "urn": _DSD}],
                "dimensions": {
                    "series": [_coded("FREQ", ["M"]), _coded("CURRENCY", [f"C{at}" for at in range(count)]),
                               _coded("CURRENCY_DENOM", ["EUR"]), _coded("EXR_TYPE", ["SP00"]),
                               _coded("EXR_SUFFIX", ["A"])],
                    "observation": [_coded("TIME_PERIOD", _PERIODS)],
                },
                "measures": {"observation": [{"id": "OBS_VALUE"}]},
                "attributes": {
                    "series": [_coded("TITLE", [f"Rate of currency {at}" for at in range(count)])],
                    "observation": [_coded("OBS_STATUS", ["A"]), _coded("OBS_CONF", ["F"])],
                },
            }],
            "dataSets": [{"structure": 0, "series": {
                f"0:{number}:0:0:0": {
                    "attributes": [number],
                    "observations": {
                        str(at): [float(value), 0, 0] for at, (_, value) in enumerate(_values(number))
                    },
                }
                for number in range(count)
            }}],
        }
    }  # fmt: skip
    path.write_text(json.dumps(message))


def _coded(name: str, values: list[str]) -> dict[str, Any]:
    return {"id": name, "values": [{"id": value} for value in values]}


def _values(number: int) -> Iterator[tuple[str, str]]:
    for at, period in enumerate(_PERIODS):
        yield period, f"{1 + (number * 7919 + at * 104_729) % 100_000 / 10_000:.4f}"


def _iterparse(path: Path) -> int:
    found = 0
    for _, element in etree.iterparse(path, events=("end",)):
        found += element.tag == "Obs"
        element.clear()
    return found


def _decoded(path: Path) -> int:
    (data_set,) = msgspec.json.decode(path.read_bytes())["data"]["dataSets"]
    return sum(len(value["observations"]) for value in data_set["series"].values())


def _read(path: Path) -> int:
    return len(read_message_columns(path)["OBS_VALUE"])


def _best(passes: int, *work: Callable[[], int]) -> list[float]:
    """Return the least processor time of each piece of work; all must find the same number of observations."""
    found: list[list[float]] = [[] for _ in work]
    counts = set()
    for _ in range(passes):
        for times, one in zip(found, work, strict=True):
            begin = time.process_time()
            counts.add(one())
            times.append(time.process_time() - begin)
    if len(counts) != 1:
        raise ValueError(f"not all found the same number of observations: {counts}")
    return [min(times) for times in found]


def _main(observations: int, passes: int, folder: Path) -> None:
    xml, text = folder / "data.xml", folder / "data.json"
    write_ml(xml, observations)
    write_json(text, observations)
    ml, lxml = _best(passes, lambda: _read(xml), lambda: _iterparse(xml))
    json_, decoded = _best(passes, lambda: _read(text), lambda: _decoded(text))
    tell(ml=ml, lxml=lxml, json=json_, msgspec=decoded)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        _main(int(sys.argv[1]), int(sys.argv[2]), Path(place))
