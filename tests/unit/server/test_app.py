"""The app over a replica of a fake topic: routes, versions, headers, limits and errors."""

from __future__ import annotations

import asyncio
import gc
import gzip
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from kafka_replica import Replica
from kafka_replica.errors import BadRecordError
from kafka_replica.history import VersionHistory
from kafka_replica.sdmx import Structures, decode_cache
from kafka_replica.server import ServerSettings, create_app
from kafka_replica.server.answers.versions import Versions
from kafka_replica.server.app import _ROUTES, Service
from kafka_replica.server.errors.problems import PROBLEM, Problem
from kafka_replica.server.operation.process_roles import MainRole
from kafka_replica.server.rest.request_and_answer import RestAnswer, RestRequest
from kafka_replica.server.running.workers.statistics import SummedStatistics
from kafka_replica.testing import FakeTopic
from support.core.rocks_tools import new_folder
from support.paths import ROOT
from support.server.app_tools import URN, client_of, stand_in

CODELISTS = "/sdmx/v2/structure/codelist/SDMX"


@pytest.fixture
def topic() -> FakeTopic:
    """A topic with one key."""
    topic = FakeTopic()
    topic.put(URN.format("A"), b"a")
    return topic


@pytest.fixture
def replica(topic: FakeTopic) -> Iterator[Replica]:
    """A replica that keeps two versions in addition to the current one."""
    with topic.replica(kept_versions=2) as replica:
        replica.wait_ready(30)
        yield replica


def write(topic: FakeTopic, replica: Replica, name: str) -> int:
    """Make a version with a further key; return its number."""
    return replica.wait_for(topic.put(URN.format(name), b"value"), 30).version


def settings(**options: Any) -> ServerSettings:
    """Return settings."""
    return ServerSettings(**options)


def test_an_answer_comes_from_one_version_and_names_it(topic: FakeTopic, replica: Replica) -> None:
    """Version, position and state are headers; a following answer comes from the new version."""
    client = client_of(create_app(replica, answer=stand_in))
    first = client.get(f"{CODELISTS}/*")
    assert first.status_code == 200
    assert first.json()["urns"] == [URN.format("A")]
    assert first.headers["kafka-replica-version"] == f"1.{replica.incarnation}"
    assert first.headers["kafka-replica-position"] == "fake-0@1"
    assert first.headers["kafka-replica-state"] == "live"
    assert "kafka-replica-stale" not in first.headers
    write(topic, replica, "B")
    second = client.get(f"{CODELISTS}/*")
    assert second.json()["urns"] == [URN.format("A"), URN.format("B")]
    assert second.headers["kafka-replica-version"] == f"2.{replica.incarnation}"


@pytest.mark.thorough
def test_the_root_names_the_addresses(replica: Replica) -> None:
    """Each address answers, also below the path of another app."""
    app = create_app(replica, answer=stand_in)
    for client, base in ((client_of(app), "/"), (client_of(Starlette(routes=[Mount("/my", app)])), "/my/")):
        found = client.get(base).json()
        assert found["service"].startswith("kafka-replica ")
        assert found["structures"][0] == f"http://localhost{base}sdmx/v2"
        names = ["health/live", "health/ready", "metrics", "history", "validate", "map", "ws/public/data/validate"]
        assert [client.get(found[name]).status_code for name in names] == [200, 200, 200, 501, 405, 405, 405]
        assert found["changes"] == f"http://localhost{base}changes"


