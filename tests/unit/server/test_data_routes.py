"""Validation and mapping over HTTP: the results of the commands, in each format, and the limits."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import re
import signal
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.testclient import TestClient

from kafka_replica import Replica
from kafka_replica.data import jobs
from kafka_replica.data.errors import DatasetError
from kafka_replica.errors import MissingExtraError
from kafka_replica.sdmx import Format, Structures, Urn
from kafka_replica.server import ServerSettings, create_app
from kafka_replica.server.data.fmr import _Keys
from kafka_replica.server.data.multipart import FormReader
from kafka_replica.server.uploads.receiving import Upload, receive_upload
from support.datasets.ml_messages import DSD, message
from support.effort import examples
from support.server.app_tools import client_of
from support.server.data_samples import (
    FILES,
    FLOW,
    FLOW_URN,
    LABOUR_CSV,
    MAP,
    Results,
    by_command,
    comparable,
    labour_topic,
    plain_csv,
)

pytestmark = pytest.mark.thorough

FMR = "/ws/public/data/validate"
DSD_URN = "urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=KR_DEMO:DSD_LABOUR(1.0)"


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
    handler = signal.getsignal(signal.SIGTERM)
    yield folder
    signal.signal(signal.SIGTERM, handler)  # commands change it
    assert not list(folder.iterdir())


def post(client: TestClient, path: str, data: bytes = LABOUR_CSV, **headers: str) -> Any:
    """Send data."""
    return client.post(path, content=data, headers={name.replace("_", "-"): value for name, value in headers.items()})


def unzipped(answer: Any) -> dict[str, str]:
    """Return the files of an archive."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


@pytest.mark.parametrize("name", FILES)
def test_validation_gives_the_files_of_the_command(
    name: str, client: TestClient, replica: Replica, tmp_path: Path
) -> None:
    """Report, good and rejected rows are those of the command, for data in every format; some rows are rejected."""
    expected = by_command("validate", tmp_path, name, "--flow", FLOW)
    structure = f"&structure={FLOW}" if name == "plain.csv" else ""  # the others name it
    files = unzipped(post(client, f"/validate?format=zip{structure}", FILES[name]))
    found = Results(comparable(json.loads(files["report.json"]), replica), files["good.csv"], files["rejected.csv"])
    assert found == expected
    assert expected.report["written_rows"]["rejected"] >= 1
    answer = post(client, f"/validate?flow={FLOW_URN}", FILES[name])
    assert comparable(answer.json(), replica) == expected.report
    assert answer.headers["kafka-replica-version"] == f"1.{replica.incarnation}"
    assert answer.headers["kafka-replica-position"].startswith("fake-0@")
    assert answer.headers["kafka-replica-rejected-rows"] == str(expected.report["written_rows"]["rejected"])


@pytest.mark.parametrize("action", ["Delete", "Append"])
def test_a_message_whose_data_set_is_empty(action: str, client: TestClient) -> None:
    """Good rows are one that deletes all data if the data set has the action delete, else none, whatever the option."""
    made = message("").replace('structureRef="S">', f'structureRef="S" ss:action="{action}">').replace(DSD, DSD_URN)
    files = unzipped(post(client, f"/validate?format=zip&flow={FLOW_URN}&action=delete", made.encode()))
    expected = [f"dataflow,{FLOW},D"] if action == "Delete" else []
    assert files["good.csv"].splitlines()[1:] == expected
    answer = post(client, "/validate?format=zip", made.encode())
    if action == "Delete":  # its row names the structure
        assert len(unzipped(answer)["good.csv"].splitlines()) == 2
    else:
        assert (answer.status_code, "names a structure" in answer.text) == (422, True)


@pytest.mark.parametrize("name", FILES)
def test_mapping_gives_the_files_of_the_command(
    name: str, client: TestClient, replica: Replica, tmp_path: Path
) -> None:
    """Mapped rows are the answer; the archive has the rejected rows and the report, too."""
    expected = by_command("map", tmp_path, name, "--map", MAP)
    files = unzipped(post(client, f"/map?map={MAP}&format=zip", FILES[name]))
    assert comparable(json.loads(files["report.json"]), replica) == expected.report
    assert (files["good.csv"], files["rejected.csv"]) == (expected.good, expected.rejected)
    answer = post(client, f"/map?map={MAP}", FILES[name])
    assert answer.text == expected.good
    assert answer.text.count("\n") > 1
    assert answer.headers["content-type"].startswith("application/vnd.sdmx.data+csv")
    rows = expected.report["written_rows"]
    counts = [answer.headers[f"kafka-replica-{kind}-rows"] for kind in ("good", "rejected", "other")]
    assert counts == [str(rows["good"]), str(rows["rejected"]), "0"]


