"""Data as files, archives, compressed files and standard input: the same rows, and clear errors."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cramjam
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files import archives, decompression_limit
from kafka_replica.data.files.content import read_content
from kafka_replica.data.jobs import artefact_of, separators_in_words, sources_of
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.polars.parquet_rows import open_parquet
from kafka_replica.data.polars.source_rows import BatchSize
from kafka_replica.errors import UsageError

CSV = b"DIM_1,DIM_2,OBS_VALUE\nA,B,1\n"
MESSAGE = b'{"structure": {"dimensions": {}}, "dataSets": []}'


def zipped(method: int = zipfile.ZIP_DEFLATED, /, **files: bytes) -> bytes:
    """Return a zip archive; two underscores in names become a dot."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "."), data)
    return made.getvalue()


def zstd(data: bytes) -> bytes:
    """Return data compressed with zstd."""
    return bytes(cramjam.zstd.compress(data))


def zipped_once(data: bytes) -> bytes:
    """Return an archive of one file."""
    return zipped(data__csv=data)


PACKED: list[tuple[str, Callable[[bytes], bytes]]] = [("gz", gzip.compress), ("zst", zstd), ("zip", zipped_once)]


@pytest.mark.parametrize(("suffix", "packed"), PACKED, ids=[suffix for suffix, _ in PACKED])
def test_the_first_bytes_show_the_compression(suffix: str, packed: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """The first bytes of a file show how it is compressed; the rest of its name shows its kind."""
    file = tmp_path / f"data.csv.{suffix}"
    file.write_bytes(packed(CSV))
    (source,) = sources_of([str(file)])
    assert (source.kind, source.read(), source.is_packed, source.separator) == ("csv", CSV, True, ",")
    file.write_bytes(packed(CSV)[:-6])
    with pytest.raises(DatasetError, match=r"reading .*data\.csv"):
        sources_of([str(file)])[0].read()


@pytest.mark.parametrize(
    "data", [gzip.compress(CSV[:9]) + gzip.compress(CSV[9:]) + b"\0" * 7, zstd(CSV[:9]) + zstd(CSV[9:])]
)
def test_concatenated_compressed_parts_are_read_as_one_file(data: bytes, tmp_path: Path) -> None:
    """Compressed files that were written one behind the other are read as one."""
    file = tmp_path / "data"
    file.write_bytes(data)
    assert read_content(file) == CSV


@pytest.mark.parametrize(("suffix", "packed"), PACKED, ids=[suffix for suffix, _ in PACKED])
@pytest.mark.thorough
def test_a_compression_bomb_is_refused_without_unpacking_it(
    suffix: str, packed: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data that would be far larger than data usually is is refused, without unpacking all of it."""
    monkeypatch.setattr(decompression_limit, "_ALWAYS_ALLOWED", 1 << 20)
    file = tmp_path / f"data.csv.{suffix}"
    zeros = bytes(50 << 20)
    file.write_bytes(packed(zeros))
    allowed = decompression_limit.decompression_limit(file.stat().st_size)
    assert allowed < len(zeros)
    with pytest.raises(DatasetError, match="decompressed, it has more than"):
        read_content(file)


@pytest.mark.thorough
def test_a_row_group_of_parquet_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row groups are read as a whole, so each is limited according to the footer, before it is decompressed."""
    monkeypatch.setattr(decompression_limit, "_ALWAYS_ALLOWED", 1 << 20)
    file = tmp_path / "data.parquet"
    table = pa.table({"A": pa.array([0] * 400_000, pa.int64())})
    for rows_in_group, is_refused in ((100_000, False), (400_000, True)):
        pq.write_table(table, file, compression="zstd", use_dictionary=False, row_group_size=rows_in_group)
        if is_refused:
            with pytest.raises(DatasetError, match=r"data\.parquet: row group 0 expands to 3,\d{3},\d{3} bytes"):
                open_parquet(Source("parquet", str(file)), None, tmp_path, BatchSize())
        else:
            assert open_parquet(Source("parquet", str(file)), None, tmp_path, BatchSize()).empty_frame.columns == ["A"]


def test_folders_and_archives(tmp_path: Path) -> None:
    """A folder and an archive may hold files of several kinds, each a source of its own; hidden files are left out."""
    files = {"b__csv": CSV, "a__json": MESSAGE, "_c__csv": CSV, "sub/d__csv__gz": gzip.compress(CSV), "e__md": b""}
    (tmp_path / "z.zip").write_bytes(zipped(**files))
    for name, data in files.items():
        file = tmp_path / "folder" / name.replace("__", ".")
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_bytes(data)
    archived, unpacked = sources_of([str(tmp_path / "z.zip")]), sources_of([str(tmp_path / "folder")])
    assert [source.kind for source in archived] == ["message", "csv", "csv"]
    assert [source.read() for source in archived] == [MESSAGE, CSV, CSV] == [source.read() for source in unpacked]
    assert archived[2].path == f"{tmp_path / 'z.zip'}!/sub/d.csv.gz"
    assert [source.path for source in sources_of([str(tmp_path)])] == [
        *(source.path for source in unpacked), *(source.path for source in archived),
    ]  # fmt: skip
    with pytest.raises(UsageError, match=r"name one, as in .*z\.zip!/b\.csv"):
        read_content(tmp_path / "z.zip")
    with pytest.raises(UsageError, match="the file is not in the archive"):
        read_content(f"{tmp_path / 'z.zip'}!/x.csv")


STRUCTURES = (
    b'\xef\xbb\xbf<?xml version="1.0"?><!-- a --><m:Structure xmlns:m="urn:m"/>',
    "<Structure>".encode("utf-16"),
    b'{"meta": {"schema": "https://json.sdmx.org/2.0.0/sdmx-json-structure-schema.json"}, "data": {}}',
    b'<?xml version="1.0"?>\n<!-- a --><!DOCTYPE Structure>\n<Structure>',
    b'<!DOCTYPE m:Structure SYSTEM "a.dtd" [<!ENTITY b "]c"><!-- > -->\n] >\n<?d?><m:Structure xmlns:m="urn:m"/>',
)


@pytest.mark.parametrize(
    "structure", STRUCTURES, ids=["SDMX-ML", "SDMX-ML in UTF-16", "SDMX-JSON", "a bare DTD", "an internal DTD"]
)
def test_structures_that_come_with_the_data_are_left_out(structure: bytes, tmp_path: Path) -> None:
    """A structure message next to data, in a folder or an archive, is left out with a note; other files are, too."""
    data = b"<!-- <Structure> --><!DOCTYPE Structure><CompactData><Structure/></CompactData>"
    (tmp_path / "z.zip").write_bytes(zipped(a__xml=data, b__xml=structure, c__md=b""))
    (tmp_path / "folder").mkdir()
    for name, content_ in (("a.xml", data), ("b.xml", structure), ("c.md", b"")):
        (tmp_path / "folder" / name).write_bytes(content_)
    for path, between in ((tmp_path / "z.zip", "!/"), (tmp_path / "folder", "/")):
        notes: list[str] = []
        assert [source.path for source in sources_of([str(path)], notes.append)] == [f"{path}{between}a.xml"]
        assert notes == [
            f"{path}{between}b.xml is left out: it is a structure message",
            f"{path}{between}c.md is left out: its name does not state a format of data",
        ]
    assert [source.kind for source in sources_of([str(tmp_path / "folder" / "b.xml")])] == ["message"]


def test_both_extensions_of_sdmx_edi_are_known(tmp_path: Path) -> None:
    """Central banks and Eurostat's tools name files of GESMES/TS ``.ges``, too."""
    for name in ("a.edi", "b.GES"):
        (tmp_path / name).write_bytes(b"UNB+UNOC:3'")
    assert [source.kind for source in sources_of([str(tmp_path)])] == ["message", "message"]


def test_archives_that_are_refused(tmp_path: Path) -> None:
    """An archive without data, in an archive, or with a password is refused."""
    file = tmp_path / "z.zip"
    for data, kind, expected_text in (
        (zipped(a__md=b""), UsageError, r"it contains no file named \*.csv"),
        (zipped_once(zipped_once(CSV)), DatasetError, "an archive within an archive"),
        (
            zipped(x__csv=CSV, a__ZIP=zipped_once(CSV)),
            DatasetError,
            r"z\.zip!/a\.ZIP: it is an archive within an archive",
        ),
        (zipped(x__csv=CSV)[:-6], DatasetError, "the archive is damaged"),
        (zipped(x__csv=CSV, y__csv=CSV).replace(b"y.csv", b"x.csv"), DatasetError, r"2 files called x\.csv"),
        (zipped(zipfile.ZIP_BZIP2, x__csv=CSV), DatasetError, r"z\.zip!/x\.csv: it is compressed in another way"),
        (zipped(zipfile.ZIP_LZMA, x__csv=CSV), DatasetError, r"z\.zip!/x\.csv: it is compressed in another way"),
        (CSV, DatasetError, "the archive is damaged"),
    ):
        file.write_bytes(data)
        with pytest.raises(kind, match=expected_text):
            sources_of([str(file)])[0].read()
    locked = bytearray(zipped_once(CSV))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(mark) + place] |= 1
    file.write_bytes(locked)
    with pytest.raises(DatasetError, match="encrypted"):
        read_content(file)


def test_the_directory_of_an_archive_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kinds of all files are found with one opening of the archive; archives of very many files are refused."""
    file = tmp_path / "z.zip"
    file.write_bytes(zipped(**{f"{number}__csv": CSV for number in range(20)}))
    openings: list[object] = []
    opening = zipfile.ZipFile.__init__

    def noted(self: zipfile.ZipFile, *args: Any, **settings: Any) -> None:
        openings.append(args)
        opening(self, *args, **settings)

    monkeypatch.setattr(zipfile.ZipFile, "__init__", noted)
    assert len(sources_of([str(file)])) == 20
    assert len(openings) == 1
    monkeypatch.setattr(archives, "_MOST_ENTRIES", 19)
    with pytest.raises(DatasetError, match="it has more than 19 files; unpack it"):
        sources_of([str(file)])


def test_a_folder_whose_name_ends_as_the_name_of_an_archive(tmp_path: Path) -> None:
    """A folder called ``a!`` is not taken for an archive, though ``!/`` follows the name of an archive in a path."""
    folder = tmp_path / "a!"
    folder.mkdir()
    (folder / "data.csv").write_bytes(CSV)
    (folder / "z.zip").write_bytes(zipped(x__csv=CSV))
    assert [source.read() for source in sources_of([str(folder)])] == [CSV, CSV]
    assert [source.read() for source in sources_of([str(folder / "data.csv")])] == [CSV]


def _parquet() -> bytes:
    made = io.BytesIO()
    pl.DataFrame({"A": ["a"]}).write_parquet(made)
    return made.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (CSV, "csv"), (b"STRUCTURE,STRUCTURE_ID\n", "sdmx-csv"), (MESSAGE, "message"),
        (b"STRUCTURE#STRUCTURE_ID#FREQ\n", "sdmx-csv"), (b"\r\n\nSTRUCTURE,STRUCTURE_ID\n", "sdmx-csv"),
        (b'"STRUCTURE[;]"^"STRUCTURE_ID"\n', "sdmx-csv"), (b"\nDATAFLOW;FREQ\n", "sdmx-csv"),
        (b"STRUCTURE OF COSTS,FREQ\n", "csv"), (b"STRUCTURES,FREQ\n", "csv"), (b"DATAFLOW: Dataflow,FREQ\n", "csv"),
        (b"\xef\xbb\xbf <x/>", "message"), (gzip.compress(MESSAGE), "message"), (zipped_once(CSV), "csv"),
        (_parquet(), "parquet"), ("A;B\n".encode("utf-16"), "csv"),
    ],
)  # fmt: skip
def test_the_first_bytes_of_standard_input_show_its_kind(
    data: bytes, kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Data on standard input has the kind that its first bytes show, also if it is compressed."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    (source,) = sources_of(["-"])
    assert (source.kind, source.path, source.is_packed) == (kind, "-", True)
    (tmp_path / "data").write_bytes(data)
    assert source.read() == read_content(tmp_path / "data")


@pytest.mark.parametrize(
    "content",
    [
        "STRUCTURE,STRUCTURE_ID,A\ndataflow,T:F(1.0),1\n",
        "\n\r\nSTRUCTURE;STRUCTURE_ID;A\n\r\n\ndataflow;T:F(1.0);1\n",
        "\ufeff\nSTRUCTURE#STRUCTURE_ID#A\ndataflow#T:F(1.0)#1\n", "\nDATAFLOW,A\n\nT:F(1.0),1\n",
        '"STRUCTURE","STRUCTURE_ID"\n"STRUCTURE","STRUCTURE_ID"\n\n\ufeff"STRUCTURE","STRUCTURE_ID"\ndataflow,T:F(1.0)\n',
        "DATAFLOW,A\nDATAFLOW,A\nT:F(1.0),1\n", "STRUCTURE,STRUCTURE_ID,A:One\ndataflow,T:F(1.0):The flow (new),1\n",
        "DATAFLOW,A: One\nT:F(1.0): The flow: x,1\n",
    ],
)  # fmt: skip
def test_the_structure_that_the_first_row_names(content: str, tmp_path: Path) -> None:
    """Blank lines, and headers of files that were joined, are left out, as when the rows are read; and so are names."""
    file = tmp_path / "data.csv"
    file.write_text(content, encoding="utf-8", newline="")
    (source,) = sources_of([str(file)])
    assert str(artefact_of(source).reference) == "T:F(1.0)"


def test_empty_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty standard input, as of a program that failed, is an error."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(DatasetError, match="it is empty"):
        sources_of(["-"])


@pytest.mark.parametrize(
    ("header", "separator"),
    [
        ("A,B;C,D", ","), ("A;B", ";"), ("A\tB\r", "\t"), ("A|B", "|"), ("A", ","), ('"A;B";C', ";"),
        ("A, x y;B;C", ";"), ('"A,B;C"', ","),
    ],
)  # fmt: skip
def test_the_separator_with_the_most_components_is_chosen(header: str, separator: str, tmp_path: Path) -> None:
    """The separator of plain CSV is the one that makes the most columns look like components, and is reported."""
    file = tmp_path / "data.csv"
    file.write_text(f"{header}\n1;2,3;4,5;6\n")
    (source,) = sources_of([str(file)])
    assert source.separator == separator
    assert list(separators_in_words([source])) == ([] if separator == "," else [
        f"{file}: cells are separated by " + {";": "semicolons", "\t": "tabs", "|": "vertical bars"}[separator]
    ])  # fmt: skip


@pytest.mark.thorough
def test_damaged_compressed_files_are_errors_of_the_package(tmp_path: Path) -> None:
    """Damaged compressed files give errors of the package."""
    file = tmp_path / "data.csv.gz"
    for _, packed in PACKED:
        whole = packed(CSV * 50)
        for place in range(4, len(whole), 3):
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
            try:
                read_content(file)
            except DatasetError as error:
                assert str(file) in str(error)  # noqa: PT017
