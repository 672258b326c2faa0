"""Data files that need far more memory or time than their size, or are damaged, made by functions.

Each is small, or is written piece by piece.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from support.datasets.every_format import FILES, NAMES

Content: TypeAlias = bytes | Iterator[bytes]
_MIB: Final = 1 << 20


def _sample(name: str) -> bytes:
    return FILES[name][1]()


def _parquet(rows: int, groups: int, columns: int = len(NAMES)) -> bytes:
    """Return Parquet with the same text in all rows, which takes some bytes for each row group."""
    text = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int8()), pa.array(["x" * 100]))
    names = [*NAMES, *(f"C{at}" for at in range(columns - len(NAMES)))][:columns]
    table = pa.table([text] * len(names), names=names)
    made = io.BytesIO()
    with pq.ParquetWriter(made, table.schema, compression="zstd") as writer:
        for _ in range(groups):
            writer.write_table(table, row_group_size=rows)
    return made.getvalue()


def _arrow(rows: int, batches: int, *, stream: bool = False) -> bytes:
    """Return a file or stream of Arrow IPC with compressed buffers of zeros."""
    column = pa.array([0] * rows, pa.int64())
    batch = pa.record_batch([column] * 2, names=list(NAMES[:2]))
    made = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    start = pa.ipc.new_stream if stream else pa.ipc.new_file
    with start(made, batch.schema, options=options) as writer:
        for _ in range(batches):
            writer.write_batch(batch)
    return made.getvalue()


def _workbook(part: str, before: bytes, repeated: bytes, count: int, after: bytes) -> bytes:
    """Return a workbook of which one part is replaced by a long one."""
    made = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(_sample("workbook"))) as good,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as bad,
    ):
        for name in good.namelist():
            if name != part:
                bad.writestr(name, good.read(name))
        with bad.open(part, "w", force_zip64=True) as opened:
            opened.write(before)
            for _ in range(count):
                opened.write(repeated)
            opened.write(after)
    return made.getvalue()


def _repeated(before: bytes, repeated: bytes, count: int, after: bytes = b"") -> Iterator[bytes]:
    yield before
    for _ in range(count):
        yield repeated
    yield after


def _ml(body: bytes) -> bytes:
    before, _, after = _sample("SDMX-ML 3.0 flat").partition(b"<Obs ")
    return before + body + after[after.rindex(b"</m:DataSet>") :]


def _around(name: str, mark: bytes) -> tuple[bytes, bytes]:
    before, _, after = _sample(name).partition(mark)
    return before, mark + after


def _edi(*segments: bytes) -> bytes:
    before, _, _ = _sample("SDMX-EDI").partition(b"ARR++")
    return before + b"".join(segments) + b"UNT+1+M1'UNZ+1+I1'"


_SHEET: Final = (
    b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>',
    b"</sheetData></worksheet>",
)
_STRINGS: Final = b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>'
_CSV: Final = ",".join(NAMES).encode() + b"\n"
_BEFORE_ML, _AFTER_ML = _around("SDMX-ML 3.0 flat", b"<Obs ")
_ENTITIES: Final = (
    b'<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;">]>'
)

HOSTILE: Final[dict[str, tuple[str, Callable[[], Content]]]] = {
    "Parquet with 20,000 columns": ("parquet", lambda: _parquet(1_000, 1, 20_000)),
    "Parquet cut off": ("parquet", lambda: _sample("Parquet")[:-40]),
    "Parquet without a footer": ("parquet", lambda: b"PAR1" + bytes(_MIB) + b"\xff\xff\xff\x7fPAR1"),
    "Arrow with 400,000,000 rows": ("arrow", lambda: _arrow(1_000_000, 400)),
    "a stream of Arrow with 400,000,000 rows": ("arrow", lambda: _arrow(1_000_000, 400, stream=True)),
    "Arrow cut off": ("arrow", lambda: _sample("Arrow file")[:-30]),
    "Arrow of a huge message": ("arrow", lambda: b"ARROW1\0\0" + b"\xff\xff\xff\xff\xff\xff\xff\x7f" + bytes(100)),
    "a sheet of blank rows": ("xlsx", lambda: _workbook(
        "xl/worksheets/sheet1.xml", _SHEET[0], b"<row/>" * 100_000, 2_000, _SHEET[1],
    )),
    "one string of a workbook": ("xlsx", lambda: _workbook(
        "xl/sharedStrings.xml", _STRINGS, b"a" * _MIB, 1_500, b"</t></si></sst>",
    )),
    "styles of a workbook": ("xlsx", lambda: _workbook(
        "xl/styles.xml", b'<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs>',
        b"<xf/>" * 100_000, 2_000, b"</cellXfs></styleSheet>",
    )),
    "entities in a workbook": ("xlsx", lambda: _workbook(
        "xl/worksheets/sheet1.xml", _ENTITIES + _SHEET[0], b'<row><c t="str"><v>&c;</v></c></row>', 10, _SHEET[1],
    )),
    "EDI with a range of 100 years of days in each of 5,000 series": ("edi", lambda: _edi(
        *(b"ARR++M:C%d:1900010119991231:711:1'" % at for at in range(5_000))
    )),
    "EDI with 1,000,000 parts in a key": ("edi", lambda: _edi(b"ARR++" + b"M:" * 1_000_000 + b":201401:610:1'")),
    "EDI with one segment without an end": ("edi", lambda: _edi(b"ARR++M:CH:201401:610:" + b"1" * (50 * _MIB))),
    "EDI with 2,000,000 segments": ("edi", lambda: _edi(b"IDE+10+x'" * 2_000_000)),
    "EDI with 200,000 messages": ("edi", lambda: b"UNA:+.? 'UNB+UNOC:3+A+B+200101:0000+I1'" + b"UNH+M1+GESMES:2:1:E6'"
        b"BGM+74'UNT+2+M1'" * 200_000),
    "EDI of release characters": ("edi", lambda: _edi(b"FTX+ACM+++" + b"?" * (30 * _MIB))),
    "CSV with a cell of 300 MiB": ("csv", lambda: _repeated(_CSV + b"M,", b"x" * _MIB, 300, b",2014-01,1,01,all,A\n")),
    "CSV with a quote that is not closed": ("csv", lambda: _repeated(_CSV, b'M,"CH,2014-01,1,01,all,A\n', 1) ),
    "CSV with an open quote before 100 MiB": ("csv", lambda: _repeated(
        _CSV + b'M,"CH,', b"2014-01,1,01,all,A\n" * 50_000, 100,
    )),
    "CSV with 2,000,000 columns": ("csv", lambda: _CSV.strip() + b"".join(
        b",C%d" % at for at in range(2_000_000)
    ) + b"\n"),
    "CSV with 200,000 columns and rows": ("csv", lambda: _CSV.strip() + b"".join(b",C%d" % at for at in range(200_000))
        + b"\n" + (b"x," * 200_006 + b"x\n") * 20),
    "CSV with a header of 200 MiB": ("csv", lambda: _repeated(b"FREQ", b"x" * _MIB, 200)),
    "CSV of zero bytes": ("csv", lambda: _CSV + bytes(50 * _MIB)),
    "CSV in UTF-16 without a mark": ("csv", lambda: _sample("plain CSV").decode().encode("utf-16-le")),
    "CSV in UTF-32": ("csv", lambda: _sample("plain CSV").decode().encode("utf-32")),
    "CSV in UTF-16 cut off": ("csv", lambda: _sample("plain CSV").decode().encode("utf-16")[:-1]),
    "CSV in two encodings": ("csv", lambda: _sample("plain CSV") + "M,Zürich,2014,1,1,a,A\n".encode("cp1252")),
    "XML nested 1,000,000 times": ("message", lambda: _repeated(_BEFORE_ML, b"<a>", 1_000_000)),
    "XML with an attribute of 300 MiB": ("message", lambda: _repeated(
        _BEFORE_ML + b'<Obs FREQ="', b"x" * _MIB, 300, b'"/>' + _AFTER_ML,
    )),
    "XML with 1,000,000 attributes": ("message", lambda: _BEFORE_ML + b"<Obs " + b" ".join(
        b'a%d="1"' % at for at in range(1_000_000)
    ) + b"/>" + _AFTER_ML),
    "XML with 1,000,000 names": ("message", lambda: _BEFORE_ML + b"".join(
        b"<a%d/>" % at for at in range(1_000_000)
    ) + _AFTER_ML),
    "XML with entities": ("message", lambda: _ENTITIES + _BEFORE_ML + _AFTER_ML.replace(b"CH", b"&c;")),
    "XML with 200,000 namespaces": ("message", lambda: _BEFORE_ML + b"".join(
        b'<a xmlns:n%d="u"/>' % at for at in range(200_000)
    ) + _AFTER_ML),
    "XML with a text of 300 MiB": ("message", lambda: _repeated(
        _BEFORE_ML + b'<Obs FREQ="M"><Comp id="A"><Value>', b"x" * _MIB, 300, b"</Value></Comp></Obs>" + _AFTER_ML,
    )),
    "XML with a group in 100,000 series and as many groups": ("message", lambda: _BEFORE_ML + b"".join(
        b'<Group AREA="A%d" NOTE="x"/>' % at for at in range(100_000)
    ) + b"".join(b'<Series FREQ="M" AREA="A%d"/>' % at for at in range(100_000)) + _AFTER_ML),
    "JSON nested 1,000,000 times": ("message", lambda: b'{"data":' + b"[" * 1_000_000),
    "JSON with a number of 10,000,000 digits": ("message", lambda: _sample("SDMX-JSON 2.0").replace(
        b"12.40", b"1" * 10_000_000,
    )),
    "JSON with an exponent": ("message", lambda: _sample("SDMX-JSON 2.0").replace(b"12.40", b"1e999999999")),
    "JSON with 1,000,000 groups": ("message", lambda: _sample("SDMX-JSON 2.0").replace(
        b'"series": {"0:0"', b'"dimensionGroupAttributes": {' + b",".join(
            b'"%d::": [0]' % at for at in range(1_000_000)
        ) + b'}, "series": {"0:0"',
    )),
    "JSON with a key of 50 MiB": ("message", lambda: _sample("SDMX-JSON 2.0").replace(
        b'"series": {"0:0"', b'"series": {"' + b"0:" * (25 * _MIB) + b'"',
    )),
}  # fmt: skip
"""The extension of each file, or ``message``, and what makes it."""


def write_hostile(name: str, folder: Path) -> tuple[str, Path]:
    """Write a file, and return its kind of source and its path."""
    kind, made = HOSTILE[name]
    content = made()
    path = folder / f"file.{kind}"
    with path.open("wb") as file:
        for piece in [content] if isinstance(content, bytes) else content:
            file.write(piece)
    return ("message" if kind == "edi" else kind), path
