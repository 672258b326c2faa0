"""Known answers that are sent without calling the app: the answers of the app, counted and logged like them."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.responses import Response

from kafka_replica import Replica
from kafka_replica.sdmx import Format, write_message
from kafka_replica.server import ServerSettings
from kafka_replica.server.access.gate import EXCESS, Gate
from kafka_replica.server.app import Service
from kafka_replica.server.operation.access_log import ACCESS_LOGGER, Access
from kafka_replica.server.operation.observation import Observation
from kafka_replica.server.operation.process_roles import MainRole, WorkerRole
from kafka_replica.testing import FakeTopic
from support.server.app_tools import stand_in
from support.server.registry import codelist
from support.server.server_tools import connected, running
from support.waiting import wait_until

ID = (b"x-request-id", b"the-same")
FOUND = "/sdmx/v2/structure/codelist/ECB/CL_A/1.0"
OTHER = "/sdmx/v2/structure/codelist/ECB/CL_B/1.0"
Scope = dict[str, Any]


class Answer(NamedTuple):
    """An answer as a client gets it."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


def scope_of(path: str = FOUND, query: str = "", method: str = "GET", **headers: str) -> Scope:
    """Return the scope of a request as servers make it."""
    named = {"host": "localhost", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query.encode(),
        "root_path": "", "client": ("192.0.2.1", 5), "state": {},
        "headers": [*((name.encode(), value.encode()) for name, value in named.items()), ID],
    }  # fmt: skip


