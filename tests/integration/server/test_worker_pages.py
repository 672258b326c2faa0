"""The pages of ``kafka-replica serve --workers 2``: search and sessions are the same whichever worker answers."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from kafka_replica.embedded import LocalKafka
from kafka_replica.producer import StructureProducer
from kafka_replica.producer.configuration_files.configuration import read_configuration
from kafka_replica.testing.pytest_plugin import TopicMaker
from support import plain_http
from support.broker.kafka_tools import producer
from support.server.html_tools import BROWSER, PageContent
from support.server.worker_service import Service, service
from support.server.worker_tools import counted, cpu_ticks
from support.waiting import wait_until

pytestmark = [pytest.mark.long, pytest.mark.broker]

_TIMES = 12
"""Requests of a kind, each over a connection of its own, so that either worker may get it."""


def page(running: Service, path: str, status: int = 200, **headers: str) -> PageContent:
    """Return a page that any worker may answer."""
    found = running.get(path, **BROWSER, **headers)
    assert found.status_code == status, (path, found.text)
    content = PageContent(found.text)
    content.check()
    return content


def post(running: Service, path: str, cookie: str, **fields: str) -> httpx.Response:
    """Send a form over a connection of its own."""
    headers = {**BROWSER, "Origin": running.address, **({"Cookie": cookie} if cookie else {})}
    return plain_http.post(running.address + path, data=fields, headers=headers, timeout=60)


@contextmanager
def both_workers(running: Service) -> Iterator[None]:
    """Check that each of the two workers takes processor time for the requests within the block."""
    before = {pid: cpu_ticks(pid) for pid in running.workers}
    assert len(before) == 2
    yield
    assert all(cpu_ticks(pid) > ticks for pid, ticks in before.items())


def test_search_finds_the_same_with_each_worker(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """Words, filters and pages of items give the same rows on every connection, also after a change of the topic."""
    with service(local_kafka, kafka_topic("workers-search"), tmp_path) as running, both_workers(running):
        _check_search(running, "1")
        changed = str(running.write())
        wait_until(lambda: _names(running, changed))
        _check_search(running, changed)  # no worker shows an older version than was seen before
        assert not _names(running, "1")


def _check_search(running: Service, number: str) -> None:
    for _ in range(_TIMES):
        assert _names(running, number)
        assert page(running, "/structures?id=CL_B").column("Structures", 0) == ["CL_B"]
        assert page(running, "/structures?q=nowhere").column("Structures", 0) == []
        assert page(running, "/structures/Codelist/SDMX/CL_A/1.0?q=a").column("Items", 0) == ["A"]


def _names(running: Service, number: str) -> bool:
    """Return whether a search for the name that both codelists have finds both."""
    found = page(running, f"/structures?q={number}&in=names&class=Codelist")
    return [name.strip() for name in found.column("Structures", 1)] == [number, number]


def test_a_session_is_valid_with_each_worker(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """A session of one worker is known to the other, which accepts its forms; a revoked token ends it with both."""
    file, tokens = tmp_path / "registry.toml", tmp_path / "tokens"
    file.write_text(f"""
        [producer]
        id = "structures"
        topic = "{kafka_topic("workers-producer")}"
        database = "sqlite:///{tmp_path / "outbox.db"}"
        first_start = "resume"
        [kafka]
        "bootstrap.servers" = "{local_kafka.bootstrap_servers}"
    """)
    tokens.write_text(f"control {hashlib.sha256(b'secret').hexdigest()} Ada\n")
    options = ("--tokens-file", str(tokens), "--producers", str(file))
    with (
        StructureProducer(read_configuration(file).producer) as producer,
        service(local_kafka, kafka_topic("workers-session"), tmp_path, *options) as running,
    ):
        with both_workers(running):
            for _ in range(_TIMES):
                assert "Sign in" in page(running, "/structures", 401).links
                assert post(running, "/sign-in", "", token="wrong").status_code == 401
            answer = post(running, "/sign-in", "", token="secret", next="/producers/registry")
            assert (answer.status_code, answer.headers["location"]) == (303, "/producers/registry")
            cookie = answer.headers["set-cookie"].partition(";")[0]
            proofs = set()
            for _ in range(_TIMES):
                shown = page(running, "/producers/registry", Cookie=cookie)
                assert "Signed in as Ada (control)." in shown.text
                proofs |= {one["value"] for one in shown.named("input") if one["name"] == "csrf"}
            (proof,) = proofs
            assert proof
            for _ in range(_TIMES):
                assert post(running, "/producers/registry/suspend", cookie, csrf="0" * 64).status_code == 403
                assert post(running, "/producers/registry/suspend", cookie).status_code == 403
            assert producer.status().reason is None
            for number in range(_TIMES):
                sent = post(running, "/producers/registry/suspend", cookie, csrf=proof, reason=f"try {number}")
                assert sent.status_code == 303
                assert producer.status().reason == f"try {number} (by Ada)"
                assert post(running, "/producers/registry/resume", cookie, csrf=proof).status_code == 303
                assert producer.status().reason is None
        tokens.write_text(f"control {hashlib.sha256(b'another').hexdigest()} Ada\n")
        wait_until(lambda: all(_is_refused(running, cookie) for _ in range(_TIMES)))


def test_rejected_records_are_listed_by_each_worker(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """The page of any worker lists a record that could not be replicated, also after a worker was replaced."""
    topic = kafka_topic("workers-rejected", config={"cleanup.policy": "delete"})
    column = "Rejected records, the newest first"
    with service(local_kafka, topic, tmp_path, "--on-bad-record", "skip") as running:

        def are_listed() -> bool:
            return all(len(page(running, "/").column(column, 0)) == 1 for _ in range(_TIMES))

        writer = producer(local_kafka.bootstrap_servers, f"{topic}-without-keys")
        writer.begin_transaction()
        writer.produce(topic, value=b"a record without a key")
        writer.commit_transaction()
        with both_workers(running):
            wait_until(are_listed)
            assert all(are_listed() for _ in range(3))
        victim, other = running.workers
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda: len({*running.workers} - {victim, other}) == 1)
        wait_until(lambda: counted(running.address, "kafka_replica_http_workers") == 2)
        with both_workers(running):
            wait_until(are_listed)
            assert all(are_listed() for _ in range(3))


def _is_refused(running: Service, cookie: str) -> bool:
    return running.get("/structures", **BROWSER, Cookie=cookie).status_code == 401