def test_a_plus_of_a_version_is_written_as_percent_2b(client: TestClient) -> None:
    """A plus sign in an address means a space, but in a form it is a plus sign."""
    structure = "KR_DEMO:LABOUR(1.0+)"
    assert post(client, f"/validate?structure={structure.replace('+', '%2B')}").status_code == 200
    assert post(client, f"/validate?structure={structure}").status_code == 400
    sent = client.post("/validate", files={"file": ("x.csv", LABOUR_CSV)}, data={"structure": structure})
    assert sent.status_code == 200


def test_options_have_the_names_and_effects_of_those_of_the_command(
    client: TestClient, replica: Replica, tmp_path: Path
) -> None:
    """Each option changes the result as it changes that of the command; a form is like parameters."""
    options = {"rules": "text-type=warning", "action": "merge", "as-of": "2020-01-01", "time-format": "normalized"}
    given = [part for name, value in options.items() for part in (f"--{name}", value)]
    expected = by_command("validate", tmp_path, "labour.csv", "--flow", FLOW, *given)
    files = unzipped(client.post("/validate?format=zip", files={"file": ("x.csv", LABOUR_CSV)}, data=options))
    found = Results(comparable(json.loads(files["report.json"]), replica), files["good.csv"], files["rejected.csv"])
    assert found == expected
    assert "2022-01-01" in found.good
    assert ("text-type", "warning") in {(one["rule"], one["severity"]) for one in found.report["counts"]}


def test_data_with_commas_in_numbers_and_another_encoding(client: TestClient, replica: Replica, tmp_path: Path) -> None:
    """Decimal separator and encoding are those of the options."""
    data = re.sub(rb"(;\d+)\.(\d+;PC)", rb"\1,\2", LABOUR_CSV.replace(b",", b";")).replace(b"n/a", b"\xe9")
    options = ("--decimal", ",", "--encoding", "latin-1")
    expected = by_command(
        "validate", tmp_path, "labour.csv", "--flow", FLOW, *options, content=data, rejected_encoding="latin-1"
    )
    answer = post(client, "/validate?decimal=,&encoding=latin-1", data)
    assert comparable(answer.json(), replica) == expected.report
    assert "\u00e9" in {sample["value"] for sample in answer.json()["samples"]}
    assert answer.json()["written_rows"]["rejected"] == 2


def test_reports_as_csv_and_html(client: TestClient) -> None:
    """The format comes from the parameter or from Accept, where the quality decides."""
    expected = post(client, "/validate").json()
    by_accept = post(client, "/validate", accept="text/html;q=0.5, text/csv")
    assert by_accept.content == post(client, "/validate?format=csv").content
    lines = list(csv.DictReader(io.StringIO(by_accept.text)))
    names = ("rule", "component", "severity")
    assert {tuple(line[name] for name in names): line["findings"] for line in lines} == {
        tuple(count[name] for name in names): str(count["count"]) for count in expected["counts"]
    }
    assert {line["message"] for line in lines} == {sample["message"] for sample in expected["samples"]}
    page = post(client, "/validate", accept="text/html").text
    assert page.startswith("<!DOCTYPE html>")
    assert all(line["message"] in page for line in lines)
    data = LABOUR_CSV.decode().splitlines()
    assert all(line["value"] in data[int(line["line"]) - 1] for line in lines)
    assert all(f"line {line['line']}" in page for line in lines)
    assert post(client, "/validate", accept="image/png").status_code == 406


def test_an_archive_has_all_findings(client: TestClient, temporary: Path) -> None:
    """findings.csv has the line of each finding, and names no file, neither for validation nor for mapping."""
    data = LABOUR_CSV.decode().splitlines()
    for address in ("/validate?format=zip", f"/map?map={MAP}&format=zip"):
        files = unzipped(post(client, address))
        report = json.loads(files["report.json"])
        found = list(csv.DictReader(io.StringIO(files["findings.csv"])))
        assert report["listed_findings"] == len(found) == sum(one["count"] for one in report["counts"])
        assert found
        assert all(one["value"] in data[int(one["line"]) - 1] for one in found)
        assert {one["file"] for one in found} == {""}
        assert str(temporary) not in "".join(files.values())


