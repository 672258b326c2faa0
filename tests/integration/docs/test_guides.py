"""The commands of the guides run as a newcomer types them, one after the other, on a real broker."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_replica.testing.pytest_plugin import TopicMaker
from support import plain_http
from support.doc_blocks import programs
from support.docs.needs import needs_curl
from support.docs.page_world import PageWorld
from support.producer.producer_tools import transactions_of
from support.server.server_tools import ServerProcess
from support.waiting import wait_until

pytestmark = [pytest.mark.long, pytest.mark.broker]


def walk(world: PageWorld, lines: list[str]) -> list[str]:
    """Run the lines of a guide, the service until the last of them; return what the others print."""
    printed, server = [], None
    try:
        for line in lines:
            if line.startswith("kafka-replica serve"):
                server = ServerProcess(world.folder, *shlex.split(line)[2:], "--bootstrap-server", world.bootstrap)
                ready = f"{server.address}/health/ready"
                wait_until(lambda at=ready: plain_http.get(at).status_code == 200)  # type: ignore[misc]
            elif not line.startswith("kafka-replica broker start"):
                address = server.address if server else ""
                done = world.shell(line.replace("http://127.0.0.1:8080", address).replace("curl ", "curl -sS --fail "))
                assert done.returncode == 0, (line, done.stdout, done.stderr)
                printed.append(done.stdout)
    finally:
        if server is not None:
            server.__exit__(None, None, None)
    return printed


@needs_curl
@pytest.mark.runs("docs/guide-validation-service.md", without="pip install")
def test_the_guide_of_a_validation_service(world: PageWorld, kafka_topic: TopicMaker) -> None:
    """From sample files to a report: two rows are rejected."""
    topic = kafka_topic("guide")
    text = "".join(programs("docs/guide-validation-service.md", without="pip install"))
    printed = walk(world, text.replace("sdmx.structures", topic).splitlines())
    report = json.loads(printed[2])
    assert report["rows"] == 27
    assert {"code-unknown", "text-type"} <= set(str(report["counts"]).split("'"))
    assert printed[3].startswith("severity,rule,")


@pytest.mark.long
@needs_curl
@pytest.mark.runs("docs/guide-r.md")
def test_the_guide_of_r(world: PageWorld, kafka_topic: TopicMaker) -> None:
    """The service starts and checks data; the program in R runs in test_clients_page.py."""
    topic = kafka_topic("guide")
    printed = walk(world, "".join(programs("docs/guide-r.md")).replace("sdmx.structures", topic).splitlines())
    assert printed[-1].startswith("severity,rule,")


@pytest.mark.long
@pytest.mark.runs("docs/guide-operator.md")
def test_the_guide_of_an_operator(world: PageWorld) -> None:
    """The doctor finds no fault; alerts and explanations are there."""
    printed = world.run_shell("docs/guide-operator.md")
    assert ": 0 faults, " in printed[0]
    assert "StoreInUseError" in printed[1]
    assert (world.folder / "monitoring" / "kafka-replica-rules.yml").exists()


@pytest.mark.long
@pytest.mark.runs("docs/guide-registry.md")
def test_the_guide_of_a_registry(world: PageWorld, kafka_topic: TopicMaker) -> None:
    """A service plays the part of the registry; its structures become one transaction in the topic."""
    topic = kafka_topic("guide")
    (settings,) = programs("docs/guide-registry.md", language="toml")
    (commands,) = programs("docs/guide-registry.md", language="sh")
    migrate, run = commands.splitlines()
    with ServerProcess(world.folder, "--topic", world.topic, "--bootstrap-server", world.bootstrap) as registry:
        wait_until(lambda: plain_http.get(f"{registry.address}/health/ready").status_code == 200)
        replaced = {
            "https://registry.example.org": registry.address, "sdmx.structures": topic,
            "localhost:9092": world.bootstrap,
        }  # fmt: skip
        for old, new in replaced.items():
            settings = settings.replace(old, new)
        Path("producer.toml").write_text(settings)
        assert world.shell(migrate).returncode == 0
        words = [str(Path(sys.executable).with_name("kafka-replica")), *shlex.split(run)[1:]]
        with Path("producer.log").open("wb") as log, subprocess.Popen(words, stdout=log, stderr=log) as process:
            try:
                wait_until(lambda: len(transactions_of(world.bootstrap, topic)) == 1, "the registry is published")
            finally:
                process.terminate()


@pytest.mark.runs("docs/guide-directory.md")
def test_the_guide_of_a_directory(capsys: pytest.CaptureFixture[str]) -> None:
    """The program of the page prints the results that its comments state."""
    (program,) = programs("docs/guide-directory.md")
    exec(program, {})
    assert capsys.readouterr().out == "A7\n2\n"
