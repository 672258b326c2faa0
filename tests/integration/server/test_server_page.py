"""The examples in docs/server.md run as they are written there, on a real broker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from kafka_replica.embedded import LocalKafka, ports
from kafka_replica.server.access.policy import read_tokens
from kafka_replica.testing.pytest_plugin import TopicMaker
from support import plain_http
from support.broker.kafka_tools import producer, write
from support.doc_blocks import programs
from support.server.server_tools import ServerProcess
from support.waiting import wait_until

pytestmark = pytest.mark.long


def block(language: str, containing: str) -> str:
    """Return the example in a language that contains a text."""
    [found] = programs("docs/server.md", language=language, containing=containing)
    return found


@pytest.mark.broker
@pytest.mark.runs("docs/server.md", language="toml", containing="[replica]")
@pytest.mark.runs("docs/server.md", containing="create_app")
def test_the_settings_file_and_the_program_run(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """The file starts a server, and the program mounts one; both become ready, and end at SIGTERM."""
    topic = kafka_topic("page")
    write(producer(local_kafka.bootstrap_servers, topic), topic, {"a": "x"})

    def adapted(text: str) -> str:
        text = text.replace("localhost:9092", local_kafka.bootstrap_servers).replace("sdmx.structures", topic)
        return text.replace("/var/lib/kafka-replica", str(tmp_path / "store"))

    (tmp_path / "serve.toml").write_text(adapted(block("toml", "[replica]")))
    with ServerProcess(tmp_path, "--config", str(tmp_path / "serve.toml")) as server:
        wait_until(lambda: plain_http.get(f"{server.address}/health/ready").status_code == 200)
    port = ports.choose_port()
    program = adapted(block("python", "create_app")).replace("port=8000", f"port={port}")
    (tmp_path / "program.py").write_text(program)
    with subprocess.Popen([sys.executable, tmp_path / "program.py"], stderr=subprocess.DEVNULL) as process:
        address = f"http://127.0.0.1:{port}/structures"
        wait_until(lambda: status_of(f"{address}/health/ready") == 200)
        assert plain_http.get(f"{address}/sdmx/v2/structure/codelist").headers["kafka-replica-state"] == "live"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) in {0, -signal.SIGTERM}


@pytest.mark.broker
@pytest.mark.runs("docs/deployment.md", language="toml")
def test_the_settings_of_the_unit_run(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """The service listens, and Prometheus gets metrics only with an allowed host and a token, as the pages say."""
    topic = kafka_topic("unit")
    write(producer(local_kafka.bootstrap_servers, topic), topic, {"a": "x"})
    subprocess.run(["sh", "-ec", block("sh", "openssl rand")], cwd=tmp_path, env=os.environ, check=True)
    (settings,) = programs("docs/deployment.md", language="toml")
    for shown, used in (
        ("kafka.example.org:9092", local_kafka.bootstrap_servers), ("sdmx.structures", topic),
        ("/var/lib/kafka-replica", str(tmp_path)), ("/etc/kafka-replica", str(tmp_path)),
    ):  # fmt: skip
        assert shown in settings
        settings = settings.replace(shown, used)
    (tmp_path / "serve.toml").write_text(settings)
    token = {"Authorization": f"Bearer {(tmp_path / 'token').read_text().strip()}"}
    host = {"Host": "structures.example.org"}
    with ServerProcess(tmp_path, "--config", str(tmp_path / "serve.toml")) as server:
        port = server.address.rpartition(":")[2]

        def metrics(**headers: str) -> int:
            return httpx.get(f"http://127.0.0.1:{port}/metrics", headers=headers).status_code

        assert [metrics(**token), metrics(**host), metrics(**host, **token)] == [400, 401, 200]


@pytest.mark.runs("docs/server.md", containing="openssl rand")
@pytest.mark.runs("docs/server.md", containing="# role")
@pytest.mark.runs("docs/server.md", containing="subject:CN")
def test_the_commands_for_tokens_make_a_file_of_tokens(tmp_path: Path) -> None:
    """The file is accepted, and the token is random."""
    subprocess.run(["sh", "-ec", block("sh", "openssl rand")], cwd=tmp_path, env=os.environ, check=True)
    (token,) = read_tokens(tmp_path / "tokens")
    assert (token.role.name, token.holder) == ("READ", "dashboards")
    assert len((tmp_path / "token").read_text().strip()) == 64
    (tmp_path / "shown").write_text(block("", "# role"))
    assert read_tokens(tmp_path / "shown")[0].holder == "dashboards"
    (tmp_path / "subjects").write_text(block("", "subject:CN"))
    assert read_tokens(tmp_path / "subjects")[0].role.name == "CONTROL"


def status_of(url: str) -> int:
    """Return the status of a page; 0 if nothing listens there yet."""
    try:
        return plain_http.get(url).status_code
    except httpx.TransportError:
        return 0
