"""The starting points of mutations: our own samples of every format and class."""

from __future__ import annotations

import io
import runpy
from functools import cache
from pathlib import Path
from typing import Any, Final

import xlsxwriter  # type: ignore[import-untyped]

from kafka_replica.sdmx.samples import sample_files

ROOT: Final = Path(__file__).resolve().parents[2]
_DATA: Final = ROOT / "tests" / "support" / "sdmx" / "data"
_URN: Final = "urn:sdmx:org.sdmx.infomodel."

WORKBOOK: Final[list[list[str]]] = [
    ["Agency", "A"], ["Id", "RM"], ["Version", "1.0.0"], ["Name", "Map"], [], ["Source"],
    [f"{_URN}codelist.Codelist=A:CL(1.0)", "String", "--->", f"{_URN}codelist.ValueList=A:VL(1.0)"], [],
    ["A", "B", "--->", "C"], ["regex::^S(1|2)$", "B", "--->", r"\1", "2020-01-01", "2024-12-31"],
]  # fmt: skip
"""A representation map as Fusion writes it, row by row."""

URNS: Final = (
    f"{_URN}codelist.Codelist=SDMX:CL_FREQ(2.1)",
    f"{_URN}codelist.Code=SDMX:CL_FREQ(2.1).A",
    f"{_URN}categoryscheme.Category=A.B:CATS(1.0.0-draft).X.Y",
    f"{_URN}datastructure.DataStructure=A:DSD(1+.0)",
)


@cache
def samples_of(format_: str) -> tuple[bytes, ...]:
    """Return the samples of a format: ml, ml20, ml10, edi, sdmx_json, fusion or xlsx."""
    if format_ == "sdmx_json":
        return (_sdmx_json(),)
    if format_ == "xlsx":
        return (workbook(WORKBOOK),)
    marks = {
        "ml": (".sdmx21.xml", ".sdmx30.xml", ".sdmx31.xml"), "ml20": (".sdmx20.xml",), "ml10": (".sdmx10.xml",),
        "edi": (".edi",), "fusion": (".fusion.json",),
    }[format_]  # fmt: skip
    files = [*sorted(_DATA.iterdir()), *sample_files()]
    return tuple(Path(str(file)).read_bytes() for file in files if str(file).endswith(marks))


def _sdmx_json() -> bytes:
    made: dict[str, Any] = runpy.run_path(str(ROOT / "tests" / "support" / "sdmx" / "sdmx_json_samples.py"))
    written: bytes = made["message"](made["SAMPLE"])
    return written


def workbook(rows: list[list[str]]) -> bytes:
    """Return a workbook of one sheet."""
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    sheet = book.add_worksheet()
    for number, row in enumerate(rows):
        for at, text in enumerate(row):
            sheet.write_string(number, at, text)
    book.close()
    return file.getvalue()
