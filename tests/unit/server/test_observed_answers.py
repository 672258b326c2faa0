"""The outermost layers: answers, problems, and apps that fail before or after their answer has begun."""

from __future__ import annotations

import asyncio
import gc
import json
from typing import Any

import pytest
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kafka_replica.metrics.server import RequestMetrics
from kafka_replica.sdmx import Structures
from kafka_replica.server import ServerSettings, create_app
from kafka_replica.server.errors.problem_forms import Form, ProblemForms
from kafka_replica.server.errors.problems import problem_response
from kafka_replica.server.operation.observation import Observation, ObservedAnswer, UnexpectedErrors
from kafka_replica.server.rest import RestAnswer, RestRequest
from kafka_replica.testing import FakeTopic

SCOPE = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}
START = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]}
BODY = {"type": "http.response.body", "body": b"all of it"}


def page(_scope: Scope, problem: dict[str, Any]) -> Form | None:
    """Return the form of problems with a status below 500."""
    return (
        Form("text/html", f"<p>{problem['detail']}".encode(), {"x-form": "page"}) if problem["status"] < 500 else None
    )


def with_observation(app: ASGIApp, metrics: RequestMetrics) -> ASGIApp:
    """Return an app within both layers."""
    return Observation(UnexpectedErrors(app), metrics, lambda _scope: "route", ProblemForms(page))


async def nothing(_message: Message | None = None) -> Message:
    """Receive nothing, or send into the void."""
    return {"type": "http.disconnect"}


class Sent:
    """The messages that a client got from an app, and the counts of the request."""

    def __init__(self, app: ASGIApp, *, observed: bool = True, method: str = "GET") -> None:
        self.messages: list[Message] = []
        self.error: Exception | None = None
        metrics = RequestMetrics()
        layers = with_observation(app, metrics) if observed else UnexpectedErrors(app)
        try:
            asyncio.run(layers(dict(SCOPE, method=method), nothing, self._send))  # type: ignore[arg-type]
        except RuntimeError as error:
            self.error = error
        self.counted = metrics.exposition()[0].decode()

    async def _send(self, message: Message) -> None:
        self.messages.append(message)

    @property
    def status(self) -> int:
        """The status of the only answer."""
        starts = [message for message in self.messages if message["type"] == "http.response.start"]
        (start,) = starts
        return int(start["status"])

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the only answer."""
        return {name.decode(): value.decode() for name, value in self.messages[0]["headers"]}

    @property
    def body(self) -> bytes:
        """The bytes of its body."""
        return b"".join(message.get("body", b"") for message in self.messages[1:])


async def answers(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Answer."""
    await send(dict(START))
    await send(dict(BODY))


async def fails(_scope: Scope, _receive: Receive, _send: Send) -> None:
    """Fail before the answer begins."""
    raise RuntimeError("secret")


