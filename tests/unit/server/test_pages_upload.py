"""The upload pages: forms without scripts, reports that agree with the commands, and refusals that say why."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from kafka_replica import Replica
from kafka_replica.server import ServerSettings, create_app
from support.server.app_tools import client_of
from support.server.data_samples import FLOW, LABOUR_CSV, MAP, by_command, labour_topic, plain_csv
from support.server.html_tools import BROWSER, PageContent, page_at

pytestmark = pytest.mark.thorough

RULES = "Findings by rule and component, errors first"
HOSTILE = b"<script>alert(1)</script>"


@pytest.fixture(scope="module")
def replica() -> Iterator[Replica]:
    """A replica of the sample structures."""
    with labour_topic().replica(kept_versions=2) as replica:
        replica.wait_ready(30)
        yield replica


@pytest.fixture(scope="module")
def client(replica: Replica) -> TestClient:
    """A client of an app with small limits."""
    return client_of(create_app(replica, ServerSettings(max_upload_bytes=100_000)))


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files, which is empty at the end of every test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())


def submit(client: TestClient, path: str, data: bytes = LABOUR_CSV, origin: str | None = None, **fields: str) -> Any:
    """Send a form as a browser does."""
    headers = {**BROWSER, "Origin": origin or "http://localhost"}
    return client.post(path, files={"file": ("data.csv", data)}, data=fields, headers=headers)


def report_of(answer: Any, status: int = 200) -> PageContent:
    """Return an answer as a page, after the checks that hold for all pages."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self';")
    content = PageContent(answer.text)
    content.check()
    return content


def test_the_forms_offer_dataflows_and_maps_of_the_version(client: TestClient) -> None:
    """The page lets a browser name its origin; dataflows and maps are offered, and all fields have labels."""
    page = page_at(client, "/upload")
    assert [one["action"] for one in page.named("form")] == ["/upload", "/upload/map"]
    assert {one["enctype"] for one in page.named("form")} == {"multipart/form-data"}
    assert {one.get("value") for one in page.named("option")} >= {FLOW, MAP}
    assert client.get("/upload", headers=BROWSER).headers["referrer-policy"] == "same-origin"
    assert client.get("/structures", headers=BROWSER).headers["referrer-policy"] == "no-referrer"
    pinned = page_at(client, "/version/1/upload")
    assert all((one["action"] or "").startswith("/version/1.") for one in pinned.named("form"))


def test_the_report_has_the_counts_of_the_command(client: TestClient, replica: Replica, tmp_path: Path) -> None:
    """Each rule and component has the number of findings of the command's report, and an example."""
    expected = by_command("validate", tmp_path, "labour.csv", "--flow", FLOW).report
    page = report_of(submit(client, "/upload", structure="", encoding="", format="html"))
    rows = page.tables[RULES][1:]
    found = Counter({(rule, component, severity): int(count) for severity, rule, component, count, *_ in rows})
    assert found == Counter(
        {(one["rule"], one["component"] or "", one["severity"]): one["count"] for one in expected["counts"]}
    )
    assert found
    assert all(row[4].strip() and row[5].strip() for row in rows)
    assert f"{expected['written_rows']['good']} rows accepted" in " ".join(page.text.split())
    assert "not valid" in page.text
    assert len(page.tables["Some findings of each rule and component"]) == len(expected["samples"]) + 1
    assert page.links[FLOW].startswith(f"/version/1.{replica.incarnation}/structures/Dataflow/")
    assert page.links["Upload another file"] == "/upload"


def test_a_valid_file_has_no_findings(client: TestClient, tmp_path: Path) -> None:
    """The good rows of the command are valid here."""
    good = by_command("validate", tmp_path, "labour.csv", "--flow", FLOW).good.encode()
    page = report_of(submit(client, "/version/1/upload", good))
    assert "There are no findings." in page.text
    assert page.links["Upload another file"].startswith("/version/1.")


def test_archives_and_mapped_rows_are_downloads(client: TestClient, tmp_path: Path) -> None:
    """Downloads are the files of the commands; the report of a mapping is a page."""
    expected = by_command("validate", tmp_path, "labour.csv", "--flow", FLOW)
    answer = submit(client, "/upload", format="zip")
    assert answer.headers["content-disposition"] == 'attachment; filename="report.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.read("rejected.csv").decode() == expected.rejected
    (other := tmp_path / "map").mkdir()
    expected = by_command("map", other, "labour.csv", "--map", MAP)
    mapped = submit(client, "/upload/map", map=MAP, reverse="false", format="csv")
    assert (mapped.text, mapped.headers["content-disposition"]) == (
        expected.good, 'attachment; filename="mapped.csv"',
    )  # fmt: skip
    assert len(list(csv.reader(io.StringIO(mapped.text)))) > 2
    page = report_of(submit(client, "/upload/map", map=MAP))
    assert f"{expected.report['written_rows']['good']} rows mapped" in " ".join(page.text.split())