@pytest.mark.thorough
@pytest.mark.parametrize("base", ["/sdmx/v2", "/sdmx/v1", "/ws/public/sdmxapi/rest"])
def test_path_and_query_reach_the_api_as_they_were_sent(replica: Replica, base: str) -> None:
    """Nothing is decoded or redirected: neither escapes, nor a plus sign, nor a slash at the end.

    A base path that names the version of the API determines it.
    """
    client = client_of(create_app(replica, answer=stand_in))
    api = base.removeprefix("/sdmx/") + "/" if base.startswith("/sdmx/v") else ""
    for rest in ("codelist/SDMX/CL_FREQ/1.0+", "codelist/SDMX/CL%5FFREQ/1.0%2B/", "a%2Fb/c", ""):
        found = client.get(f"{base}/{rest}?detail=full&x=%2B+", headers={"Accept": "application/xml;q=0.5"})
        assert (found.status_code, found.json()["path"]) == (200, api + rest)
        assert found.json()["query"] == "detail=full&x=%2B+"
        assert found.json()["accept"] == "application/xml;q=0.5"
        mounted = Starlette(routes=[Mount("/my app", create_app(replica, answer=stand_in))])
        assert client_of(mounted).get(f"/my%20app{base}/{rest}").json()["path"] == api + rest


@pytest.mark.thorough
def test_pinned_paths_keep_answering_from_their_version(topic: FakeTopic, replica: Replica) -> None:
    """A kept version answers; one that is gone is 410, one that never was is 404."""
    client = client_of(create_app(replica, answer=stand_in))
    for name in "BCD":
        write(topic, replica, name)
    for version in (2, 3, 4):
        for text in (f"{version}", f"{version}.{replica.incarnation}"):
            found = client.get(f"/version/{text}{CODELISTS}/*")
            assert found.json()["version"] == version
            assert len(found.json()["urns"]) == version
            assert found.headers["kafka-replica-version"] == f"{version}.{replica.incarnation}"
    gone = client.get(f"/version/1{CODELISTS}/*")
    assert gone.status_code == 410
    assert "no longer kept" in gone.json()["errors"][0]["detail"]
    assert client.get(f"/version/4.other{CODELISTS}/*").status_code == 410
    for text in ("5", "0", "x", "4.", "-1"):
        assert client.get(f"/version/{text}{CODELISTS}/*").status_code == 404, text
    missing = client.get(f"/version/5{CODELISTS}/*").json()["errors"][0]["detail"]
    assert "version 5 does not exist; the current version is 4" in missing


