"""Data that cannot be read: the exit status and the message, which names the file and what to do."""

from __future__ import annotations

import gzip
import io
import json
import sys
import zipfile
from pathlib import Path

import cramjam
import pytest

from support.cli.data_runs import FLOW, SAMPLES, Run


def refused(run: Run, data: object, *options: str) -> tuple[int, str]:
    """Return the exit status and the message of a validation that is refused."""
    done = run(
        "validate", data, "--flow", FLOW, "--structures", SAMPLES, "--out", Path(str(data)).parent / "o", *options
    )
    return done.returncode, " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("kind", "reference", "expected_text"),
    [
        ("foo", FLOW, "the kind of the structure is 'foo'; it must be one of dataflow,"),
        ("", FLOW, "the kind of the structure is missing; it must be"),
        ("dataflow", "garbage", "reading the reference 'garbage(*)'"),
    ],
)
def test_an_invalid_reference_is_an_error_with_its_line(
    kind: str, reference: str, expected_text: str, run: Run, tmp_path: Path
) -> None:
    """The error names the file and the line of the first row whose reference is invalid."""
    data, good = tmp_path / "d.csv", f'dataflow,{FLOW},"a\nb"'
    data.write_text("\n".join(["STRUCTURE,STRUCTURE_ID,NOTE", good, good, f"{kind},{reference},", "bar,baz,"]))
    status, message = refused(run, data)
    assert (status, f"reading {data}, line 6: " in message, expected_text in message) == (1, True, True), message


@pytest.mark.parametrize("name", ["m.zip", "d.csv.zip", "d.csv.gz", "d.csv.zst", "d.xml.gz", "d.xml.zst"])
def test_damaged_compressed_files_are_failures_not_wrong_calls(name: str, run: Run, tmp_path: Path) -> None:
    """A truncated file exits with 1, and the message names the file."""
    data, inner = tmp_path / name, f"DIM{list(range(999))}".encode()
    if name.endswith("zip"):
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.csv", inner)
    else:
        packed = gzip.compress(inner) if name.endswith("gz") else bytes(cramjam.zstd.compress(inner))
        data.write_bytes(packed)
    data.write_bytes(data.read_bytes()[:-9])
    status, message = refused(run, data)
    assert (status, f"reading {data}" in message) == (1, True), message


