"""The pages of producers, with a real producer and broker: what they show, who may control, and what then happens."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.testclient import TestClient

from kafka_replica import Replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import ConfigurationError
from kafka_replica.producer import Put, StructureProducer
from kafka_replica.producer.files import read_configuration
from kafka_replica.producer.outbox.modes import Mode
from kafka_replica.server import ServerSettings, create_app
from kafka_replica.testing import FakeTopic
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.producer.producer_tools import transactions_of, wait_until
from support.server.app_tools import client_of
from support.server.browser import browsing
from support.server.html_tools import BROWSER, page_at
from support.server.page_rules import check_keyboard, check_rules
from support.server.server_tools import running

CAPTION = "Recorded transactions, the newest first, at most 100"
OWN = {"Origin": "http://localhost"}


class World(NamedTuple):
    """A producer that runs, a service that knows it, and clients with tokens of both roles."""

    producer: StructureProducer
    bootstrap: str
    topic: str
    settings: ServerSettings
    replica: Replica
    reader: TestClient
    operator: TestClient

    def record(self, *keys: str) -> None:
        """Record a transaction."""
        with self.producer.engine.begin() as connection:
            self.producer.record(connection, [Put(key, b"value", "text/plain") for key in keys])

    def wait_sent(self) -> None:
        """Wait until nothing is pending."""
        wait_until(lambda: self.producer.status().pending == 0, "everything is sent")


@pytest.fixture
def world(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> Iterator[World]:
    """A producer over a database, known to a service by its settings file."""
    topic, file, tokens = kafka_topic(), tmp_path / "registry.toml", tmp_path / "tokens"
    file.write_text(f"""
        [producer]
        id = "structures"
        topic = "{topic}"
        database = "sqlite:///{tmp_path / "outbox.db"}"
        first_start = "resume"
        lease_s = 2.0
        poll_s = 0.02
        [kafka]
        "bootstrap.servers" = "{local_kafka.bootstrap_servers}"
    """)
    tokens.write_text(
        "".join(f"{role} {hashlib.sha256(role.encode()).hexdigest()} Ada\n" for role in ("read", "control"))
    )
    settings = ServerSettings(producers=(str(file),), tokens_file=tokens)
    fake = FakeTopic()
    fake.put("a", b"value")
    with (
        StructureProducer(read_configuration(file).producer) as producer,
        fake.replica() as replica,
        client_of(create_app(replica, settings)) as reader,
        client_of(create_app(replica, settings)) as operator,
    ):
        replica.wait_ready(30)
        for client, token in ((reader, "read"), (operator, "control")):
            client.headers["Authorization"] = f"Bearer {token}"
        yield World(producer, local_kafka.bootstrap_servers, topic, settings, replica, reader, operator)


def act(client: TestClient, action: str, **fields: str) -> Any:
    """Send a form as a browser does, without following where it leads."""
    path = f"/producers/registry/{action}"
    return client.post(path, data=fields, headers={**BROWSER, **OWN}, follow_redirects=False)


def numbers(client: TestClient, status: str) -> list[str]:
    """Return the numbers of the transactions with a status."""
    return page_at(client, f"/producers/registry?status={status}").column(CAPTION, 0)


def test_suspend_resume_and_flush_have_their_effect(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """A suspended producer sends nothing, a resumed one sends it once; a flush sends all; the log names holders."""
    caplog.set_level(logging.INFO, "kafka_replica.access.control")
    world.record("a")
    world.wait_sent()
    answer = act(world.operator, "suspend", reason="maintenance")
    assert (answer.status_code, answer.headers["location"]) == (303, "/producers/registry?done=suspend")
    wait_until(lambda: world.producer.status().mode is Mode.SUSPENDED, "it is suspended")
    page = page_at(world.operator, "/producers/registry?done=suspend")
    assert "maintenance (by Ada)" in page.text
    assert "The producer was asked to suspend." in page.text
    world.record("b")
    assert (numbers(world.reader, "pending"), numbers(world.reader, "sent")) == (["2"], ["1"])
    assert numbers(world.reader, "failed") == []
    assert page_at(world.reader, "/producers").column("Reference producers", 5) == ["1"]
    assert act(world.operator, "resume").status_code == 303
    world.wait_sent()
    assert transactions_of(world.bootstrap, world.topic) == [(1, 1), (2, 1)]
    assert act(world.operator, "flush").status_code == 400
    assert act(world.operator, "flush", confirm="yes").status_code == 303
    world.wait_sent()
    assert transactions_of(world.bootstrap, world.topic) == [(1, 1), (2, 1), (3, 2)]
    assert numbers(world.reader, "all") == ["4", "3", "2", "1"]
    said = [record.getMessage() for record in caplog.records if record.name == "kafka_replica.access.control"]
    assert [line.split(" from ")[0] for line in said] == [
        f"{action} of producer registry by Ada" for action in ("suspend", "resume", "flush")
    ]


def test_only_the_role_control_controls(world: World) -> None:
    """Readers see everything and change nothing, neither do strangers and other sites."""
    page, forms = page_at(world.reader, "/producers/registry"), page_at(world.operator, "/producers/registry")
    assert not page.named("form")
    assert [one["action"] for one in forms.named("form")] == [
        f"/producers/registry/{action}" for action in ("suspend", "resume", "flush")
    ]
    assert act(world.reader, "suspend").status_code == 403
    anonymous = client_of(world.operator.app)  # type: ignore[arg-type]
    assert act(anonymous, "suspend").status_code == 401
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        assert world.operator.post("/producers/registry/suspend", data={}, headers=headers).status_code == 403
    assert world.operator.get("/producers/registry/suspend").status_code == 405
    assert world.producer.status().mode is Mode.RUNNING
    open_to_all = client_of(create_app(world.replica, ServerSettings(producers=world.settings.producers)))
    assert "tokens_file" in page_at(open_to_all, "/producers/registry").text
    assert act(open_to_all, "suspend").status_code == 403
    assert world.producer.status().mode is Mode.RUNNING


def test_programs_get_json_and_reasons(world: World) -> None:
    """Without a browser's headers: facts, transactions, and refusals as problems."""
    world.record("a")
    world.wait_sent()
    (listed,) = world.reader.get("/producers").json()["producers"]
    assert (listed["name"], listed["mode"], listed["sent"]) == ("registry", "running", 1)
    found = world.reader.get("/producers/registry?watch=yes&status=sent").json()
    assert (found["owner_lives"], [one["tx_id"] for one in found["transactions"]]) == (True, [1])
    done = world.operator.post("/producers/registry/suspend", data={"reason": "x" * 1000})
    assert done.json()["done"] == "suspend"
    assert world.producer.status().reason == f"{'x' * 200} (by Ada)"
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for status, answer in (
        (404, world.operator.get("/producers/other")),
        (404, world.operator.post("/producers/registry/delete", data={"a": "b"})),
        (404, world.operator.post("/producers/other/suspend", data={"a": "b"})),
        (400, world.operator.get("/producers/registry?status=x")),
        (415, world.operator.post("/producers/registry/suspend", json={})),
        (413, world.operator.post("/producers/registry/suspend", content=b"a" * 10_000, headers=form)),
        (405, world.operator.post("/producers", data={"a": "b"})),
    ):
        assert (answer.status_code, answer.json()["status"]) == (status, status), answer.text