def of_app(service: Service, scope: Scope) -> Answer:
    """Return the answer of the app."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    asyncio.run(service.app(scope, receive, send))
    start, *bodies = sent
    return Answer(start["status"], list(start["headers"]), b"".join(message.get("body", b"") for message in bodies))


def at_once(service: Service, scope: Scope) -> Answer | None:
    """Return the answer that is sent without the app, if there is one."""
    sent: list[Answer] = []
    assert service.known_answers is not None

    def send(answer: Response) -> None:
        sent.append(Answer(answer.status_code, answer.raw_headers, bytes(answer.body)))

    was_sent = service.known_answers(scope, send)
    assert was_sent == bool(sent)
    return sent[0] if sent else None


def serve(replica: Replica, **settings: Any) -> Service:
    """Return a service that has looked up all references, so that it knows which stored messages are complete."""
    service = Service(replica, ServerSettings(**settings))
    service.prepare()
    of_app(service, scope_of(OTHER, "references=parents", authorization="Bearer known"))
    return service


@pytest.fixture(scope="module")
def replica() -> Iterator[Replica]:
    """A replica with two codelists."""
    topic = FakeTopic("lists")
    for name in ("CL_A", "CL_B"):
        made = codelist(f"Codelist ECB:{name}(1.0)", "A M")
        topic.put(str(made.urn), write_message(made, Format.SDMX_JSON_2_1))
    with topic.replica() as replica:
        replica.wait_ready(30)
        yield replica


@pytest.fixture(scope="module")
def service(replica: Replica) -> Service:
    """A service without tokens."""
    return serve(replica)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "headers", [{}, {"accept": "application/*"}, {"accept_encoding": "gzip"}, {"origin": "https://example.org"}]
)
def test_a_stored_message_is_the_answer_of_the_app(replica: Replica, method: str, headers: dict[str, str]) -> None:
    """The first answer to a request is sent at once, if it consists of stored bytes; so is a 304 to its tag."""
    found = at_once(serve(replica), scope_of(method=method, **headers))
    wanted = of_app(serve(replica), scope_of(method=method, **headers))
    assert found is not None
    assert found == wanted
    assert (found.status, bool(found.body)) == (200, method == "GET")
    tag = dict(found.headers)[b"etag"].decode()
    again = scope_of(method=method, **headers, if_none_match=tag)
    found = at_once(serve(replica), again)
    assert found == of_app(serve(replica), dict(again)) == Answer(304, found.headers if found else [], b"")


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("references=all", {}),
        ("detail=allstubs", {"accept": "application/xml"}),
        ("", {"accept": "application/xml", "accept_encoding": "gzip"}),
        ("references=children", {"accept": "text/html, application/xml", "user_agent": "Mozilla"}),
    ],
)
def test_an_answer_in_the_cache_is_sent_at_once(service: Service, query: str, headers: dict[str, str]) -> None:
    """An answer that has to be computed is left to the app for the first time."""
    assert at_once(service, scope_of(query=query, **headers)) is None
    wanted = of_app(service, scope_of(query=query, **headers))
    assert wanted.status == 200
    assert at_once(service, scope_of(query=query, **headers)) == wanted


@pytest.mark.parametrize(
    "scope",
    [
        scope_of(FOUND.replace("CL_A", "CL_C")),
        scope_of(FOUND.replace("codelist", "codelis%74")),
        scope_of("/sdmx/v2"),
        scope_of("/sdmx/v9/structure"),
        scope_of("/version/1" + FOUND),
        scope_of("/records"),
        scope_of(query="nonsense=1"),
        scope_of(query="asOf=1"),
        scope_of(method="POST"),
        scope_of(method="OPTIONS"),
        scope_of(host="elsewhere.example"),
        scope_of(accept="image/png"),
        scope_of(content_length="5"),
        scope_of(padding="x" * 70_000),
        scope_of(query="x" * 70_000),
        {**scope_of(), "root_path": "/sdmx"},
        {**scope_of(), "state": {EXCESS: 3}},
    ],
    ids=lambda scope: f"{scope['method']} {scope['path']}"[:60],
)
def test_all_others_are_left_to_the_app(service: Service, caplog: pytest.LogCaptureFixture, scope: Scope) -> None:
    """Errors, refusals and other paths are left to the app, however often they are asked for."""
    caplog.set_level(logging.DEBUG, "kafka_replica.server")
    for _ in range(2):
        assert at_once(service, dict(scope)) is None
        if scope["method"] != "POST" and not scope["root_path"]:
            of_app(service, dict(scope))
    assert not caplog.records


def test_a_client_needs_a_token(replica: Replica, tmp_path: Path) -> None:
    """Only a request with a known token is answered."""
    file = tmp_path / "tokens"
    file.write_text(f"read {hashlib.sha256(b'known').hexdigest()} someone\n")
    service = serve(replica, tokens_file=file)
    assert at_once(service, scope_of()) is None
    assert at_once(service, scope_of(authorization="Bearer other")) is None
    found = at_once(service, scope_of(authorization="Bearer known"))
    assert found == of_app(service, scope_of(authorization="Bearer known"))


def test_requests_in_progress_count(replica: Replica) -> None:
    """At the maximum number of requests in progress, the app refuses further ones, also if their answers are known."""
    service = serve(replica, max_requests=1)
    assert at_once(service, scope_of()) is not None
    found: list[Answer | None] = []

    async def during(_scope: Any, _receive: Any, _send: Any) -> None:
        found.append(at_once(service, scope_of()))

    asyncio.run(Gate(during, service._checks)(scope_of(), None, None))  # type: ignore[arg-type]
    assert found == [None]
    assert at_once(service, scope_of()) is not None


def test_a_service_without_a_version_leaves_its_answers_to_the_app() -> None:
    """Before the first version, the app answers with 503."""
    topic = FakeTopic()
    with topic.outage(), topic.replica(stalled_after_s=1000) as replica:
        service = Service(replica, ServerSettings())
        assert at_once(service, scope_of()) is None
        assert of_app(service, scope_of()).status == 503


def test_a_new_version_is_answered_by_the_app_first() -> None:
    """No answer of an earlier version is sent, and the first one of a new version is as the app answers it."""
    topic = FakeTopic("lists")
    first, second = (codelist("Codelist ECB:CL_A(1.0)", codes) for codes in ("A M", "A M Q"))
    topic.put(str(first.urn), write_message(first, Format.SDMX_JSON_2_1))
    with topic.replica() as replica:
        replica.wait_ready(30)
        service = serve(replica)
        before = at_once(service, scope_of())
        topic.put(str(first.urn), write_message(second, Format.SDMX_JSON_2_1))
        wait_until(lambda: replica.snapshot().version == 2)
        after = at_once(service, scope_of()) or of_app(service, scope_of())
        wait_until(lambda: at_once(service, scope_of()) is not None)
        assert before is not None
        assert (before.body, after.body) == tuple(write_message(each, Format.SDMX_JSON_2_1) for each in (first, second))
        assert dict(after.headers)[b"kafka-replica-version"].startswith(b"2.")
        assert at_once(service, scope_of()) == after


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_request_is_counted_and_logged_as_by_the_app(
    replica: Replica, caplog: pytest.LogCaptureFixture, method: str
) -> None:
    """The metrics and the access log have the same facts, except for durations."""
    caplog.set_level(logging.INFO, ACCESS_LOGGER)
    by_app, without = serve(replica), serve(replica)
    caplog.clear()
    of_app(by_app, scope_of(query="", method=method))
    at_once(without, scope_of(query="", method=method))
    accesses: list[Access] = [record.access for record in caplog.records if record.name == ACCESS_LOGGER]  # type: ignore[attr-defined]
    assert len(accesses) == 2
    assert accesses[0]._replace(duration_s=0) == accesses[1]._replace(duration_s=0)
    assert accesses[0].request_id == "the-same"
    counted = [_counts(service) for service in (by_app, without)]
    assert counted[0] == counted[1]
    assert any('requests_total{method="' + method in line for line in counted[0])
    assert "kafka_replica_http_requests_in_progress 0.0" in counted[0]


def _counts(service: Service) -> list[str]:
    """Return the lines of the metrics of requests, without durations and times."""
    lines = service._counts.exposition()[0].decode().splitlines()
    is_time = re.compile(r"(_created|_seconds_(bucket|sum))\b").search
    return [line for line in lines if line.startswith("kafka_replica_http_") and not is_time(line)]


def test_an_unexpected_error_is_logged_and_left_to_the_app(
    replica: Replica, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defect does not end the connection: the app answers, and logs the error if it has the same."""
    caplog.set_level(logging.DEBUG)
    service = serve(replica)
    monkeypatch.setattr("kafka_replica.server.routes.sdmx.SdmxRoutes.known", lambda *_: 1 / 0)
    assert at_once(service, scope_of()) is None
    assert of_app(service, scope_of()).status == 200
    (record,) = (record for record in caplog.records if record.exc_info)
    assert record.levelno == logging.DEBUG  # the app logs it with its level, if it has the same reason
    assert "request the-same" in record.getMessage()