def test_hostile_data_is_text(client: TestClient) -> None:
    """Values of the data are shown, and are not elements of the page."""
    page = report_of(submit(client, "/upload", plain_csv().replace(b"n/a", HOSTILE), structure=FLOW))
    assert HOSTILE.decode() in page.text


def test_a_refused_upload_has_a_page_with_the_reason(client: TestClient, replica: Replica) -> None:
    """Too much data, none, an unknown structure or format, a version that is gone, and too many requests."""
    for status, answer in (
        (413, submit(client, "/upload", b"a" * 150_000)),
        (413, submit(client, "/upload", b"a" * 900_000)),
        (422, submit(client, "/upload", b"")),
        (400, submit(client, "/upload", plain_csv())),
        (404, submit(client, "/upload", plain_csv(), structure="KR_DEMO:NONE(1.0)")),
        (400, submit(client, "/upload", format="csv")),
        (400, submit(client, "/upload/map", format="html")),
        (404, submit(client, "/version/9/upload")),
        (503, submit(client_of(create_app(replica, ServerSettings(max_uploads=0))), "/upload")),
    ):
        page = report_of(answer, status)
        assert f"Status {status}." in page.text


def test_pages_of_other_origins_send_nothing(client: TestClient, replica: Replica) -> None:
    """Neither another origin nor a hidden one; a setting allows one."""
    for origin in ("http://evil.example", "null", "http://localhost:1"):
        for path in ("/upload", "/upload/map", "/version/1/upload"):
            assert submit(client, path, origin=origin).status_code == 403
    other = client_of(create_app(replica, ServerSettings(allowed_origins=("http://friend.example",))))
    assert submit(other, "/upload", origin="http://friend.example").status_code == 200
    assert client.options("/upload").headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert client.put("/upload").status_code == 405


class FullFolder(tempfile.TemporaryDirectory[str]):
    """A temporary folder in which the file of an upload is on a device without space."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        Path(self.name, "data").symlink_to("/dev/full")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="NOT TESTED: there is no /dev/full")
@pytest.mark.parametrize("path", ["/upload", "/validate", "/map"])
def test_a_full_disk_is_no_unexpected_error(
    path: str, replica: Replica, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The kernel reports a full disk while data is received: 507, and the place of the request is free again."""
    client = client_of(create_app(replica, ServerSettings(max_uploads=1)))
    with monkeypatch.context() as patch:
        patch.setattr("kafka_replica.server.uploads.data_requests.TemporaryDirectory", FullFolder)
        for size in (10, 200_000):
            answer = submit(client, path, b"a" * size)
            assert "disk" in report_of(answer, 507).text
            assert "failed" not in caplog.text
    assert submit(client, "/upload").status_code == 200


def test_a_disk_that_fills_at_any_time_is_reported(replica: Replica, tmp_path: Path) -> None:
    """A small file system: the upload fits and the results do not, or not even a folder is possible."""
    disk = tmp_path / "disk"
    disk.mkdir()
    options = ["-t", "tmpfs", "-o", "size=256k,nr_inodes=8", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(["mount", *options], check=False, capture_output=True).returncode:
        pytest.skip("NOT TESTED: this user cannot mount a small file system")
    try:
        tempfile.tempdir = str(disk)  # the fixture restores it
        client = client_of(create_app(replica, ServerSettings(max_uploads=1)))
        head, *lines = plain_csv().decode().splitlines()
        large = "\n".join([head, *(lines * (200_000 // len("\n".join(lines))))]).encode()
        for path, fields in (("/upload", {"structure": FLOW}), ("/upload/map", {"map": MAP, "format": "csv"})):
            assert "disk" in report_of(submit(client, path, large, **fields), 507).text
            assert not list(disk.iterdir())
        for number in range(7):
            (disk / str(number)).touch()
        assert "disk" in report_of(submit(client, "/upload"), 507).text
        for each_path in disk.iterdir():
            each_path.unlink()
        assert submit(client, "/upload").status_code == 200
    finally:
        subprocess.run(["umount", str(disk)], check=True)
