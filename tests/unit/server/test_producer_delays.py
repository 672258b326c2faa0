"""Pages of producers whose databases do not answer in time."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kafka_replica.errors import UsageError
from kafka_replica.server import ServerSettings, app
from kafka_replica.server.operation.control_log import CONTROL_LOGGER
from kafka_replica.testing import FakeTopic
from support.server.app_tools import client_of, stand_in
from support.server.html_tools import BROWSER
from support.waiting import wait_until


class HangingProducer:
    """A producer whose database answers when ``released`` is set."""

    name = "registry"

    def __init__(self) -> None:
        self.released = threading.Event()

    def facts(self, *_args: object, **_options: object) -> None:
        """Wait; then fail."""
        self.released.wait(60)
        raise UsageError("no facts")

    def perform(self, action: str, _reason: str) -> str:
        """Wait; then return a sentence, except for ``flush``."""
        self.released.wait(60)
        if action == "flush":
            raise UsageError("not now")
        return "it was done"

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture
def producer(monkeypatch: pytest.MonkeyPatch) -> Iterator[HangingProducer]:
    """A producer whose database does not answer during the test."""
    hanging = HangingProducer()
    monkeypatch.setattr(app, "controlled_producers", lambda _files: {"registry": hanging})
    yield hanging
    hanging.released.set()


@pytest.fixture
def client(producer: HangingProducer, tmp_path: Path) -> Iterator[TestClient]:
    """A client that may control, of a service with one thread for answers."""
    tokens, topic = tmp_path / "tokens", FakeTopic()
    tokens.write_text(f"control {hashlib.sha256(b'token').hexdigest()} Ada\n")
    settings = ServerSettings(threads=1, request_timeout_s=2, tokens_file=tokens)
    with topic.replica() as replica:
        replica.wait_ready(30)
        found = client_of(app.create_app(replica, settings, answer=stand_in))
        found.headers["Authorization"] = "Bearer token"
        yield found


@pytest.mark.thorough
@pytest.mark.parametrize("path", ["/producers", "/producers/registry"])
@pytest.mark.parametrize("headers", [{}, BROWSER], ids=["program", "browser"])
def test_a_database_that_does_not_answer_delays_no_queries(
    client: TestClient, path: str, headers: dict[str, str]
) -> None:
    """Queries for structures are answered while a request to a producer's database occupies its thread."""
    assert client.get(path, headers=headers).status_code == 503
    assert client.get("/sdmx/v2/a").status_code == 200


@pytest.mark.thorough
@pytest.mark.parametrize(("action", "outcome"), [("suspend", "it was done"), ("flush", "failed: not now")])
def test_the_log_has_the_outcome_of_an_action_that_ends_late(
    client: TestClient, producer: HangingProducer, caplog: pytest.LogCaptureFixture, action: str, outcome: str
) -> None:
    """At the time limit the log says that the outcome is not known; when the action ends, it has the outcome."""
    caplog.set_level(logging.INFO, CONTROL_LOGGER)

    def outcomes() -> list[str]:
        lines = [record.getMessage() for record in caplog.records if record.name == CONTROL_LOGGER]
        return [line.split(": ", 1)[1] for line in lines]

    assert client.post(f"/producers/registry/{action}", data={"confirm": "yes"}).status_code == 503
    assert outcomes() == ["requested, outcome not known yet"]
    producer.released.set()
    wait_until(lambda: outcomes() == ["requested, outcome not known yet", outcome])
