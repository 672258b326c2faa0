"""Uploaded files of every kind: recognized by their content, unpacked within the limit, and validated like others."""

from __future__ import annotations

import gzip
import io
import random
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka_replica.data.errors import DatasetError
from kafka_replica.errors import KafkaReplicaError
from kafka_replica.sdmx import Structures
from kafka_replica.server.data.options import VALIDATE_OPTIONS, options_of
from kafka_replica.server.data.processing import validate_file
from kafka_replica.server.data.uploaded_file import TooLargeError, UploadedFile
from support.datasets.every_format import FILES, STRUCTURE
from support.effort import examples
from support.rules.structures_by_hand import FLOWS, version_of

LIMIT = 100_000
SUFFIXES = {"csv": ".csv", "tsv": ".csv", "xml": ".xml", "json": ".json", "edi": ".edi", "xlsx": ".xlsx"}
READ = [name for name, (suffix, _) in FILES.items() if suffix in SUFFIXES]
STRUCTURES = Structures(version_of(STRUCTURE, FLOWS))


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def received(folder: Path, data: bytes, limit: int = LIMIT) -> Path:
    """Return the file of an upload that comes in pieces."""
    folder.mkdir(exist_ok=True)
    file = UploadedFile(folder, limit)
    try:
        for start in range(0, len(data), 1000):
            file.write(data[start : start + 1000])
        return file.finish()
    finally:
        file.close()


def counted(path: Path) -> tuple[int, int, Any]:
    """Return the numbers of accepted and rejected rows, and of findings by rule."""
    out = path.with_name("out")
    out.mkdir()
    options = options_of((("structure", "T:F(1.0)"),), VALIDATE_OPTIONS)
    outcome = validate_file(path, options, STRUCTURES, out).outcome
    return outcome.good_rows, outcome.rejected_rows, outcome.report.counts


@pytest.mark.thorough
@pytest.mark.parametrize("name", READ)
def test_each_kind_is_read_as_it_is_with_gzip_and_in_an_archive(name: str, tmp_path: Path) -> None:
    """The suffix shows the kind; all three have the same result, and three rows."""
    suffix, made = FILES[name]
    content, results = made(), []
    forms = (content, gzip.compress(content), zipped({"__MACOSX/x": b"", "a/data.bin": content}))
    for number, data in enumerate(forms):
        if suffix == "xlsx" and number == 2:
            with pytest.raises(DatasetError, match="archive in an archive"):
                received(tmp_path / str(number), data)
            continue
        path = received(tmp_path / str(number), data)
        assert path.suffix == SUFFIXES[suffix]
        results.append(counted(path))
    assert results[0][0] + results[0][1] >= 3
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize("name", ["Parquet", "Arrow file"])
def test_files_that_may_have_any_number_of_rows_are_refused(name: str, tmp_path: Path) -> None:
    """Formats whose rows cannot be limited are refused, alone and in an archive."""
    content = FILES[name][1]()
    for number, data in enumerate((content, zipped({"data.csv": content}))):
        with pytest.raises(DatasetError, match="is not accepted"):
            received(tmp_path / str(number), data)


@pytest.mark.thorough
def test_bombs_are_refused(tmp_path: Path) -> None:
    """Nothing larger than the limit is written or promised; directories with very many names are not read."""
    large = b"0" * (LIMIT + 1)
    book = zipped({"[Content_Types].xml": b"x", "xl/worksheets/sheet1.xml": large})
    for number, data in enumerate((zipped({"data.csv": large}), book)):
        with pytest.raises(TooLargeError):
            received(tmp_path / f"large{number}", data)
    many = zipped({"x" * 200 + str(number): b"" for number in range(6000)}, zipfile.ZIP_STORED)
    with pytest.raises(DatasetError, match="too many files"):
        received(tmp_path / "many", many, 2 * len(many))
    hidden = many[:-22] + many[-22:].replace(b"PK\5\6", b"PK\5\6", 1)[:12] + b"\0\0\0\0" + many[-6:]
    with pytest.raises(DatasetError):  # the end states another size than the directory has
        received(tmp_path / "hidden", hidden, 2 * len(many))


SMALL = b"DATAFLOW,A\n"
DAMAGED = bytearray(zipped({"data.csv": SMALL * 100}))
DAMAGED[50] ^= 255


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (zipped({"a.csv": SMALL, "b.csv": SMALL}), "2 files"), (zipped({".a": SMALL}), "0 files"),
        (zipped({"a.csv": SMALL}, zipfile.ZIP_BZIP2), "another way"),
        (zipped({"[Content_Types].xml": SMALL}, zipfile.ZIP_LZMA), "another way"),
        (zipped({"a": zipped({"b": SMALL})}), "in an archive"), (zipped({"a.csv": b""}), "no data"),
        (bytes(DAMAGED), "damaged"), (zipped({"a": SMALL})[:-9], "damaged"),
        (zipped({"a": gzip.compress(SMALL)}), "twice"),
    ],
)  # fmt: skip
def test_odd_archives_are_refused_with_the_reason(data: bytes, reason: str, tmp_path: Path) -> None:
    """Several files, none, other compression, archives in archives, and damage."""
    with pytest.raises(DatasetError, match=reason):
        received(tmp_path, data)


@settings(max_examples=examples(200), deadline=None)
@example(seed=995, count=2)  # the directory names a place before the beginning of the file
@given(seed=st.integers(0, 1 << 32), count=st.integers(1, 4))
@pytest.mark.thorough
def test_damaged_archives_are_read_or_refused(seed: int, count: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever bytes differ, there is no other error."""
    chance = random.Random(seed)
    data = bytearray(chance.choice((zipped({"data.csv": SMALL * 20}), FILES["workbook"][1]())))
    for _ in range(count):
        data[chance.randrange(4, len(data))] = chance.randrange(256)
    folder = tmp_path_factory.mktemp("upload")
    try:
        path = received(folder, bytes(data))
        if path.suffix == ".xlsx":
            counted(path)
    except (KafkaReplicaError, TooLargeError):
        pass