def test_empty_standard_input_is_a_failure(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard input without data exits with 1, as an empty file does."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    done = run("validate", "-", "--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o")
    assert (done.returncode, "it is empty" in done.stderr) == (1, True)


PAGE = "it is an HTML page, not data"


@pytest.mark.parametrize(
    ("content", "expected_text"),
    [
        (b"<?xml version='1.0'?>\n<m:Structure/>", r"it is XML, not CSV; name it *.xml"),
        ("<m:Structure/>".encode("utf-16"), r"it is XML, not CSV; name it *.xml"),
        (b'\xef\xbb\xbf\n{\n  "meta": {}}', r"it is JSON, not CSV; name it *.json"),
        (b'[{"a": 1}]', "it is JSON, not CSV, and not an SDMX-JSON message"),
        (b"UNA:+.? '", r"it is SDMX-EDI, not CSV; name it *.edi"),
        (b"<!DOCTYPE html>\n<html>", PAGE), (b"<html lang='en'>", PAGE),
        (b"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'x'>\n<html>", PAGE),
        (b"PAR1....", "it is Parquet, not CSV"), (b"ARROW1\0\0", "it is Arrow IPC, not CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "it is not CSV: it is an old workbook (.xls), or protected"),
    ],
)  # fmt: skip
def test_another_format_named_csv_is_an_error(content: bytes, expected_text: str, run: Run, tmp_path: Path) -> None:
    """The first bytes of a file show that it is not CSV; the error says how to name it, or what else to do."""
    data = tmp_path / "d.csv"
    data.write_bytes(content)
    status, message = refused(run, data)
    assert (status, f"reading {data}: {expected_text}" in message) == (1, True), message


def test_a_workbook_named_csv_is_an_error(run: Run, tmp_path: Path) -> None:
    """A workbook is not taken for an archive, nor for CSV."""
    data = tmp_path / "d.csv"
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("[Content_Types].xml", "")
    assert "it is a workbook or an archive, not CSV" in refused(run, data)[1]


def test_a_page_from_standard_input_is_an_error(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that a server sends instead of data is recognized."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"<!DOCTYPE html><title>Log in</title>")))
    done = run("validate", "-", "--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o")
    assert (done.returncode, PAGE in " ".join(done.stderr.split())) == (1, True)


@pytest.mark.thorough
@pytest.mark.parametrize("header", ["STRUCTURE,STRUCTURE_ID,NOTE", "FREQ;NOTE"])
@pytest.mark.parametrize("encoding", ["utf-16le", "utf-16be", "utf-32le", "utf-32be"])
def test_an_encoding_without_a_byte_order_mark_is_suggested(
    encoding: str, header: str, run: Run, tmp_path: Path
) -> None:
    """The error names the encoding, with which the file can be read."""
    data = tmp_path / "d.csv"
    for text in (header, f"{header}\n\u00e4\u00f6"):
        data.write_bytes(text.encode(encoding))
        status, message = refused(run, data)
        assert (status, str(data) in message, f"here {encoding}" in message) == (1, True, True), message
    data.write_bytes(f"{header}\n".encode(encoding))
    done = run(
        "validate", data, "--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o2", "--encoding", encoding,
        "--fail-on", "never",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("begin", ["", "STRUCTURE,STRUCTURE_ID,"])
def test_lines_that_end_with_a_carriage_return_alone(begin: str, run: Run, tmp_path: Path) -> None:
    """The error says what the line ends are, and which ones can be read."""
    data = tmp_path / "d.csv"
    data.write_bytes(f"{begin}FREQ,SEX\rA,T\r".encode())
    status, message = refused(run, data)
    expected_text = f"reading {data}: its lines end with a carriage return (CR) alone"
    assert (status, expected_text in message) == (1, True), message


@pytest.mark.parametrize("begin", ["", "STRUCTURE,STRUCTURE_ID,"])
def test_lines_that_end_with_two_carriage_returns(begin: str, run: Run, tmp_path: Path) -> None:
    """CR CR LF is refused, because a CR would become a part of the last cell of each row."""
    data = tmp_path / "d.csv"
    data.write_bytes(f"{begin}FREQ,SEX\r\r\nA,T\r\r\n".encode())
    status, message = refused(run, data)
    expected_text = f"reading {data}: its lines end with CR CR LF, because"
    assert (status, expected_text in message) == (1, True), message


@pytest.mark.thorough
def test_a_message_of_no_known_format(run: Run, tmp_path: Path) -> None:
    """The beginning of the file is shown as text."""
    data = tmp_path / "d.json"
    data.write_bytes(b"[1,\xff]")
    status, message = refused(run, data)
    assert (status, r"it begins with '[1,\\xff]', so it is neither" in message) == (1, True), message
    data.write_bytes(b"")
    status, message = refused(run, data)
    assert (status, f"reading {data}: the file is empty" in message) == (1, True), message


@pytest.mark.thorough
def test_columns_with_blank_titles_are_shown_in_quotes(run: Run, tmp_path: Path) -> None:
    """A finding about a column without a title, or with blanks in it, shows where the title begins and ends."""
    data, found = tmp_path / "d.csv", tmp_path / "f.jsonl"
    data.write_text("FREQ,, SEX\nA,T,T\n")
    run("validate", data, "--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o", "--findings", found)
    expected_text = [json.loads(line)["message"] for line in found.read_text().splitlines()]
    assert "column '' is not a component of the data structure" in expected_text
    assert "column ' SEX' is not a component of the data structure" in expected_text