def test_a_report_in_html_is_escaped(client: TestClient) -> None:
    """Values of the data are texts in the page."""
    data = LABOUR_CSV.replace(b"n/a", b"<script>alert(1)</script>")
    page = post(client, "/validate?format=html", data).text
    assert "&lt;script&gt;" in page
    assert "<script" not in page


def test_a_pinned_version_is_used_for_the_whole_job(tmp_path: Path) -> None:
    """A pinned path works with its version after the structure was deleted, and the plain path does not."""
    topic = labour_topic()
    with topic.replica(kept_versions=2) as replica:
        first = replica.wait_ready(30).version
        client = client_of(create_app(replica))
        replica.wait_for(topic.delete(FLOW_URN), 30)
        answer = post(client, f"/version/{first}/validate?structure={FLOW}")
        assert (answer.status_code, answer.json()["version"]) == (200, first)
        assert answer.headers["kafka-replica-version"].startswith(f"{first}.")
        assert post(client, f"/version/{first}/map?map={MAP}").status_code == 200
        gone = post(client, f"/validate?structure={FLOW}")
        assert (gone.status_code, gone.headers["kafka-replica-version"]) == (404, f"{first + 1}.{replica.incarnation}")
        assert post(client, "/version/99/validate").status_code == 404
        assert post(client, "/version/x/validate").status_code == 404


_LAUGHS = (
    b'<!DOCTYPE a [<!ENTITY a0 "ha">'
    + b"".join(b'<!ENTITY a%d "%s">' % (i, b"&a%d;" % (i - 1) * 10) for i in range(1, 30))
    + b"]><a>&a29;</a>"
)


