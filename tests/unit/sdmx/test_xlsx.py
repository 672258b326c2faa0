"""XLSX: representation maps as Fusion writes them, in generated workbooks, and malicious files."""

from __future__ import annotations

import gzip
import io
import time
import zipfile
from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import escape

import pytest

from kafka_replica.sdmx import Format, Urn, read_message, split_message
from kafka_replica.sdmx.errors import MessageError, UnreadableContentError
from kafka_replica.sdmx.formats.xlsx.reading import package, worksheet
from kafka_replica.sdmx.model import RepresentationMap
from support.sdmx.sdmx_corpus import data_of, rows
from support.sdmx.sdmx_json_samples import artefact, message

URN = "urn:sdmx:org.sdmx.infomodel.codelist."
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
HEADER = [["Agency", "A"], ["Id", "RM"], ["Version", "1.0.0"], ["Name", "Map"], ["Name Locale", "fr"]]
BODY = [
    [],
    ["Source"],
    [f"{URN}Codelist=A:CL(1.0)", "String", "--->", f"{URN}ValueList=A:VL(1.0)"],
    [],
    ["A", "B", "--->", "C"],
    ["regex::^S(1|2)$", "B", "--->", r"\1", "2020-01-01", "2024-12-31"],
    ["substr(0,2,IN)", "", "--->", ""],
]


def column(at: int) -> str:
    """Return the name of a column."""
    return chr(ord("A") + at)


def sheet(table: list[list[Any]], shared: list[str] | None = None) -> str:
    """Return a worksheet: numbers as numbers, texts inline or among the shared strings."""
    written = []
    for number, row in enumerate(table, start=1):
        cells = []
        for at, value in enumerate(row):
            place = f'r="{column(at)}{number}"'
            if isinstance(value, int | float):
                cells.append(f"<c {place}><v>{value}</v></c>")
            elif shared is not None and value:
                shared.append(value)
                cells.append(f'<c {place} t="s"><v>{len(shared) - 1}</v></c>')
            elif value:
                cells.append(f'<c {place} t="inlineStr"><is><t>{escape(value)}</t></is></c>')
        written.append(f'<row r="{number}">{"".join(cells)}</row>')
    return f'<worksheet xmlns="{MAIN}"><sheetData>{"".join(written)}</sheetData></worksheet>'


