"""``kafka-replica serve`` as a process, on a real broker and over real sockets."""

from __future__ import annotations

import hashlib
import json
import re
import signal
import ssl
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from support import plain_http
from support.broker.kafka_tools import producer, write, write_without_key
from support.core.certificates import Authority
from support.server.app_tools import EventParser
from support.server.server_tools import ServerProcess, until_ready
from support.waiting import wait_until

pytestmark = pytest.mark.broker

CODELIST = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_{}(1.0)"
NOWHERE = "127.0.0.1:1"
TIMED_ERROR = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} kafka-replica: ERROR: ").match


def test_a_server_follows_its_topic_and_ends_in_order(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tokens are needed; each transaction is an event; SIGTERM ends an open stream, and the status is 0."""
    topic = kafka_topic("serve")
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {CODELIST.format("A"): "x", CODELIST.format("B"): "x"})
    (tmp_path / "tokens").write_text(f"read {hashlib.sha256(b'secret-token').hexdigest()} test\n")
    (tmp_path / "serve.toml").write_text(
        f"[server]\ntokens_file = '{tmp_path / 'tokens'}'\n\n[replica]\ntopic = '{topic}'\n"
        f"[kafka]\nbootstrap.servers = '{local_kafka.bootstrap_servers}'\n"
    )
    parser, events = EventParser(), []
    monkeypatch.setenv("KAFKA_REPLICA_LOG_FORMAT", "json")
    with ServerProcess(tmp_path, "--config", str(tmp_path / "serve.toml")) as server:
        wait_until(lambda: plain_http.get(f"{server.address}/health/ready").status_code == 200)
        assert plain_http.get(f"{server.address}/changes").status_code == 401
        request_headers = {"Authorization": "Bearer secret-token", "X-Request-ID": "my-id"}

        def follow() -> None:
            with plain_http.stream("GET", f"{server.address}/changes", headers=request_headers, timeout=60) as response:
                for chunk in response.iter_bytes():
                    events.extend(parser.feed(chunk))

        thread = threading.Thread(target=follow)
        thread.start()
        wait_until(lambda: len(events) == 1)
        write(writer, topic, {CODELIST.format("B"): None, CODELIST.format("C"): "x"})
        wait_until(lambda: len(events) == 2)
        server.process.send_signal(signal.SIGTERM)
        assert server.wait() == 0, server.log.read_text()
        thread.join(30)
    first, second = events
    assert (first.name, first.data["changed"]) == ("reset", [CODELIST.format("A"), CODELIST.format("B")])
    assert (second.name, second.data["changed"]) == ("change", [CODELIST.format("C")])
    assert second.data["deleted"] == [CODELIST.format("B")]
    log = server.log.read_text()
    assert "secret-token" not in log
    lines = [json.loads(line) for line in log.splitlines()]
    requests = [line for line in lines if line["logger"] == "kafka_replica.access"]
    assert {line["status"] for line in requests if line["target"] == "/changes"} == {401, 200}
    assert "my-id" in {line["request_id"] for line in requests}


@pytest.mark.long
def test_a_restart_on_disk_answers_before_it_has_caught_up(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """The stored version is served under the same id, marked stale; health says why it is not ready, until it is.

    An open transaction keeps this replica from passing the barrier, because it detects boundaries by quiescence.
    """
    topic = kafka_topic("serve-rocks")
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {"a": "x"})
    options = ["--topic", topic, "--store", str(tmp_path / "store"), "-b", local_kafka.bootstrap_servers]
    options += ["--boundaries", "quiescence"]
    path = "/sdmx/v2/structure/codelist"
    with ServerProcess(tmp_path, *options) as server:
        wait_until(lambda: plain_http.get(f"{server.address}/health/ready").status_code == 200)
        before = plain_http.get(server.address + path).headers
        assert "kafka-replica-stale" not in before
        server.process.send_signal(signal.SIGINT)
        assert server.wait() == 0, server.log.read_text()
    write(writer, topic, {"b": "x"}, commit=None)
    with ServerProcess(tmp_path, *options) as server:
        wait_until(lambda: "kafka-replica-version" in plain_http.get(server.address + path).headers)
        after = plain_http.get(server.address + path).headers
        assert after["kafka-replica-version"] == before["kafka-replica-version"]
        assert after["kafka-replica-stale"] == "true"
        ready = plain_http.get(f"{server.address}/health/ready")
        assert (ready.status_code, ready.json()["stale"]) == (503, True)
        wait_until(lambda: plain_http.get(f"{server.address}/health/ready").json()["state"] == "blocked")
        writer.commit_transaction()
        wait_until(lambda: plain_http.get(f"{server.address}/health/ready").status_code == 200)
        assert "kafka-replica-stale" not in plain_http.get(server.address + path).headers


def test_a_lag_in_records_is_not_ready(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """While an open transaction holds back more records than allowed, the last version is served but not ready."""
    topic = kafka_topic("serve-lag")
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {"a": "x"})
    options: tuple[str, ...] = ("--topic", topic, "-b", local_kafka.bootstrap_servers, "--max-lag-records", "5")
    options += ("--boundaries", "quiescence")  # by markers the version would continue past the open transaction
    with ServerProcess(tmp_path, *options) as server:

        def status() -> int:
            return plain_http.get(f"{server.address}/health/ready").status_code

        wait_until(lambda: status() == 200)
        write(writer, topic, {f"key {number}": "x" for number in range(10)}, commit=None)
        wait_until(lambda: status() == 503)
        found = plain_http.get(f"{server.address}/health/ready").json()
        assert found["lag_records"] >= 10
        assert "the lag exceeds 5 records" in found["reason"]
        assert "kafka-replica-version" in plain_http.get(f"{server.address}/sdmx/v2/structure/codelist").headers
        writer.commit_transaction()
        wait_until(lambda: status() == 200)


@pytest.mark.long
def test_a_silent_broker_is_visible_and_answers_continue(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """A stalled replica stays ready with its last version, unless the lag exceeds the limit; then it recovers."""
    if not isinstance(local_kafka, LocalKafka):
        pytest.skip("only a broker of this session can be paused")
    topic = kafka_topic("serve-silent")
    write(producer(local_kafka.bootstrap_servers, topic), topic, {"a": "x"})
    options: tuple[str, ...] = (
        "--topic",
        topic,
        "-b",
        local_kafka.bootstrap_servers,
        "--stalled-after-s",
        "2",
        "--max-lag-s",
        "4",
    )
    with ServerProcess(tmp_path, *options) as server:

        def health() -> tuple[int, str]:
            found = plain_http.get(f"{server.address}/health/ready")
            return found.status_code, found.json()["state"]

        wait_until(lambda: health() == (200, "live"))
        local_kafka.pause()
        try:
            wait_until(lambda: health() == (200, "stalled"))
            wait_until(lambda: health() == (503, "stalled"))
            assert "kafka-replica-version" in plain_http.get(f"{server.address}/sdmx/v2/structure/codelist").headers
        finally:
            local_kafka.resume()
        wait_until(lambda: health() == (200, "live"))


def test_only_clients_with_a_certificate_connect(tmp_path: Path) -> None:
    """TLS with the authority of the tests; a client without a certificate is refused."""
    authority = Authority(tmp_path, "ca")
    for name in ("server", "client"):
        authority.issue(name, "DNS:localhost,IP:127.0.0.1")
    files = {"certificate": "server.crt", "key": "server.key", "client-ca": "ca.crt"}
    options = [word for name, file in files.items() for word in (f"--tls-{name}", str(tmp_path / file))]
    trusting = ssl.create_default_context(cafile=str(authority.certificate))
    known = ssl.create_default_context(cafile=str(authority.certificate))
    known.load_cert_chain(tmp_path / "client.crt", tmp_path / "client.key")
    with ServerProcess(tmp_path, "--topic", "t", "-b", NOWHERE, *options) as server:
        assert server.address.startswith("https://127.0.0.1:")
        assert httpx.get(f"{server.address}/health/live", verify=known).status_code == 200
        with pytest.raises(httpx.HTTPError):
            httpx.get(f"{server.address}/health/live", verify=trusting)
        assert httpx.get(f"{server.address}/health/live", verify=known).status_code == 200


def test_subjects_of_certificates_have_roles(tmp_path: Path) -> None:
    """A certificate of the authority is not enough: its subject needs a line in the file of tokens."""
    authority = Authority(tmp_path, "ca")
    for name in ("server", "ada", "bob", "eve"):
        authority.issue(name, "DNS:localhost,IP:127.0.0.1")
    (tmp_path / "tokens").write_text("control subject:CN=ada\nread subject:CN=bob  # at home\n")
    files = {
        "tls-certificate": "server.crt",
        "tls-key": "server.key",
        "tls-client-ca": "ca.crt",
        "tokens-file": "tokens",
    }
    options = [word for name, file in files.items() for word in (f"--{name}", str(tmp_path / file))]

    def client(name: str) -> httpx.Client:
        context = ssl.create_default_context(cafile=str(authority.certificate))
        context.load_cert_chain(tmp_path / f"{name}.crt", tmp_path / f"{name}.key")
        return httpx.Client(base_url=server.address, verify=context)

    with ServerProcess(tmp_path, "--topic", "t", "-b", NOWHERE, *options) as server:
        for name, reads, controls in (("ada", 200, 404), ("bob", 200, 403), ("eve", 403, 403)):
            with client(name) as one:
                for _ in range(2):  # on one connection
                    assert one.get("/").status_code == reads, name
                answer = one.post("/producers/none/suspend", data={"a": "b"})
                assert answer.status_code == controls, (name, answer.text)
                assert one.get("/", headers={"Authorization": "Bearer x"}).status_code == 401  # a token wins
                assert (
                    one.post("/producers/none/suspend", headers={"Origin": "https://evil.example"}).status_code == 403
                )


@pytest.mark.long
def test_a_replica_that_fails_ends_the_process_with_1(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """The error on stderr names the record once; a wrong setting ends the process with 2."""
    topic = kafka_topic("serve-bad", config={"cleanup.policy": "delete"})
    write_without_key(producer(local_kafka.bootstrap_servers, topic), topic)
    with ServerProcess(tmp_path, "--topic", topic, "-b", local_kafka.bootstrap_servers) as server:
        assert server.wait() == 1
    (line,) = [line for line in server.log.read_text().splitlines() if f"{topic}-0, offset 0" in line]
    assert TIMED_ERROR(line), line
    command = [str(Path(sys.executable).with_name("kafka-replica")), "serve", "--topic", topic, "--port", "x"]
    assert subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 2


def test_an_error_that_ends_the_replica_is_logged_while_the_server_runs(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """The line appears at the time of the error, with its time, and not again when the server is stopped."""
    topic = kafka_topic("serve-fails", config={"cleanup.policy": "delete"})
    made = producer(local_kafka.bootstrap_servers, topic)
    write(made, topic, {"a": "x"})
    with ServerProcess(tmp_path, "--topic", topic, "-b", local_kafka.bootstrap_servers) as server:

        def errors() -> list[str]:
            return [line for line in server.log.read_text().splitlines() if "it has no key" in line]

        until_ready(server)
        assert errors() == []
        write_without_key(made, topic)
        wait_until(errors)
        assert server.process.poll() is None
        (line,) = errors()
        assert TIMED_ERROR(line), line
        assert plain_http.get(f"{server.address}/health/ready").json()["state"] == "failed"
        server.process.send_signal(signal.SIGTERM)
        assert server.wait() == 1
        assert errors() == [line]


@pytest.mark.long
def test_a_damaged_store_is_reported_when_it_is_rebuilt(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """Stderr names the folder, for ``serve`` and for a command that succeeds nevertheless."""
    topic, store = kafka_topic("serve-damaged"), tmp_path / "store"
    write(producer(local_kafka.bootstrap_servers, topic), topic, {"a": "x"})
    options = ["--topic", topic, "--store", str(store), "-b", local_kafka.bootstrap_servers]
    program = str(Path(sys.executable).with_name("kafka-replica"))

    def status() -> str:
        done = subprocess.run([program, "status", *options], capture_output=True, check=True, text=True, timeout=60)
        return done.stderr

    def damage() -> None:
        files = list(store.rglob("*.sst"))
        assert files
        for file in files:
            file.unlink()

    for _ in range(2):  # a database has a file of the kind that is removed once it was opened again
        assert status() == ""
    damage()
    found = status()
    assert re.search(rf"^kafka-replica: ERROR: opening the store in {store}.*rebuilds it$", found, re.MULTILINE), found
    for _ in range(2):
        assert status() == ""
    damage()
    with ServerProcess(tmp_path, *options) as server:
        until_ready(server)
        errors = [line for line in server.log.read_text().splitlines() if TIMED_ERROR(line)]
        assert len(errors) == 1
        assert f"ERROR: opening the store in {store}" in errors[0]
        assert "rebuilds it" in errors[0]


def test_changes_of_state_are_lines_at_level_info(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line has a time, and requests stay out of the log if it has no access lines."""
    topic = kafka_topic("serve-info")
    write(producer(local_kafka.bootstrap_servers, topic), topic, {"a": "x"})
    monkeypatch.setenv("KAFKA_REPLICA_LOG_LEVEL", "info")
    with ServerProcess(
        tmp_path, "--topic", topic, "-b", local_kafka.bootstrap_servers, "--access-log", "off"
    ) as server:
        until_ready(server)
        wait_until(lambda: "is live" in server.log.read_text())
        server.process.send_signal(signal.SIGTERM)
        assert server.wait() == 0
    lines = server.log.read_text().splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} kafka-replica: INFO: ", line) for line in lines), lines
    found = [state for line in lines for state in ("starts", "is live", "is stopped") if f"of {topic} {state}" in line]
    assert found == ["starts", "is live", "is stopped"]


@pytest.mark.long
def test_a_command_on_the_store_of_a_server_advises_what_a_command_can_do(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """The store is in use; an argument in Python is not part of the advice."""
    options = [
        "--topic",
        kafka_topic("serve-used"),
        "--store",
        str(tmp_path / "s"),
        "-b",
        local_kafka.bootstrap_servers,
    ]
    with ServerProcess(tmp_path, *options):
        program = str(Path(sys.executable).with_name("kafka-replica"))
        done = subprocess.run([program, "status", *options], capture_output=True, check=False, text=True, timeout=60)
    assert "without --store" in done.stderr
    assert "read_only" not in done.stderr
