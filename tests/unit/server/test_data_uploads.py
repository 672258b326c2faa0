"""Uploads over sockets: slow, broken off, too large and hostile ones leave nothing behind, and others are served."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kafka_replica import Replica
from kafka_replica.data import jobs
from kafka_replica.server import ServerSettings
from support import plain_http
from support.effort import examples
from support.server.data_samples import LABOUR_CSV, labour_topic
from support.server.server_tools import connected, received, running
from support.waiting import wait_until

pytestmark = pytest.mark.thorough

HEAD = b"POST /validate HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def replica() -> Iterator[Replica]:
    """A replica of the sample structures."""
    with labour_topic().replica() as replica:
        replica.wait_ready(30)
        yield replica


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def status_of(answer: bytes) -> int:
    """Return the status of an answer."""
    return int(answer.split(b" ", 2)[1])


def test_a_slow_upload_gets_408(replica: Replica, temporary: Path) -> None:
    """The body that never comes keeps neither its place nor a file; another request does not wait."""
    settings = ServerSettings(max_uploads=1, upload_timeout_s=5)
    with running(replica, settings=settings) as (address, _), connected(address) as client:
        client.sendall(HEAD + b"Content-Length: 1000\r\n\r\nSTRUCTURE")
        wait_until(lambda: bool(list(temporary.iterdir())))
        assert plain_http.post(f"{address}/validate", content=LABOUR_CSV).status_code == 503
        assert status_of(received(client)) == 408
        assert not list(temporary.iterdir())
        assert plain_http.post(f"{address}/validate", content=LABOUR_CSV).status_code == 200


def test_an_upload_that_is_broken_off_leaves_nothing(replica: Replica, temporary: Path) -> None:
    """The file is removed and the place is free once the client closes its connection."""
    with running(replica, settings=ServerSettings(max_uploads=1)) as (address, _):
        with connected(address) as client:
            client.sendall(HEAD + b"Content-Length: 1000\r\n\r\nSTRUCTURE")
            wait_until(lambda: bool(list(temporary.iterdir())))
        wait_until(lambda: not list(temporary.iterdir()))
        wait_until(lambda: plain_http.post(f"{address}/validate", content=LABOUR_CSV).status_code == 200)


def test_a_client_that_leaves_cancels_work_that_has_not_begun(
    replica: Replica, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two clients leave: the work of the first one continues, and that of the second one never begins."""
    began, go_on, engine = threading.Semaphore(0), threading.Event(), jobs.engine("local")

    class Held:
        writes_here = True

        def validate(self, job: jobs.ValidationJob, step: jobs.ProgressCallback) -> jobs.Outcome:
            began.release()
            assert go_on.wait(60)
            return engine.validate(job, step)

        def map(self, job: jobs.MappingJob, step: jobs.ProgressCallback) -> jobs.Outcome:
            return engine.map(job, step)

    monkeypatch.setattr("kafka_replica.server.data.processing.engine", lambda _name: Held())
    request = HEAD + b"Content-Length: %d\r\n\r\n" % len(LABOUR_CSV) + LABOUR_CSV
    with running(replica, settings=ServerSettings(data_threads=1)) as (address, _):
        with connected(address) as first, connected(address) as second:
            first.sendall(request)
            assert began.acquire(timeout=30)
            second.sendall(request)
            wait_until(lambda: len(list(temporary.glob("*/data.csv"))) == 2)
        wait_until(lambda: len(list(temporary.iterdir())) == 1)
        go_on.set()
        wait_until(lambda: not list(temporary.iterdir()))
        assert not began.acquire(blocking=False)
        assert plain_http.post(f"{address}/validate", content=LABOUR_CSV).status_code == 200


def test_clients_that_send_too_much_can_read_why(replica: Replica, temporary: Path) -> None:
    """A usual client gets 413, with and without an announced length, somewhat above the limit and far above."""
    with running(replica, settings=ServerSettings(max_upload_bytes=1_000_000)) as (address, _):
        for size in (1_000_001, 1_900_000):
            assert plain_http.post(f"{address}/validate", content=b"a" * size).status_code == 413
            assert plain_http.post(f"{address}/validate", content=iter([b"a" * size])).status_code == 413
        with connected(address) as client:
            client.sendall(HEAD + b"Content-Length: 99000000000\r\nExpect: 100-continue\r\n\r\n")
            assert status_of(received(client)) == 413
        assert not list(temporary.iterdir())


PIECES = st.sampled_from([
    b"STRUCTURE,STRUCTURE_ID,ACTION\n", LABOUR_CSV[:300], b"<?xml version='1.0'?>", b"<a xmlns='x'>", b"{", b"[", b'"',
    b"--x\r\n", b'Content-Disposition: form-data; name="file"\r\n\r\n', b"--x--", b"\r\n", b"\n", b",", b"\x1f\x8b\x08",
    b"\0", b"\xff\xfe", b"a" * 3000, b"DATAFLOW,A\n", b'{"data":{"structures":[{}],"dataSets":[{}]}}', b"UNA:+.? '",
])  # fmt: skip
HEADERS = st.sampled_from([
    {}, {"Content-Type": "multipart/form-data; boundary=x"}, {"Content-Type": "multipart/form-data; boundary="},
    {"Content-Encoding": "gzip"}, {"Accept": "text/html;q=x"}, {"Content-Type": "\xff"},
])  # fmt: skip
PATHS = st.sampled_from(["/validate", "/map", "/ws/public/data/validate", "/version/1/validate", "/validate?encoding="])
QUERIES = st.sampled_from(["", "?structure=KR_DEMO:LABOUR(1.0)", "?decimal=%00", "?encoding=idna", "?format=zip", "?a"])


@pytest.fixture(scope="module")
def hostile_server(replica: Replica) -> Iterator[httpx.Client]:
    """A client of a server."""
    settings = ServerSettings(max_upload_bytes=20_000)
    with running(replica, settings=settings) as (address, _), plain_http.Client(base_url=address, timeout=60) as client:
        yield client


@pytest.mark.scaled
@pytest.mark.timeout(3600)
@hypothesis_settings(max_examples=examples(40, long=300, proof=10_000), deadline=None)
@given(PATHS, QUERIES, HEADERS, st.lists(PIECES, max_size=8).map(b"".join))
def test_no_data_makes_an_unexpected_error(
    hostile_server: httpx.Client, path: str, query: str, headers: dict[str, str], data: bytes
) -> None:
    """Whatever is sent, the answer is a report or the reason for a refusal."""
    sent = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
    answer = hostile_server.post(path + query, content=data, headers=sent)
    assert answer.status_code in {200, 400, 404, 406, 413, 415, 422}, answer.text


def test_a_connection_serves_another_request_after_an_error(replica: Replica) -> None:
    """Reasons that need no closing leave the connection usable."""
    with running(replica) as (address, _), plain_http.Client(base_url=address) as client:
        for _ in range(3):
            assert client.post("/validate", content=b"{}").status_code == 422
            assert client.post("/validate", content=LABOUR_CSV).status_code == 200