def zipped(parts: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a ZIP file of these parts."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()


def parts_of(*sheets: str, shared: list[str] | None = None) -> dict[str, str | bytes]:
    """Return the parts of a workbook of these worksheets."""
    names = "".join(f'<sheet name="S{i}" sheetId="{i}" r:id="r{i}"/>' for i in range(len(sheets)))
    links = "".join(
        f'<Relationship Id="r{i}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{i}.xml"/>'
        for i in range(len(sheets))
    )
    strings = "".join(f"<si><t>{escape(text)}</t></si>" for text in shared or ())
    return {
        "_rels/.rels": f'<Relationships xmlns="{RELATIONS}"><Relationship Id="b" Type="{OFFICE}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{RELATIONS}">{links}</Relationships>',
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{strings}</sst>',
        **{f"xl/worksheets/sheet{i}.xml": content for i, content in enumerate(sheets)},
    }


def workbook(table: list[list[Any]]) -> bytes:
    """Return a workbook of one worksheet."""
    return zipped(parts_of(sheet(table)))


def only(data: bytes) -> RepresentationMap:
    """Return the only map of a workbook."""
    [found] = read_message(data)
    assert isinstance(found, RepresentationMap)
    return found


def test_a_map_in_a_workbook_is_read() -> None:
    """Header, source and target, values, regular expressions, substrings and dates are read."""
    found = only(workbook(HEADER + BODY))
    assert found.urn == Urn.of("RepresentationMap", "A", "RM", "1.0.0")
    assert dict(found.names) == {"fr": "Map"}
    assert [str(source) for source in found.sources] == [f"{URN}Codelist=A:CL(1.0)", "String"]
    assert [str(target) for target in found.targets] == [f"{URN}ValueList=A:VL(1.0)"]
    plain, pattern, piece = found.mappings
    assert ([source.value for source in plain.sources], plain.targets, plain.valid_from) == (["A", "B"], ("C",), None)
    assert (pattern.sources[0].value, pattern.sources[0].is_reg_ex, pattern.targets) == ("^S(1|2)$", True, (r"\1",))
    assert (pattern.valid_from, pattern.valid_to) == ("2020-01-01", "2024-12-31")
    assert (piece.sources[0].value, piece.sources[0].start_index, piece.sources[0].end_index) == ("IN", 0, 2)
    assert piece.targets == ()
    assert read_message(workbook(HEADER + BODY)).format is Format.XLSX
    assert only(gzip.compress(workbook(HEADER + BODY))) == found


def test_maps_in_xlsx_and_sdmx_json_are_equal() -> None:
    """A map in XLSX and in SDMX-JSON gives equal maps."""
    rows_ = [
        {"sourceValues": [{"value": "A"}, {"value": "B"}], "targetValues": ["C"]},
        {
            "sourceValues": [{"value": "^S(1|2)$", "isRegEx": True}, {"value": "B"}],
            "targetValues": [r"\1"], "validFrom": "2020-01-01", "validTo": "2024-12-31",
        },
        {"sourceValues": [{"value": "IN", "startIndex": 0, "endIndex": 2}, {"value": ""}]},
    ]  # fmt: skip
    ends = {
        "source": [{"codelist": f"{URN}Codelist=A:CL(1.0)"}, {"dataType": "String"}],
        "target": [{"codelist": f"{URN}ValueList=A:VL(1.0)"}],
    }
    written = artefact("RM", names={"fr": "Map"}, representationMappings=rows_, **ends) | {"name": "Map"}
    [twin] = read_message(message({"representationMaps": [written]}))
    assert only(workbook(HEADER + BODY)) == twin


_PROBLEMS = {"UNSAVED": "<f>1/2</f>", "ERROR": "<f>1/0</f><v>#DIV/0!</v>"}


def with_problem(cells: dict[tuple[int, int], str]) -> bytes:
    """Return a workbook of a map in which cells, by row and column from 0, have the problems with these names."""
    table = [[*row, *[""] * (10 - len(row))] for row in HEADER + BODY]
    for (row, at), problem in cells.items():
        table[row][at] = problem
    written = sheet(table)
    for problem, content in _PROBLEMS.items():
        kind = "e" if problem == "ERROR" else "n"
        written = written.replace(f't="inlineStr"><is><t>{problem}</t></is>', f't="{kind}">{content}')
    return zipped(parts_of(written))


@pytest.mark.parametrize(
    "cells",
    [
        {(0, 2): "ERROR", (1, 2): "UNSAVED"},
        {(3, 4): "UNSAVED"},
        {(5, 0): "UNSAVED", (5, 1): "ERROR"},
        {(6, 4): "UNSAVED"},
        {(7, 7): "UNSAVED"},
        {(9, 6): "ERROR", (10, 7): "UNSAVED"},
    ],
)
def test_problems_outside_of_a_map_are_no_errors(cells: dict[tuple[int, int], str]) -> None:
    """Cells outside the values of the header, the source and target, and the mapped values are for readers."""
    assert only(with_problem(cells)) == only(workbook(HEADER + BODY))


@pytest.mark.parametrize("problem", _PROBLEMS)
@pytest.mark.parametrize("cell", [(1, 1), (2, 1), (3, 1), (4, 1), (7, 0), (7, 4), (9, 0), (9, 3), (9, 4), (10, 5)])
def test_problems_in_a_map_are_errors(cell: tuple[int, int], problem: str) -> None:
    """A value of the header, a source or target, and a mapped value or its dates must be known."""
    with pytest.raises(MessageError, match=f"cell {column(cell[1])}{cell[0] + 1}: "):
        read_message(with_problem({cell: problem}))


def test_other_layouts_of_a_workbook_are_read() -> None:
    """Shared strings, other labels, numbers for version and dates, arrows in titles, and other worksheets are read."""
    header: list[list[Any]] = [
        ["Agency ID:", "A"],
        ["ID", "RM"],
        ["Version", 1],
        ["Name", "N", "M"],
        ["Name Locale", "en", "de"],
    ]
    header += [["Start Date", 43831], ["URI", "http://example.org"], ["Annotations", "x"], ["Description", "D"]]
    header += [["Final", "TRUE"]]
    body: list[list[Any]] = [["Source", "--->", "Target", "Valid From", "Valid To"], ["A:CL(1.0)", "--->", "String"]]
    body += [[1, "--->", 2.5, 43831, 43832]]
    shared: list[str] = []
    other = sheet([["ID", "NAME"], ["A", "B"]], shared)
    found = only(zipped(parts_of(other, sheet([*header, [], *body], shared), shared=shared)))
    assert (found.version, found.is_final) == ("1.0", True)
    assert dict(found.names) == {"en": "N", "de": "M"}
    assert (found.valid_from, found.uri, found.description()) == ("2020-01-01", "http://example.org", "D")
    assert dict(found.annotations[0].text) == {"en": "x"}
    assert ([str(source) for source in found.sources], found.targets) == ([f"{URN}Codelist=A:CL(1.0)"], ("String",))
    [row] = found.mappings
    assert (row.sources[0].value, row.targets, row.valid_from, row.valid_to) == (
        "1",
        ("2.5",),
        "2020-01-01",
        "2020-01-02",
    )


def test_a_workbook_of_two_maps_is_refused() -> None:
    """A workbook of one map is its own part; a workbook of two is refused, as workbooks are not split."""
    data = workbook(HEADER + BODY)
    [part] = split_message(data)
    assert (part.urn, part.value, part.content_type) == (only(data).urn, data, Format.XLSX)
    second = [["Agency", "A"], ["Id", "RM2"], *BODY]
    two = zipped(parts_of(sheet(HEADER + BODY), sheet(second)))
    assert [urn.id for urn in read_message(two).artefacts] == ["RM", "RM2"]
    with pytest.raises(UnreadableContentError, match="2 representation maps"):
        split_message(two)


@pytest.mark.parametrize("row", rows(("xlsx", "")))
def test_the_workbook_corpus_equals_the_index(row: dict[str, str]) -> None:
    """The map has as many rows as the index says; a workbook of another kind is refused as such."""
    if not row["maintainables_by_type"]:
        # A template of the World Bank: codelists without agency and version.
        with pytest.raises(UnreadableContentError, match="no worksheet contains a representation map"):
            read_message(data_of(row))
    else:
        assert len(only(data_of(row)).mappings) == int(row["items(codes/concepts/mappings)"])


def of_cell(attributes: str) -> str:
    """Return a worksheet of one cell."""
    return f'<worksheet xmlns="{MAIN}"><row><c {attributes}><v>9</v></c></row></worksheet>'


GOOD = parts_of(sheet(HEADER + BODY))
BOMB = b"<worksheet><sheetData>" + b" " * (65 << 20)
BILLION = (
    '<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>' + sheet(HEADER + BODY)
)  # fmt: skip
HOSTILE: dict[str, Callable[[], bytes]] = {
    "no zip": lambda: b"PK\x03\x04" + b"x" * 100,
    "truncated": lambda: zipped(GOOD)[:-50],
    "another zip": lambda: zipped({"a.txt": "x"}),
    "no worksheet": lambda: zipped({name: text for name, text in GOOD.items() if "sheets/" not in name} | {
        "xl/_rels/workbook.xml.rels": "<Relationships/>"}),
    "bomb": lambda: zipped(GOOD | {"xl/worksheets/sheet0.xml": BOMB}),
    "bomb in strings": lambda: zipped(
        parts_of(sheet(HEADER + BODY, [])) | {"xl/sharedStrings.xml": b"<sst>" + b" " * (65 << 20)}),
    "many parts": lambda: zipped({f"p{i}": "" for i in range(10_001)}),
    "doctype": lambda: zipped(GOOD | {"xl/worksheets/sheet0.xml": BILLION}),
    "doctype in utf-16": lambda: zipped(GOOD | {"xl/worksheets/sheet0.xml": BILLION.encode("utf-16")}),
    "not xml": lambda: zipped(GOOD | {"xl/worksheets/sheet0.xml": "<worksheet><row>"}),
    "deep": lambda: zipped(GOOD | {"xl/worksheets/sheet0.xml": "<row>" * 100_000}),
    "no such string": lambda: zipped(GOOD | {"xl/worksheets/sheet0.xml": of_cell('t="s"')}),
    "bad column": lambda: zipped(GOOD | {"xl/worksheets/sheet0.xml": of_cell('r="ZZZ1"')}),
    "bad version": lambda: workbook([["Agency", "A"], ["Id", "RM"], ["Version", "one"], *BODY]),
    "bad agency": lambda: workbook([["Agency", "A b"], ["Id", "RM"], *BODY]),
    "bad end": lambda: workbook([*HEADER, ["urn:nothing", "--->", "String"]]),
    "no target": lambda: workbook([*HEADER, ["String", "--->"]]),
    "a gap": lambda: workbook([*HEADER, ["String", "", "--->", "String"]]),
    "no saved value": lambda: zipped(GOOD | {
        "xl/worksheets/sheet0.xml": sheet(HEADER + BODY).replace("<is><t>B</t></is>", "<f>A1</f>").replace(
            't="inlineStr"><f>', "><f>")}),
    "two arrows": lambda: workbook([*HEADER, ["String", "--->", "String"], ["a", "b", "--->", "c"]]),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.thorough
def test_each_bad_workbook_is_refused_at_once(name: str) -> None:
    """Each bad input is refused with MessageError at once, in a message of bounded length."""
    data = HOSTILE[name]()
    started = time.thread_time()
    with pytest.raises(MessageError) as caught:
        read_message(data)
    assert time.thread_time() - started < 5
    assert 20 < len(str(caught.value)) < 1000


def test_an_archive_of_messages_is_named_as_such() -> None:
    """The refusal of a ZIP archive of messages says what it contains and what to do; a workbook's does not."""
    with pytest.raises(MessageError, match=r"ZIP archive .* contains 'dsd.xml', 'data.xml' and is not .* extract it"):
        read_message(zipped({"dsd.xml": "<a/>", "data.xml": "<b/>"}))
    with pytest.raises(MessageError, match="no worksheet, so it is not a workbook"):
        read_message(zipped({"[Content_Types].xml": "<Types/>"}))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression_is_refused(method: int) -> None:
    """Only Deflate is decompressed in pieces; the size of a part of another kind would not be limited."""
    with pytest.raises(MessageError, match="it is compressed in another way than usual"):
        read_message(zipped(GOOD, method))


@pytest.mark.thorough
def test_a_size_that_lies() -> None:
    """A part larger than its stated size is refused, and not unpacked beyond that size."""
    data = bytearray(zipped({name: text for name, text in GOOD.items() if "sheet0" not in name} | {
        "xl/worksheets/sheet0.xml": BOMB}))  # fmt: skip
    size = len(BOMB).to_bytes(4, "little")
    at = data.rfind(size)
    data[at : at + 4] = (1000).to_bytes(4, "little")
    with pytest.raises(MessageError, match="sheet0"):
        read_message(bytes(data))


def test_the_limits_on_cells_and_parts_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits on cells and on all parts together hold."""
    data = workbook(HEADER + BODY)
    monkeypatch.setattr(worksheet, "MAX_CELLS", 5)
    with pytest.raises(MessageError, match="more than 5 cells"):
        read_message(data)
    monkeypatch.undo()
    monkeypatch.setattr(package, "MAX_PART", 900)
    with pytest.raises(MessageError, match="decompresses"):
        read_message(data)
