"""The pages of producers, with a real producer and broker: what they show, who may control, and what then happens."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.testclient import TestClient

from kafka_replica import Replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import ConfigurationError
from kafka_replica.producer import Put, StructureProducer
from kafka_replica.producer.configuration_files.configuration import read_configuration
from kafka_replica.producer.outbox.modes import Mode
from kafka_replica.server import ServerSettings, create_app
from kafka_replica.testing import FakeTopic
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.producer.producer_tools import transactions_of
from support.server.app_tools import client_of
from support.server.browser import browsing
from support.server.html_tools import BROWSER, page_at
from support.server.page_rules import check_keyboard, check_rules
from support.server.server_tools import running
from support.waiting import wait_until

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
    services: ExitStack

    def record(self, *keys: str) -> None:
        """Record a transaction."""
        with self.producer.engine.begin() as connection:
            self.producer.record(connection, [Put(key, b"value", "text/plain") for key in keys])

    def client(self, settings: ServerSettings) -> TestClient:
        """Return a client of another service, which ends with the test."""
        return self.services.enter_context(client_of(create_app(self.replica, settings)))

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
        ExitStack() as services,
    ):
        replica.wait_ready(30)
        for client, token in ((reader, "read"), (operator, "control")):
            client.headers["Authorization"] = f"Bearer {token}"
        wait_until(lambda: producer.status().mode is Mode.RUNNING, "it runs")
        yield World(producer, local_kafka.bootstrap_servers, topic, settings, replica, reader, operator, services)


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
    assert "The request to suspend the producer was stored." in page.text
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
    log_lines = [record.getMessage() for record in caplog.records if record.name == "kafka_replica.access.control"]
    assert [line.split(" from ")[0] for line in log_lines] == [
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
    open_to_all = world.client(ServerSettings(producers=world.settings.producers))
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
    client = world.client(settings)
    wait_until(lambda: world.producer.status().mode is Mode.RUNNING, "it runs")
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


def test_a_person_signs_in_and_controls_without_scripts(world: World, tmp_path: Path) -> None:
    """A reader may not control; after signing in with another token, suspend, resume and flush work; then out again."""
    settings = ServerSettings(producers=world.settings.producers, tokens_file=world.settings.tokens_file)
    with (
        running(world.replica, settings=settings, answer=None) as (address, _),
        browsing(tmp_path, scripts=False) as browser,
    ):
        text = "return document.body.textContent"
        browser.open(f"{address}/producers/registry")
        assert "Unauthorized" in browser.run(text)
        browser.follow("main a[href*='/sign-in']")
        for token, expected in (("wrong", "not accepted"), ("read", "sign in with a token that has the role control")):
            browser.type("#token", token)
            browser.submit("form[action$='/sign-in'] button")
            assert expected in browser.run(text)
        assert "Signed in as Ada (read)." in browser.run(text)
        assert browser.run("return document.cookie") == ""
        browser.follow("#control + p a")
        browser.type("#token", "control")
        browser.submit("form[action$='/sign-in'] button")
        assert browser.run("return location.pathname") == "/producers/registry"
        browser.submit("form[action$='/suspend'] button")
        assert "request to suspend" in browser.run(text)
        assert world.producer.status().mode is Mode.SUSPENDED
        assert world.producer.status().reason == "by request (by Ada)"
        browser.submit("form[action$='/resume'] button")
        browser.click("#confirm")
        browser.submit("form[action$='/flush'] button")
        assert "was recorded" in browser.run(text)
        assert world.producer.status().recorded == 2
        browser.run("document.querySelector('form[action$=\"/suspend\"] input[name=csrf]').value = 'x'")
        browser.submit("form[action$='/suspend'] button")
        assert "does not belong to this session" in browser.run(text)
        browser.follow(".session a")
        browser.submit("form[action$='/sign-out'] button")
        browser.open(f"{address}/producers/registry")
        assert "Unauthorized" in browser.run(text)
    assert world.producer.status().mode is not Mode.SUSPENDED


@pytest.mark.long
def test_pages_for_signing_in_follow_the_rules(world: World, tmp_path: Path) -> None:
    """In both themes and by keyboard: refused, signed in with each role, forbidden."""
    settings = ServerSettings(producers=world.settings.producers, tokens_file=world.settings.tokens_file)
    with running(world.replica, settings=settings, answer=None) as (address, _), browsing(tmp_path) as browser:
        for path in ("/", "/sign-in", "/structures?q=%22%3Cb%3E"):
            browser.open(address + path)
            check_rules(browser, path)
        for token in ("wrong", "read", "control"):
            browser.open(f"{address}/sign-in?next=/producers/registry")
            browser.type("#token", token)
            browser.submit("form[action$='/sign-in'] button")
            check_rules(browser, token)
            browser.open(f"{address}/sign-in")
            check_rules(browser, f"signed in: {token}")
        check_keyboard(browser, "signed in")
        browser.open(f"{address}/producers/registry")
        browser.run("document.querySelector('form[action$=\"/suspend\"] input[name=csrf]').value = 'x'")
        browser.submit("form[action$='/suspend'] button")
        check_rules(browser, "forbidden")


def test_sessions_have_the_role_of_their_token(world: World) -> None:
    """The cookie is for no script and no other site; forms need its value; a revoked token ends the session."""
    browser = world.client(world.settings)
    browser.headers.update(BROWSER)
    sign_in = page_at(browser, "/producers/registry?status=sent", 401).links["Sign in"]
    assert sign_in == "/sign-in?next=%2Fproducers%2Fregistry%3Fstatus%3Dsent"
    assert browser.get("/static/pages.css").status_code == 200
    page_at(browser, sign_in)
    form = {"token": "control", "next": "/producers/registry?status=sent"}
    assert browser.post("/sign-in", data=form, headers={"Origin": "http://evil.example"}).status_code == 403
    assert browser.post("/sign-in", data={**form, "token": "x"}, headers=OWN).status_code == 401
    assert not browser.cookies
    for following in ("//evil.example", "https://evil.example", "/\\evil.example", "x"):
        answer = browser.post("/sign-in", data={**form, "next": following}, headers=OWN, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/"), following
    answer = browser.post("/sign-in", data=form, headers=OWN, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, form["next"])
    assert answer.headers["set-cookie"] == "kafka_replica_session=control; HttpOnly; Path=/; SameSite=strict"
    page = page_at(browser, "/producers/registry")
    assert "Signed in as Ada (control)." in page.text
    (csrf,) = {one["value"] for one in page.named("input") if one["name"] == "csrf"}
    assert csrf is not None
    assert act(browser, "suspend").status_code == 403
    assert act(browser, "suspend", csrf="0" * 64).status_code == 403
    assert world.producer.status().mode is Mode.RUNNING
    assert act(browser, "suspend", csrf=csrf).status_code == 303
    reader = world.client(world.settings)
    reader.post("/sign-in", data={"token": "read"}, headers=OWN)
    assert act(reader, "resume", csrf=csrf).status_code == 403
    assert page_at(reader, "/sign-in").text.count("with the role read") == 1
    assert browser.get("/", headers={"Authorization": "Bearer x"}).status_code == 401  # a header wins
    answer = browser.post("/sign-out", data={}, headers=OWN, follow_redirects=False)
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert act(browser, "suspend", csrf=csrf).status_code == 401
    assert browser.post("/sign-in", json={}, headers=OWN).status_code == 415
    assert reader.get("/metrics").status_code == 200
    assert world.settings.tokens_file is not None
    world.settings.tokens_file.write_text(f"control {hashlib.sha256(b'control').hexdigest()} Ada\n")
    wait_until(lambda: reader.get("/metrics").status_code == 401, "the token is revoked")
    no_tokens = world.client(ServerSettings())
    assert no_tokens.get("/sign-in").status_code == 404
    assert no_tokens.post("/sign-in", data=form, headers=OWN).status_code == 404