@pytest.mark.parametrize(
    ("path", "data", "status", "text"),
    [
        ("/validate?structure=nonsense", LABOUR_CSV, 400, "nonsense"),
        ("/validate?structure=KR_DEMO:NONE(1.0)", LABOUR_CSV, 404, "KR_DEMO:NONE(1.0)"),
        ("/validate?unknown=1", LABOUR_CSV, 400, "'unknown'"),
        ("/validate?decimal=.&decimal=,", LABOUR_CSV, 400, "duplicated"),
        ("/validate?format=pdf", LABOUR_CSV, 400, "pdf"),
        ("/validate?rules=nothing", LABOUR_CSV, 400, "RULE=off"),
        ("/validate?rules=nothing=off", LABOUR_CSV, 400, "nothing"),
        ("/validate?as-of=soon", LABOUR_CSV, 400, "as-of"),
        ("/validate?action=shout", LABOUR_CSV, 400, "shout"),
        ("/validate?encoding=utf-99", LABOUR_CSV, (400, 422), "utf-99"),
        *((f"/validate?{structure}encoding={name}", LABOUR_CSV, (400, 422), "")
          for name in ("rot13", "hex", "a%00b", "undefined", "zip", "idna", "punycode", "unicode_escape")
          for structure in ("", f"structure={FLOW}&")),
        ("/validate", plain_csv(), 400, "structure="),
        ("/validate", b"", 422, "no data"),
        ("/validate", b" \n", 422, "no data"),
        ("/validate", b"STRUCTURE,STRUCTURE_ID\n", 422, "structure"),
        ("/validate", b"STRUCTURE\n", 400, "structure="),
        (f"/validate?structure={FLOW}", b"STRUCTURE,\n", 422, "data.csv"),
        ("/validate", b"\xff\xfe\x00", 400, "structure"),
        ("/validate", b"PK\x03\x04", 422, "archive"), ("/validate", b"PAR1PAR1", 422, "Parquet"),
        ("/validate", b"<a>", 422, "data.xml"),
        ("/validate", b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>", 422, ""),
        ("/validate", _LAUGHS, 422, ""),
        ("/validate", b"<Obs " + b" ".join(b'A%d="1"' % i for i in range(1001)) + b"/>", 422, "1,000"),
        ("/validate", b"<a>" + b"".join(b'<Value id="A%d"/>' % i for i in range(1001)) + b"</a>", 422, "1,000"),
        ("/validate", b'{"a": 1}', 422, "data.json"),
        ("/validate", b"[" * 100_000, 422, "it is JSON, not CSV"),
        ("/validate", b'{"a":' * 20_000, 422, "data.json"),
        ("/validate", gzip.compress(LABOUR_CSV)[:-9], 422, "ends before"),
        ("/validate", b"\x1f\x8b garbage", 422, "decompressing"),
        ("/validate", gzip.compress(gzip.compress(LABOUR_CSV)), 422, "twice"),
        ("/validate", gzip.compress(b"0" * 50_000_000), 413, "larger"),
        ("/validate", b"0" * 100_001, 413, "larger"),
        ("/validate", b"0" * 300_000, 413, "larger"),
        ("/map", LABOUR_CSV, 400, "map="),
        ("/map?map=KR_DEMO:NONE(1.0)", LABOUR_CSV, 404, "NONE"),
        (f"/map?map={MAP}&reverse=true", LABOUR_CSV, 422, ""),
        (f"/map?map={MAP}&reverse=perhaps", LABOUR_CSV, 400, "perhaps"),
    ],
)  # fmt: skip
def test_an_impossible_request_is_answered_with_the_reason(
    path: str, data: bytes, status: int | tuple[int, ...], text: str, client: TestClient, temporary: Path
) -> None:
    """The answer names the reason, and no path of the machine."""
    answer = post(client, path, data)
    assert answer.status_code in (status if isinstance(status, tuple) else (status,)), answer.text
    assert text in answer.json()["detail"]
    assert str(temporary) not in answer.text
    assert "kafka-replica-" not in answer.json()["detail"]


def test_compressed_uploads_give_the_same_report(client: TestClient) -> None:
    """A compressed file, a compressed body, and both as a form give the same report; a bomb in it is refused."""
    expected = post(client, "/validate").json()
    packed = gzip.compress(LABOUR_CSV[:500]) + gzip.compress(LABOUR_CSV[500:]) + b"\0" * 100
    assert post(client, "/validate", packed).json() == expected
    assert post(client, "/validate", packed, content_encoding="gzip").json() == expected
    assert client.post("/validate", files={"uploadFile": packed}).json() == expected
    bomb = gzip.compress(b"--x\r\nContent-Disposition: form-data; name=file\r\n\r\n" + b"0" * 50_000_000)
    form = "multipart/form-data; boundary=x"
    answer = post(client, "/validate", bomb, content_encoding="gzip", content_type=form)
    assert answer.status_code == 413
    assert post(client, "/validate", content_encoding="br").status_code == 415
    for cut in (1, 9, 100):
        answer = post(client, "/validate", packed.rstrip(b"\0")[:-cut], content_encoding="gzip")
        assert (answer.status_code, "ends before" in answer.json()["detail"]) == (422, True)


def test_a_long_cell_is_in_a_report_for_fmr(tmp_path: Path) -> None:
    """Python's own limit of a cell, 131,072 characters, does not apply to the rows that were validated."""
    rules = SimpleNamespace(series=("AREA",), columns=(), frequency=None)
    (tmp_path / "good.csv").write_text(f"AREA,NOTE\nX,{'long' * 50_000}\nY,\n")
    assert _Keys(cast("Any", rules), 2).read(tmp_path / "good.csv") == {("X",), ("Y",)}


def test_a_form_that_is_no_form(client: TestClient) -> None:
    """A form without a boundary, a file, or an end is refused."""
    form = "multipart/form-data; boundary=x"
    for data, content_type in [
        (LABOUR_CSV, "multipart/form-data"), (LABOUR_CSV, form), (b"--x--\r\n", form),
        (b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nabc', form),
        (b"--x" + b"a" * 5000, form), (b"--x\r\n" + b"a: b\r\n" * 5000, form),
        (b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n' + b"a" * 70_000, form),
        (b'--x\r\nContent-Disposition: form-data; name=""\r\n\r\n\r\n' * 1_000 + b"--x--", form),
        (LABOUR_CSV, "multipart/form-data; boundary*=a; boundary*0=b"),
        (b"--x\r\nContent-Disposition: form-data; name=file; filename*=undefined''x\r\n\r\nabc\r\n--x--", form),
    ]:  # fmt: skip
        answer = post(client, "/validate", data, content_type=content_type)
        assert (answer.status_code, "form" in answer.json()["detail"]) == (422, True)


def test_a_contradictory_file_name_is_no_failure_of_the_service(client: TestClient) -> None:
    """Since Python 3.14 such a name is read, so that the content is refused instead of the form."""
    part = "Content-Disposition: form-data; name=file; filename*=a; filename*0=b"
    data = f"--x\r\n{part}\r\n\r\nabc\r\n--x--".encode()
    assert post(client, "/validate", data, content_type="multipart/form-data; boundary=x").status_code in {400, 422}


TEXT = st.text(st.sampled_from("-\r\nxX: ab"), max_size=40).map(str.encode)


@hypothesis_settings(max_examples=examples(150), deadline=None)
@given(TEXT, TEXT, st.lists(st.integers(1, 9)))
def test_a_form_is_read_in_pieces_of_any_size(content: bytes, field: bytes, sizes: list[int]) -> None:
    """File and texts are exact, wherever the pieces begin and end, and whatever looks like a boundary in them."""
    boundary = b"xX"
    if any(b"\r\n--" + boundary in b"\r\n" + part for part in (content, field)):
        return
    form = (
        b'before\r\n--xX  \r\nContent-Disposition: form-data; name="a"\r\n\r\n' + field + b"\r\n--xX\r\n"
        b'Content-Disposition: form-data; name="b"; filename="f.csv"\r\nContent-Type: text/csv\r\n\r\n'
        + content + b"\r\n--xX--\r\nafter"
    )  # fmt: skip
    received = bytearray()
    reader = FormReader(boundary, received.extend)
    rest = form
    for size in [*sizes, len(form)]:
        piece, rest = rest[:size], rest[size:]
        reader.feed(piece)
    reader.finish()
    assert (bytes(received), [(name, bytes(text)) for name, text in reader.fields]) == (content, [("a", field)])


def test_a_form_with_two_files_is_refused() -> None:
    """A form with two files is refused, because the answer would not show which of them it is about."""
    part = b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n1\r\n'
    with pytest.raises(DatasetError, match="two files"):
        FormReader(b"x", bytes).feed(part + part + b"--x--")


def test_without_polars_the_answer_is_501(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """The detail names the extra; nothing is received."""

    def missing(_name: str) -> jobs.Engine:
        raise MissingExtraError("processing data", "polars")

    monkeypatch.setattr("kafka_replica.server.data.processing.engine", missing)
    answer = post(client, "/validate")
    assert answer.status_code == 501
    assert "polars" in answer.json()["detail"]


class _Held:
    """An engine that waits within its work."""

    def __init__(self, engine: jobs.Engine) -> None:
        self.engine = engine
        self.writes_here = True
        self.began, self.go_on = threading.Semaphore(0), threading.Event()

    def validate(self, job: jobs.ValidationJob, step: jobs.ProgressCallback) -> jobs.Outcome:
        self.began.release()
        assert self.go_on.wait(120)
        return self.engine.validate(job, step)

    def map(self, job: jobs.MappingJob, step: jobs.ProgressCallback) -> jobs.Outcome:
        return self.engine.map(job, step)


def test_requests_beyond_the_number_get_503(replica: Replica, monkeypatch: pytest.MonkeyPatch) -> None:
    """A further request is refused at once; other routes answer; later there is a place again."""
    held = _Held(jobs.engine("local"))
    monkeypatch.setattr("kafka_replica.server.data.processing.engine", lambda _name: held)
    placed = threading.Semaphore(0)

    async def receive(request: Request, folder: Path, settings: ServerSettings) -> Upload:
        placed.release()
        return await receive_upload(request, folder, settings)

    monkeypatch.setattr("kafka_replica.server.uploads.data_requests.receive_upload", receive)
    client = client_of(create_app(replica, ServerSettings(max_uploads=2, data_threads=1)))
    answers: list[Any] = []
    threads = [threading.Thread(target=lambda: answers.append(post(client, "/validate"))) for _ in range(2)]
    for thread in threads:
        thread.start()
        assert placed.acquire(timeout=60)
    assert held.began.acquire(timeout=60)
    refused = post(client, "/map?map=x")
    assert refused.status_code == 503
    assert refused.headers["retry-after"]
    assert client.get("/health/live").status_code == 200
    assert not held.began.acquire(blocking=False)  # the second one waits for the only thread
    held.go_on.set()
    for thread in threads:
        thread.join(60)
    assert [answer.status_code for answer in answers] == [200, 200]
    assert post(client, "/validate").status_code == 200


def test_a_job_that_takes_too_long_keeps_its_place_until_it_ends(
    replica: Replica, monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    """The request gets 503; the folder is removed, and the place is free, when the job ends."""
    held = _Held(jobs.engine("local"))
    monkeypatch.setattr("kafka_replica.server.data.processing.engine", lambda _name: held)
    client = client_of(create_app(replica, ServerSettings(max_uploads=1, data_timeout_s=1.0)))
    late = post(client, "/validate")
    assert (late.status_code, "1 s" in late.json()["detail"]) == (503, True)
    assert list(temporary.iterdir())
    assert post(client, "/validate").status_code == 503
    held.go_on.set()
    while list(temporary.iterdir()):
        pass
    while (refused := post(client, "/validate?format=pdf")).status_code == 503:  # until the place is free
        pass
    assert refused.status_code == 400


@pytest.mark.long
def test_answers_name_the_version_of_their_report_under_constant_change() -> None:
    """Header and report have one version, however many versions are made meanwhile."""
    topic, stopped = labour_topic(), threading.Event()
    with topic.replica() as replica:

        def write() -> None:
            while not stopped.is_set():
                replica.wait_for(topic.put("another key", b"value"), 30)

        replica.wait_ready(30)
        client = client_of(create_app(replica))
        writer = threading.Thread(target=write)
        writer.start()
        try:
            answers = [post(client, "/validate") for _ in range(5)]
        finally:
            stopped.set()
            writer.join()
    versions = [str(answer.json()["version"]) for answer in answers]
    assert [answer.headers["kafka-replica-version"].partition(".")[0] for answer in answers] == versions
    assert len(set(versions)) > 1


def test_a_token_is_needed_as_elsewhere(replica: Replica, tmp_path: Path) -> None:
    """The role read suffices; requests are counted by route."""
    (tmp_path / "tokens").write_text(f"read {hashlib.sha256(b'secret').hexdigest()}")
    client = client_of(create_app(replica, ServerSettings(tokens_file=tmp_path / "tokens")))
    assert post(client, "/validate").status_code == 401
    assert post(client, FMR).status_code == 401
    assert post(client, "/validate", authorization="Bearer secret").status_code == 200
    metrics = client.get("/metrics", headers={"authorization": "Bearer secret"}).text
    (line,) = (line for line in metrics.splitlines() if "requests_total{" in line and 'status="200"' in line)
    assert 'route="validate"' in line


def test_pages_of_other_sites_may_not_send_data(replica: Replica) -> None:
    """The origin of the server itself and allowed ones may; others may not."""
    client = client_of(create_app(replica, ServerSettings(allowed_origins=("https://known.example",))))
    for origin, status in [
        ("https://other.example", 403), ("null", 403), ("http://localhost", 200), ("https://known.example", 200),
    ]:  # fmt: skip
        assert post(client, "/validate", origin=origin).status_code == status
    assert client.get("/validate").status_code == 405
    assert client.get("/validate").headers["allow"] == "POST"
    assert client.post("/history", content=b"x").status_code == 405
    for refused in (client.put("/validate", content=b"x"), client.delete("/version/1/map"), client.put(FMR)):
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST, OPTIONS")
        assert "use POST" in refused.json()["detail"]
    assert client.options("/validate").headers["allow"] == "POST, OPTIONS"


def test_clients_of_fmr_find_the_names_they_read(client: TestClient) -> None:
    """Public clients of FMR find the names that they read."""
    expected = post(client, "/validate").json()
    answer = post(client, FMR, Structure=FLOW_URN, Inc_Metrics="true", Accept="application/xml")
    report: dict[str, Any] = answer.json()
    assert (answer.status_code, report["Errors"], report["Status"], report["FileFormat"]) == (
        200, True, "Complete", "SDMX-CSV",
    )  # fmt: skip
    (dataset,) = report["Datasets"]
    assert (dataset["Dataflow"], dataset["ObsCount"], dataset["KeysCount"]) == (FLOW_URN, 27, 10)
    assert dataset["ReportedPeriods"] == {"A": {"ReportStart": "2022", "ReportEnd": "2024"}}
    assert dataset["Metrics"] == {
        "ValidSeries": 8, "InvalidSeries": 2, "ValidObservations": 25, "InvalidObservations": 2,
    }  # fmt: skip
    errors = {group["Type"]: group["Errors"] for group in dataset["ValidationReport"]}
    assert set(errors) == {"code-unknown", "text-type"}
    (error,) = errors["text-type"]
    (sample,) = (one for one in expected["samples"] if one["rule"] == "text-type")
    assert (error["ComponentId"], error["ReportedValue"], error["Count"]) == ("OBS_VALUE", "n/a", 1)
    assert (error["ErrorCode"], error["Position"], error["Keys"]) == ("-", "Observation", [sample["series"]])
    assert answer.headers["kafka-replica-version"]


def test_codes_and_types_are_those_of_fmr(client: TestClient) -> None:
    """Codes and types are those of FMR where they are published; a client may attach the file."""
    clean = b"".join(line for line in LABOUR_CSV.replace(b"n/a", b"1").splitlines(True) if b",X," not in line)
    data = clean.replace(b",PC,", b",,")
    (dataset,) = client.post(FMR, files={"uploadFile": ("a.csv", data)}).json()["Datasets"]
    (group,) = (one for one in dataset["ValidationReport"] if one["Type"] == "MandatoryAttributes")
    assert group["Errors"][0]["ErrorCode"] == "REG-201-051"
    report = client.post(FMR, files={"uploadFile": ("a.csv", clean)}).json()
    assert (report["Errors"], report["Datasets"][0]["ValidationReport"]) == (False, [])


def test_fmr_returns_the_data_on_request(client: TestClient) -> None:
    """With Inc-Valid and Inc-Invalid the archive also has the good and the rejected rows."""
    files = unzipped(post(client, FMR, Inc_Valid="true", Inc_Invalid="true", Zip="true"))
    assert sorted(files) == ["InvalidData.csv", "ValidData.csv", "ValidationReport.json"]
    own = unzipped(post(client, "/validate?format=zip"))
    assert (files["ValidData.csv"], files["InvalidData.csv"]) == (own["good.csv"], own["rejected.csv"])


@pytest.mark.parametrize(
    ("data", "headers"),
    [
        (b"{}", {}), (plain_csv(), {}), (LABOUR_CSV, {"Structure": "KR_DEMO:NONE(1.0)"}),
        (LABOUR_CSV, {"Structure": f"{FLOW_URN},{FLOW_URN}"}), (LABOUR_CSV, {"Inc-Valid": "perhaps"}),
    ],
)  # fmt: skip
def test_fmr_answers_400_to_what_it_cannot_validate(data: bytes, headers: dict[str, str], client: TestClient) -> None:
    """Unreadable data and unknown structures have status 400 there, with the reason as Error."""
    answer = post(client, FMR, data, **headers)
    assert (answer.status_code, answer.json()["Status"], answer.json()["Errors"]) == (400, "Error", True)
    assert answer.json()["Error"]


def test_a_stub_elsewhere_in_the_registry_changes_no_result(client: TestClient) -> None:
    """All dataflows are searched for the data's structure; the stub of one does not name its own."""
    urn = Urn.of_reference("Dataflow", "OTHER:STUB(1.0)")
    stub = {
        "id": "STUB", "agencyID": "OTHER", "version": "1.0", "name": "A stub", "isExternalReference": True,
        "links": [{"rel": "external", "href": "https://registry.example"}],
    }  # fmt: skip
    meta = {"id": "T", "test": False, "prepared": "2026-01-01T00:00:00Z", "sender": {"id": "X"}}
    message = json.dumps({"meta": meta, "data": {"dataflows": [stub]}}).encode()
    topic = labour_topic()
    topic.put(str(urn), message, (("content-type", str(Format.SDMX_JSON_2_0).encode()),))
    with topic.replica() as replica:
        replica.wait_ready(30)
        assert Structures(replica.snapshot()).dataflow(urn).is_stub
        other = client_of(create_app(replica))
        for path in (f"/map?map={MAP}", f"/validate?format=csv&structure={DSD_URN}"):
            expected, answer = post(client, path), post(other, path)
            assert (expected.status_code, answer.status_code, answer.text) == (200, 200, expected.text)
