"""Look-ups in files without a broker: files, folders, patterns and file objects of every format; errors listed."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pytest

from kafka_replica.errors import UsageError
from kafka_replica.sdmx import FileStructures, Structures, Urn, read_files
from kafka_replica.sdmx.errors import ArtefactNotFoundError
from kafka_replica.sdmx.files.structure_files import files_of, read_structures
from kafka_replica.sdmx.samples import sample_files
from support.paths import CORPUS
from support.sdmx.sdmx_corpus import data_of, rows
from support.sdmx.sdmx_json_samples import URN, artefact, message, named

BAD = {"codelistExtensions": [{"inclusiveCodeSelection": {"memberValues": ["X"]}}]}


def lists(*ids: str, code: str = "A", bad: str | None = None) -> bytes:
    """Return a message of codelists, one of which cannot be read."""
    return message({"codelists": [
        artefact(id_, codes=[named(code)], **(BAD if id_ == bad else {})) for id_ in ids
    ]})  # fmt: skip


def ids(structures: Structures) -> list[str]:
    """Return the ids of all artefacts."""
    return [structure.id for structure in structures]


def test_files_of_every_kind_of_source(tmp_path: Path) -> None:
    """A file, a folder, a pattern, file objects and packed files are read; other files of a folder are skipped."""
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "one.json").write_bytes(lists("ONE"))
    (tmp_path / "deep" / "two.json").write_bytes(lists("TWO"))
    (tmp_path / "deep" / "er" / "three.json.gz").write_bytes(gzip.compress(lists("THREE")))
    (tmp_path / "deep" / "notes.txt").write_text("no structures")
    assert ids(read_files(tmp_path / "one.json")) == ["ONE"]
    assert ids(read_files(str(tmp_path))) == ["ONE", "THREE", "TWO"]
    assert ids(read_files(tmp_path / "one.json", tmp_path / "deep")) == ["ONE", "THREE", "TWO"]
    assert ids(read_files(tmp_path / "*.json")) == ["ONE"]
    assert ids(read_files(str(tmp_path / "**" / "*.json"))) == ["ONE", "TWO"]
    assert ids(read_files(tmp_path / "d??p")) == ["THREE", "TWO"]
    everything = read_files(tmp_path / "**" / "*[nz]", tmp_path)
    assert (ids(everything), everything.contents.replaced) == (["ONE", "THREE", "TWO"], [])
    with (tmp_path / "one.json").open("rb") as opened:
        assert ids(read_files(opened, io.BytesIO(lists("FOUR")))) == ["FOUR", "ONE"]
    odd = tmp_path / "[1] *.json"
    odd.write_bytes(lists("ODD"))
    assert ids(read_files(odd)) == ["ODD"]
    assert ids(read_files()) == []


def test_errors_are_listed(tmp_path: Path) -> None:
    """A damaged file and an unreadable artefact do not affect others; each error names its file."""
    (tmp_path / "a.json").write_bytes(lists("GOOD", "BAD", bad="BAD"))
    (tmp_path / "b.json").write_bytes(lists("HALF")[:-9])
    (tmp_path / "c.xml").write_bytes(b"<html/>")
    found = read_files(tmp_path, io.BytesIO(b"{}"))
    assert ids(found) == ["GOOD"]
    assert {(error.file.name, error.urn and error.urn.id) for error in found.errors} == {
        ("a.json", "BAD"), ("b.json", None), ("c.xml", None), ("<file object 2>", None)}  # fmt: skip
    assert all(str(error).startswith(f"{error.file}: ") and error.reason for error in found.errors)
    with pytest.raises(ArtefactNotFoundError):
        found.codelist("A:BAD(1.0.0)")
    assert found.dangling_references().is_complete
    assert isinstance(found, FileStructures)
    assert read_files(*sample_files()).errors == ()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The error names what is missing; a text file object is refused."""
    with pytest.raises(UsageError, match=r"no file or folder .*nothing"):
        read_files(tmp_path / "nothing.xml")
    with pytest.raises(UsageError, match=r"no file or folder matches .*\*\.xml"):
        read_files(tmp_path / "*.xml")
    texts: Any = io.StringIO("{}")
    with pytest.raises(UsageError, match="open it in binary mode"):
        read_files(texts)


def test_the_last_file_counts(tmp_path: Path) -> None:
    """The last copy of an artefact in two files counts; the replaced copy is reported."""
    (tmp_path / "a.json").write_bytes(lists("L", code="OLD"))
    (tmp_path / "b.json").write_bytes(lists("L", code="NEW"))
    assert list(read_files(tmp_path).codelist("A:L(1.0.0)").codes) == ["NEW"]
    found = read_files(tmp_path / "b.json", tmp_path / "a.json")
    assert list(found.codelist("A:L(1.0.0)").codes) == ["OLD"]
    urn = Urn.parse(f"{URN}codelist.Codelist=A:L(1.0.0)")
    assert found.contents.replaced == [(urn, tmp_path / "a.json")]


def test_all_look_ups_work_on_files() -> None:
    """References, resolution, constraints, version rules and refreshing work as in a version of a replica."""
    found = read_files(*sample_files())
    assert found.version == 1
    assert found.codelist("SDMX:CL_FREQ(+)").codes["A"].name("en") == "Annual"
    flow = found.resolve("KR_DEMO:LABOUR(1.0)")
    assert flow.components["FREQ"].allowed_ids() == flow.components["FREQ"].listed_ids()
    assert found.ancestors("urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_FREQ(2.1)")
    assert len(found.moved_to(found._snapshot)) == len(found) == 15
    assert len(found._snapshot) == 15  # type: ignore[arg-type]


@pytest.mark.thorough
@pytest.mark.parametrize("row", rows(
    ("fusion-json", ""), ("sdmx-ml", "1.0"), ("sdmx-ml", "2.0"), ("sdmx-ml", "2.1"), ("sdmx-ml", "3.0"),
    ("sdmx-ml", "3.1"), ("sdmx-json", "1.0"), ("sdmx-json", "2.0"), ("sdmx-json", "2.1"), ("sdmx-edi", ""),
    ("xlsx", ""),
))  # fmt: skip
def test_published_files_are_found_byte_for_byte(row: dict[str, str]) -> None:
    """Every artefact that publishing accepts from a file is found byte for byte; all others are errors."""
    file = CORPUS / row["file"]
    found = read_files(file)
    published = read_structures(files_of([file]), skip_unreadable=True)
    assert list(found) == sorted(published.parts)
    assert [record.value for key in found._snapshot if (record := found._snapshot.get(key))] == [
        part.value for part in published.parts.values()]  # fmt: skip
    assert len(found.errors) == len(published.rejected) + len(published.left_out)
    for urn in found:
        assert found.get(urn).urn == urn
    assert found.unreadable_records() == {}
    assert ids(read_files(io.BytesIO(data_of(row)))) == ids(found)


@pytest.mark.parametrize("row", rows(("sdmx-ml", "2.1"))[:1])
@pytest.mark.thorough
def test_the_whole_corpus_at_once(row: dict[str, str] | None) -> None:
    """All files of the corpus as one version can be read, and queries work."""
    assert row is not None
    found = read_files(CORPUS / "sdmx-ml-*" / "*.xml", CORPUS / "*json*" / "*.json")
    assert len(found) > 300
    assert found.errors == ()
    freq = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_FREQ(~)"
    assert found.parents(freq).is_complete
    assert len(found.ancestors(freq)) >= len(found.parents(freq)) > 0