def test_entity_tags_save_the_answer_within_one_incarnation(topic: FakeTopic, replica: Replica) -> None:
    """An unchanged version is 304; the tag of another version or incarnation is not accepted."""
    client = client_of(create_app(replica, answer=stand_in))
    tag = client.get(f"{CODELISTS}/*").headers["etag"]
    assert tag != '"1"'
    same = client.get(f"{CODELISTS}/*", headers={"If-None-Match": f'W/"other", {tag}'})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    assert same.headers["vary"] == "Accept, Accept-Encoding"
    with topic.replica() as other:
        other.wait_ready(30)
        found = client_of(create_app(other, answer=stand_in)).get(f"{CODELISTS}/*", headers={"If-None-Match": tag})
        assert found.status_code == 200
    write(topic, replica, "B")
    assert client.get(f"{CODELISTS}/*", headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.thorough
def test_health_and_metrics_do_not_wait_for_slow_comparisons(
    topic: FakeTopic, replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Comparisons obey the limits of time and threads, and leave the threads of health and metrics free."""
    write(topic, replica, "B")
    released = threading.Event()

    def slow(*_arguments: object) -> NoReturn:
        released.wait(60)
        raise Problem(404, "it is over")

    monkeypatch.setattr(Versions, "difference", slow)

    async def request_all() -> None:
        app = create_app(replica, settings(threads=1, request_timeout_s=0.3))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client, asyncio.timeout(30):
            slow_ones = [asyncio.create_task(client.get("/diff/2/1")) for _ in range(50)]
            await asyncio.sleep(0.1)
            assert (await client.get("/health/ready")).status_code == 200
            assert (await client.get("/metrics")).status_code == 200
            assert {(await each).status_code for each in slow_ones} == {503}

    try:
        asyncio.run(request_all())
    finally:
        released.set()


def test_a_comparison_backwards_looks_only_at_changed_keys(topic: FakeTopic, replica: Replica) -> None:
    """Neither direction compares all keys, if the changes in between are known."""
    client = client_of(create_app(replica))
    write(topic, replica, "B")
    with mock.patch.object(type(replica.snapshot()), "__iter__", side_effect=AssertionError("all keys are read")):
        assert client.get("/diff/1/2").json()["added"] == [URN.format("B")]
        assert client.get("/diff/2/1").json()["deleted"] == [URN.format("B")]


@pytest.mark.thorough
def test_an_app_that_has_ended_holds_no_version_of_the_history(topic: FakeTopic) -> None:
    """The caller closes the history, and may then move its folder; even a late request keeps nothing open."""
    with new_folder() as folder, VersionHistory(folder / "history") as history, topic.replica() as replica:
        history.follow(replica)
        replica.wait_ready(30)
        write(topic, replica, "B")
        app = create_app(replica, answer=stand_in, history=history)
        journal = history._opened().journal
        with client_of(app) as client:
            assert client.get(f"/version/1{CODELISTS}/*").json()["version"] == 1
            assert journal.held == 1
            client.get(f"/version/1{CODELISTS}/x")
        gc.collect()
        assert journal.held == 0


def test_large_answers_are_compressed_on_request(replica: Replica) -> None:
    """The compressed form is the same content with a weak tag, which is accepted as well."""

    def large(request: RestRequest, structures: Structures) -> RestAnswer:
        found = stand_in(request, structures)
        return found._replace(body=found.body + b" " * 2000 if found.body else b"")

    client = client_of(create_app(replica, answer=large))
    plain = client.get(f"{CODELISTS}/*", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    with client.stream("GET", f"{CODELISTS}/*", headers={"Accept-Encoding": "br, gzip;q=0.5"}) as packed:
        body = b"".join(packed.iter_raw())
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(body) == plain.content
    assert packed.headers["etag"] == "W/" + plain.headers["etag"]
    assert client.get(f"{CODELISTS}/*", headers={"If-None-Match": packed.headers["etag"]}).status_code == 304


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_the_length_in_an_own_answer_is_replaced(replica: Replica, encoding: str) -> None:
    """A caller's function may return the length of its body, which is not that of the compressed one."""
    body = b"{}" + b" " * 2000

    def own(_request: RestRequest, _structures: Structures) -> RestAnswer:
        return RestAnswer(200, (("Content-Type", "application/json"), ("Content-Length", str(len(body)))), body)

    client = client_of(create_app(replica, answer=own))
    with client.stream("GET", f"{CODELISTS}/*", headers={"Accept-Encoding": encoding}) as found:
        sent = b"".join(found.iter_raw())
    assert found.headers.get("content-encoding", "identity") == encoding
    assert found.headers.get_list("content-length") == [str(len(sent))]
    assert (sent if encoding == "identity" else gzip.decompress(sent)) == body


@pytest.mark.thorough
def test_head_and_options_need_no_body(replica: Replica) -> None:
    """HEAD has the headers of GET, OPTIONS the methods; other methods and bodies are refused."""
    client = client_of(create_app(replica, answer=stand_in))
    for path in (f"{CODELISTS}/*", "/health/live", "/health/ready/", "/metrics", "/nothing"):
        got, headed = client.get(path), client.head(path)
        assert (headed.status_code, headed.content) == (got.status_code, b"")
        assert headed.headers["content-type"] == got.headers["content-type"]
        assert client.options(path).headers["allow"] == "GET, HEAD, OPTIONS"
    assert client.head("/changes").headers["content-type"].startswith("text/event-stream")
    for method in ("POST", "PUT", "DELETE", "PATCH", "TRACE", "SECRET"):
        refused = client.request(method, f"{CODELISTS}/*", content=b"x")
        assert (refused.status_code, refused.headers["connection"]) == (405, "close")
    assert client.request("GET", f"{CODELISTS}/*", content=b"x").status_code == 413


def test_every_answer_is_protected_and_has_an_id(replica: Replica) -> None:
    """Errors too; a harmless id of the client is kept, any other is replaced."""
    client = client_of(create_app(replica, answer=stand_in))
    for path in (f"{CODELISTS}/*", "/nothing", "/health/live", "/version/99/sdmx/v2/structure/x"):
        found = client.get(path, headers={"X-Request-ID": "abc-1"})
        assert found.headers["x-request-id"] == "abc-1"
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["content-security-policy"].startswith("default-src 'none'")
    assert len(client.get("/nothing", headers={"X-Request-ID": 'a"b'}).headers["x-request-id"]) == 16


def test_each_exceeded_limit_is_named_in_the_answer(replica: Replica) -> None:
    """Too long, too large and too slow requests; each answer names the limit."""

    def slow(request: RestRequest, structures: Structures) -> RestAnswer:
        release.wait(30)
        return stand_in(request, structures)

    release = threading.Event()
    client = client_of(create_app(replica, settings(request_timeout_s=0.05), answer=slow))
    late = client.get(f"{CODELISTS}/*")
    release.set()
    assert (late.status_code, late.headers["retry-after"]) == (503, "1")
    assert "0.05 s" in late.json()["errors"][0]["detail"]
    client = client_of(create_app(replica, settings(max_url_bytes=100, max_response_bytes=50), answer=stand_in))
    assert client.get(f"{CODELISTS}/*").status_code == 413
    assert client.get("/" + "x" * 100).status_code == 414
    assert client.get("/health/live", params={"x": "x" * 100}).status_code == 414


def test_requests_beyond_the_limit_are_refused_and_health_still_answers(replica: Replica) -> None:
    """While one request is in progress, another gets 503, and both health checks answer."""
    began, release = threading.Event(), threading.Event()

    def waits(request: RestRequest, structures: Structures) -> RestAnswer:
        began.set()
        release.wait(30)
        return stand_in(request, structures)

    client = client_of(create_app(replica, settings(max_requests=1), answer=waits))
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(client.get(f"{CODELISTS}/*").status_code))
    thread.start()
    assert began.wait(30)
    refused = client.get(f"{CODELISTS}/*")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert client.get("/health/live").status_code == 200
    assert client.get("/health/ready").status_code == 200
    release.set()
    thread.join(30)
    assert found == [200]
    assert client.get(f"{CODELISTS}/*").status_code == 200


def test_an_unexpected_error_shows_no_details(replica: Replica, caplog: pytest.LogCaptureFixture) -> None:
    """The answer has the request's id, under which the log has the error."""

    def fails(_request: RestRequest, _structures: Structures) -> RestAnswer:
        raise ValueError("/secret/path")

    found = client_of(create_app(replica, answer=fails)).get(f"{CODELISTS}/*", headers={"X-Request-ID": "id-7"})
    assert found.status_code == 500
    assert "id-7" in found.json()["errors"][0]["detail"]
    assert "secret" not in found.text
    assert "/secret/path" in caplog.text
    assert "id-7" in caplog.text


def test_an_unexpected_error_of_the_main_process_has_the_id_of_the_request(
    replica: Replica, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A worker passes the id on, and can convert the error to the form that the client reads."""

    def fails(_request: RestRequest, _structures: Structures) -> RestAnswer:
        raise ValueError("/secret/path")

    role = MainRole(tmp_path, SummedStatistics(list))
    app = Service(replica, settings(), answer=fails, role=role).app
    found = client_of(app).get(f"{CODELISTS}/*", headers={"X-Request-ID": "id-8"})
    assert found.status_code == 500
    assert found.headers["content-type"] == PROBLEM
    assert "id-8" in found.json()["detail"]
    assert "request id-8 failed" in caplog.text


@pytest.mark.thorough
def test_other_hosts_and_origins_are_refused(replica: Replica) -> None:
    """Only allowed hosts are answered, except for health; only allowed origins may read answers."""
    app = create_app(replica, settings(allowed_hosts=("Good",), allowed_origins=("https://x.org",)), answer=stand_in)
    client = client_of(app)
    path = f"{CODELISTS}/*"
    assert client.get(path, headers={"Host": "good:8080"}).status_code == 200
    for host in ("bad", "good.bad", "localhost", ""):
        assert client.get(path, headers={"Host": host}).status_code == 400, host
        assert client.get("/health/live", headers={"Host": host}).status_code == 200
    request_headers = {"Host": "good", "Origin": "https://x.org"}
    assert client.get(path, headers=request_headers).headers["access-control-allow-origin"] == "https://x.org"
    assert (
        "access-control-allow-origin"
        not in client.get(path, headers={**request_headers, "Origin": "https://y.org"}).headers
    )
    preflight = client.options(path, headers={**request_headers, "Access-Control-Request-Method": "GET"})
    assert preflight.headers["access-control-allow-origin"] == "https://x.org"


@pytest.mark.thorough
def test_scripts_of_allowed_origins_can_read_refusals_and_send_and_read_our_headers(
    replica: Replica, tmp_path: Path
) -> None:
    """Whatever refuses a request; a browser hides from scripts all answers and headers that are not allowed."""
    tokens = tmp_path / "tokens"
    tokens.write_text(f"read {hashlib.sha256(b'secret').hexdigest()}\n")
    allowed = {"allowed_origins": ("https://x.org",)}
    origin, path = {"Origin": "https://x.org"}, f"{CODELISTS}/*"

    def fails(_request: RestRequest, _structures: Structures) -> RestAnswer:
        raise ValueError

    for app, headers, status in (
        (create_app(replica, settings(**allowed), answer=fails), {}, 500),
        (create_app(replica, settings(tokens_file=tokens, **allowed), answer=stand_in), {}, 401),
        (create_app(replica, settings(max_header_bytes=300, **allowed), answer=stand_in), {"X": "x" * 300}, 431),
        (create_app(replica, settings(**allowed), answer=stand_in), {"Host": "bad"}, 400),
    ):
        found = client_of(app).get(path, headers={**origin, **headers})
        assert (found.status_code, found.headers["access-control-allow-origin"]) == (status, "https://x.org")
    read = found.headers["access-control-expose-headers"].lower().split(", ")
    assert {"kafka-replica-omitted", "kafka-replica-rejected-rows", "retry-after", "etag"} <= set(read)
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "structure, inc-valid"}
    assert client_of(app).options("/ws/public/data/validate", headers={**origin, **asked}).status_code == 200
    asked = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "if-modified-since"}
    assert client_of(app).options(path, headers={**origin, **asked}).status_code == 200


def test_without_a_version_requests_can_be_repeated_later(topic: FakeTopic) -> None:
    """Before the first version: 503 with Retry-After, alive, and not ready with the reason."""
    with topic.outage(), topic.replica(stalled_after_s=1000) as replica:
        client = client_of(create_app(replica, answer=stand_in))
        found = client.get(f"{CODELISTS}/*")
        assert (found.status_code, found.headers["retry-after"]) == (503, "1")
        assert client.get("/health/live").json() == {"live": True}
        ready = client.get("/health/ready")
        assert (ready.status_code, ready.json()["state"], ready.json()["version"]) == (503, "catching up", 0)


def test_a_failed_replica_still_answers_and_is_not_ready(topic: FakeTopic, replica: Replica) -> None:
    """The last version is served, and its state is in the headers; health gives no details of the error."""
    client = client_of(create_app(replica, answer=stand_in))
    topic.fail(BadRecordError("fake", 0, 1, "/secret/path", "nothing"))
    while replica.state != "failed":
        threading.Event().wait(0.01)
    found = client.get(f"{CODELISTS}/*")
    assert (found.status_code, found.headers["kafka-replica-state"]) == (200, "failed")
    ready = client.get("/health/ready")
    assert (ready.status_code, ready.json()["ready"], ready.json()["state"]) == (503, False, "failed")
    assert "secret" not in ready.text


def test_metrics_have_bounded_labels(replica: Replica) -> None:
    """Paths and methods of clients are not labels; replica, look-ups and requests are there."""
    client = client_of(create_app(replica, answer=stand_in))
    client.get(f"{CODELISTS}/secret")
    client.get("/attack/secret")
    client.request("SECRET", "/x")
    client.get(f"/version/1{CODELISTS}/*")
    client.head(f"{CODELISTS}/*")
    text = client.get("/metrics").text
    assert 'kafka_replica_http_response_bytes_total{method="HEAD",route="sdmx"} 0.0' in text
    assert 'kafka_replica_http_requests_total{method="GET",route="sdmx",status="200"} 1.0' in text
    assert 'kafka_replica_http_requests_total{method="GET",route="pinned_sdmx",status="200"} 1.0' in text
    assert 'kafka_replica_http_requests_total{method="GET",route="other",status="404"} 1.0' in text
    assert 'kafka_replica_http_requests_total{method="other",route="other",status="405"} 1.0' in text
    assert 'kafka_replica_ready{replica="fake",topic="fake"} 1.0' in text
    assert 'kafka_replica_sdmx_artefacts{replica="fake"} 1.0' in text
    assert "secret" not in text.lower()


@pytest.mark.parametrize(("limits", "expected"), [({}, decode_cache.max_bytes), ({"decoded_bytes": 1000}, 1000)])
def test_the_size_of_the_cache_of_decoded_messages_is_a_setting(
    replica: Replica, limits: dict[str, int], expected: int
) -> None:
    """A service with the setting has a cache of its own; other services share that of the process."""
    before = decode_cache.max_bytes
    text = client_of(create_app(replica, settings(**limits), answer=stand_in)).get("/metrics").text
    [line] = [line for line in text.splitlines() if line.startswith("kafka_replica_sdmx_cache_max_bytes{")]
    assert float(line.rpartition(" ")[2]) == expected
    assert decode_cache.max_bytes == before


@pytest.mark.thorough
def test_tokens_guard_everything_but_health(replica: Replica, tmp_path: Path) -> None:
    """Without the right token 401, with it an answer; hashes are compared, not tokens."""
    file = tmp_path / "tokens"
    file.write_text("# comment\nread 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 test\n")
    client = client_of(create_app(replica, settings(tokens_file=file), answer=stand_in))
    for path in (f"{CODELISTS}/*", "/metrics", "/changes", "/nothing", f"/version/1{CODELISTS}/*"):
        for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic test"}):
            refused = client.get(path, headers=header)
            assert refused.status_code == 401, (path, header)
            assert refused.headers["www-authenticate"].startswith("Bearer")
    assert client.get("/health/ready").status_code == 200
    found = client.get(f"{CODELISTS}/*", headers={"Authorization": "Bearer test"})
    assert found.status_code == 200
    assert json.loads(found.content)["version"] == 1


def test_the_page_names_every_route() -> None:
    """The values of the label are those that docs/server.md lists."""
    page = (ROOT / "docs/server.md").read_text(encoding="utf-8")
    listed = page.partition("\n`route` is ")[2].partition(", never a path")[0]
    assert set(re.findall("`([a-z_]+)`", listed)) == {*_ROUTES, "other"}


def test_the_page_names_every_field_of_a_version(topic: FakeTopic, tmp_path: Path) -> None:
    """The table of docs/server.md has the fields of ``/history``."""
    page = (ROOT / "docs/server.md").read_text(encoding="utf-8")
    table = page.partition("Each of `versions` has\n")[2].partition("\n\n`/diff/")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {name for cell in cells for name in re.findall("`([a-z_]+)`", cell)}
    with topic.replica() as replica, VersionHistory(tmp_path / "history").follow(replica) as history:
        replica.wait_ready(30)
        client = client_of(create_app(replica, history=history, answer=stand_in))
        assert set(client.get("/history").json()["versions"][0]) | {"open"} == named