def test_an_answer_that_cannot_be_counted_was_sent(
    replica: Replica, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, in which workers count, must not end the connection or have the request answered again."""
    service = serve(replica)
    monkeypatch.setattr(service._counts, "counted", lambda *_: 1 / 0)
    assert at_once(service, scope_of()) is not None
    assert "request the-same was answered, but counting it failed" in caplog.text


def test_a_request_with_a_long_address_is_refused_by_the_app(replica: Replica) -> None:
    """The limit also holds for an answer that is known."""
    service = serve(replica)
    assert at_once(service, scope_of()) is not None
    service._checks._settings = ServerSettings(max_url_bytes=len(FOUND) - 1)
    assert at_once(service, scope_of()) is None
    assert of_app(service, scope_of()).status == 414
    service._checks._settings = ServerSettings(max_url_bytes=len(FOUND))
    assert at_once(service, scope_of()) is not None


def test_an_app_that_adds_to_answers_answers_itself(replica: Replica) -> None:
    """A caller's function may return any headers, and with allowed origins even answers to others have more headers."""
    assert Service(replica, ServerSettings(), answer=stand_in).known_answers is None
    assert Service(replica, ServerSettings(allowed_origins=("https://example.org",))).known_answers is None


def test_the_main_process_of_several_answers_by_its_app(replica: Replica, tmp_path: Path) -> None:
    """Requests to the main process were counted and checked by a worker; those to a worker are answered by itself."""
    assert Service(replica, ServerSettings(), role=MainRole(tmp_path, lambda: None)).known_answers is None  # type: ignore[arg-type]
    assert Service(replica, ServerSettings(), role=WorkerRole("socket", has_history=True)).known_answers is not None


def test_the_server_sends_known_answers_without_the_app(replica: Replica, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client gets the same bytes, and the app gets only the request whose answer is not known yet."""
    called: list[str] = []
    answer = Observation.__call__

    async def noted(self: Observation, scope: Any, receive: Any, send: Any) -> None:
        called.append(scope["type"])
        await answer(self, scope, receive, send)

    monkeypatch.setattr(Observation, "__call__", noted)
    with running(replica, answer=None) as (address, server), connected(address) as client:
        server.service.prepare()
        host = address.removeprefix("http://")
        request = f"GET {FOUND}?detail=full HTTP/1.1\r\nhost: {host}\r\nx-request-id: the-same\r\n\r\n".encode()
        found = [_exchanged(client, request) for _ in range(3)]
    assert called.count("http") == 1
    dates = re.compile(rb"\r\ndate: [^\r]+")
    assert {dates.sub(b"", each, count=1) for each in found} == {dates.sub(b"", found[0], count=1)}
    assert all(each.startswith(b"HTTP/1.1 200 OK\r\ndate: ") for each in found)
    assert server.server_state.total_requests == 3


def _exchanged(client: socket.socket, request: bytes) -> bytes:
    """Send a request; return its whole answer."""
    client.sendall(request)
    data = b""
    while b"\r\n\r\n" not in data:
        data += client.recv(65_536)
    size = re.search(rb"\r\ncontent-length: (\d+)", data)
    assert size is not None
    while len(data.partition(b"\r\n\r\n")[2]) < int(size[1]):
        data += client.recv(65_536)
    return data