async def fails_later(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Fail between the head of an answer and its body."""
    await send(dict(START))
    raise RuntimeError("secret")


async def fails_within_a_problem(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Fail between the head of a problem, whose form depends on its body, and this body."""
    await send(dict(START, status=404, headers=[(b"content-type", b"application/problem+json")]))
    raise RuntimeError("secret")


async def ends_a_problem_later(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Send a problem, and its end in a message of its own."""
    await send(dict(START, status=404, headers=[(b"content-type", b"application/problem+json")]))
    await send(dict(BODY, body=b'{"status": 404, "detail": "nothing there"}', more_body=True))
    await send(dict(BODY, body=b""))


async def refuses(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with a problem that has a form."""
    await problem_response(404, "nothing there")(scope, receive, send)


def test_an_answer_is_protected_and_counted() -> None:
    """The client gets its bytes, with the id of the request and the security headers."""
    sent = Sent(answers)
    assert (sent.status, sent.body) == (200, b"all of it")
    assert {"x-request-id", "content-security-policy", "referrer-policy", "x-content-type-options"} < set(sent.headers)
    assert 'kafka_replica_http_requests_total{method="GET",route="route",status="200"} 1.0' in sent.counted
    assert 'kafka_replica_http_response_bytes_total{method="GET",route="route"} 9.0' in sent.counted
    assert "kafka_replica_http_requests_in_progress 0.0" in sent.counted
    assert Sent(answers, method="HEAD").body == b""


@pytest.mark.parametrize("observed", [True, False], ids=["observed", "in the main process of several"])
def test_an_app_that_fails_before_it_begins_is_answered(*, observed: bool) -> None:
    """The answer names the request; it has the form of problems that have no other."""
    sent = Sent(fails, observed=observed)
    found = json.loads(sent.body)
    assert (sent.status, sent.error) == (500, None)
    assert "X-Request-ID" in found["detail"]
    assert b"secret" not in sent.body
    if observed:
        assert sent.headers["x-request-id"] in found["detail"]


@pytest.mark.parametrize("observed", [True, False], ids=["observed", "in the main process of several"])
def test_an_app_that_fails_later_is_not_answered_twice(*, observed: bool) -> None:
    """The server gets the error, and closes the connection."""
    sent = Sent(fails_later, observed=observed)
    assert (sent.status, len(sent.messages), str(sent.error)) == (200, 1, "secret")


def test_a_problem_without_its_body_is_no_answer() -> None:
    """The client, to whom nothing was sent, gets the other error."""
    sent = Sent(fails_within_a_problem)
    assert (sent.status, sent.error) == (500, None)
    assert b"an unexpected error" in sent.body
    assert 'kafka_replica_http_requests_total{method="GET",route="route",status="500"} 1.0' in sent.counted


@pytest.mark.thorough
def test_a_request_leaves_no_garbage() -> None:
    """A cycle would stay until the next collection, which delays another request."""
    metrics = RequestMetrics()
    gc.collect()
    gc.disable()
    try:
        for app in (answers, refuses):
            asyncio.run(with_observation(app, metrics)(dict(SCOPE), nothing, nothing))  # type: ignore[arg-type]
        assert not any(type(one) is ObservedAnswer for one in gc.get_objects())
    finally:
        gc.enable()


def test_problems_get_their_form() -> None:
    """The length and the type are those of the form, which is counted; a HEAD request has no body."""
    sent = Sent(refuses)
    assert (sent.status, sent.body) == (404, b"<p>nothing there")
    assert (sent.headers["content-type"], sent.headers["content-length"]) == ("text/html", "16")
    assert sent.headers["x-form"] == "page"
    assert sent.headers["vary"] == "Accept"
    assert 'kafka_replica_http_response_bytes_total{method="GET",route="route"} 16.0' in sent.counted
    assert Sent(ends_a_problem_later).body == sent.body
    head = Sent(refuses, method="HEAD")
    assert (head.body, head.headers["content-length"]) == (b"", "16")


class Failing:
    """A middleware of a program that fails."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, _receive: Receive, _send: Send) -> None:
        """Fail."""
        raise RuntimeError(f"in the middleware at {scope['path']}")


@pytest.mark.parametrize("key", [Exception, 500])
def test_a_handler_of_the_program_answers_errors_of_its_own_middleware(key: type[Exception] | int) -> None:
    """The layers of the service do not see these errors."""

    def handles(_request: Request, error: Exception) -> Response:
        return Response(f"handled: {error}", 500)

    with FakeTopic("t").replica() as replica:
        app = create_app(replica)
        app.add_middleware(Failing)
        app.add_exception_handler(key, handles)
        found = TestClient(app, raise_server_exceptions=False).get("/sdmx/v2/structure")
    assert (found.status_code, found.text) == (500, "handled: in the middleware at /sdmx/v2/structure")


def test_errors_have_a_layer_of_their_own_only_if_the_program_needs_it() -> None:
    """The service answers errors itself; a program may want pages with a traceback, or have handlers."""
    with FakeTopic("t").replica() as replica:
        app = create_app(replica)
    assert not isinstance(app.build_middleware_stack(), ServerErrorMiddleware)
    app.debug = True
    assert isinstance(app.build_middleware_stack(), ServerErrorMiddleware)


def test_scripts_of_other_origins_can_read_unexpected_errors() -> None:
    """The layer that allows them to is around the one that answers errors."""

    def fails_to_answer(_request: RestRequest, _structures: Structures) -> RestAnswer:
        raise RuntimeError("secret")

    with FakeTopic("t").replica() as replica:
        app = create_app(replica, ServerSettings(allowed_origins=("https://a.example",)), answer=fails_to_answer)
        client = TestClient(app, "http://localhost", raise_server_exceptions=False)
        found = client.get("/sdmx/v2/structure", headers={"Origin": "https://a.example"})
    assert (found.status_code, found.headers["access-control-allow-origin"]) == (500, "https://a.example")