def test_a_failed_transaction_is_shown_with_its_reason(world: World) -> None:
    """A record that is larger than the topic allows stops the producer; hostile reasons are text."""
    hostile = "<script>alert(1)</script>"
    assert act(world.operator, "suspend", reason=hostile).status_code == 303
    assert hostile in page_at(world.operator, "/producers/registry").text
    act(world.operator, "resume")
    with world.producer.engine.begin() as connection:
        world.producer.record(connection, [Put("large", os.urandom(3_000_000), "text/plain")])
    wait_until(lambda: world.producer.status().mode is Mode.FAILED, "it fails")
    page = page_at(world.reader, "/producers/registry?status=failed")
    assert page.column(CAPTION, 0) == ["1"]
    assert "max.message.bytes" in page.text
    assert "Transaction 1" in page_at(world.reader, "/producers").column("Reference producers", 6)[0]


def test_a_database_that_is_missing_fails_alone(world: World, tmp_path: Path) -> None:
    """The list shows the others; the reason has no path; files that cannot be used are errors at the start."""
    missing = tmp_path / "missing.toml"
    missing.write_text(f"""
        [producer]
        topic = "t"
        database = "sqlite:///{tmp_path}/none/o.db"
        [kafka]
        "bootstrap.servers" = "localhost:1"
    """)
    settings = ServerSettings(producers=(*world.settings.producers, str(missing)))
    client = client_of(create_app(world.replica, settings))
    page = page_at(client, "/producers")
    assert page.column("Reference producers", 2) == ["running", "not known"]
    reason = page.column("Reference producers", 6)[1]
    assert reason
    assert str(tmp_path) not in page.text
    answer = client.get("/producers/missing", headers=BROWSER)
    assert answer.status_code in {409, 503}
    assert str(tmp_path) not in answer.text
    for files in ((str(missing), str(missing)), (str(tmp_path / "no.toml"),), (str(tmp_path / "tokens"),)):
        with pytest.raises(ConfigurationError, match="producers"):
            create_app(world.replica, ServerSettings(producers=files))


@pytest.mark.long
def test_a_browser_suspends_without_scripts(world: World, tmp_path: Path) -> None:
    """The browser names its origin, so that forms are accepted; a header does what a proxy for signing in would do."""
    settings = ServerSettings(producers=world.settings.producers, tokens_file=world.settings.tokens_file)
    with (
        running(world.replica, settings=settings, answer=None) as (address, _),
        browsing(tmp_path, scripts=False) as browser,
    ):
        browser.send_headers(Authorization="Bearer control")
        browser.open(f"{address}/producers/registry")
        check_keyboard(browser, "a page with the forms")
        browser.submit("form[action$='/suspend'] button")
        assert "asked to suspend" in browser.run("return document.body.textContent")
        assert world.producer.status().mode is Mode.SUSPENDED
        browser.submit("form[action$='/resume'] button")
        browser.click("#confirm")
        browser.submit("form[action$='/flush'] button")
        assert "was recorded" in browser.run("return document.body.textContent")
        with browsing(tmp_path / "scripts") as other:
            other.send_headers(Authorization="Bearer control")
            other.open(f"{address}/producers/registry")
            check_rules(other, "a page with the forms")
    assert world.producer.status().recorded == 2
