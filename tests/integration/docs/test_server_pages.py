"""The commands in docs/server.md and docs/server-pages.md run as they are written there."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import shlex
from pathlib import Path

import pytest

from kafka_replica.producer import StructureProducer
from kafka_replica.producer.configuration_files.configuration import read_configuration
from kafka_replica.testing.pytest_plugin import TopicMaker
from support import plain_http
from support.doc_blocks import programs
from support.docs.needs import needs_curl
from support.docs.page_world import PageWorld
from support.server.server_tools import ServerProcess
from support.waiting import wait_until

pytestmark = [pytest.mark.long, pytest.mark.broker]


def _serve(world: PageWorld, line: str) -> ServerProcess:
    for old, new in world.here.items():
        line = line.replace(old, new)
    program, command, *arguments = shlex.split(line)
    assert (program, command) == ("kafka-replica", "serve")
    if "--bootstrap-server" not in arguments:
        arguments += ["--bootstrap-server", world.bootstrap]
    server = ServerProcess(world.folder, *arguments)
    wait_until(lambda: plain_http.get(f"{server.address}/health/ready").status_code == 200)
    return server


def _output(world: PageWorld, line: str, address: str) -> str:
    done = world.shell(line.replace("http://127.0.0.1:8080", address).replace("curl ", "curl -sS --fail -g "))
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_curl
@pytest.mark.runs("docs/server.md", containing="/health/ready")
def test_the_first_commands(world: PageWorld) -> None:
    """The service that the page starts reports that it is ready."""
    (text,) = programs("docs/server.md", containing="/health/ready")
    serve, curl = text.splitlines()
    with _serve(world, serve) as server:
        assert "ready" in _output(world, curl, server.address)


@pytest.mark.runs("docs/server-workers.md")
def test_several_workers(world: PageWorld) -> None:
    """The command of the page starts a service with two workers, by its own metric."""
    (line,) = programs("docs/server-workers.md")
    with _serve(world, line) as server:
        wait_until(lambda: "kafka_replica_http_workers 2.0\n" in plain_http.get(f"{server.address}/metrics").text)


@needs_curl
@pytest.mark.runs("docs/server.md", containing="/records?")
def test_records(world: PageWorld) -> None:
    """The keys with a prefix, and the bytes of one record as they were published."""
    (text,) = programs("docs/server.md", containing="/records?")
    keys, value = text.splitlines()
    with _serve(world, f"kafka-replica serve --topic {world.topic}") as server:
        listed = json.loads(_output(world, keys, server.address))["keys"]
        assert value.rpartition("/records/")[2].rstrip('"') in listed
        assert "CL_FREQ" in _output(world, value, server.address)


@needs_curl
@pytest.mark.runs("docs/server.md", containing="asOf=")
def test_the_past(world: PageWorld) -> None:
    """The codelist of an instant, and of a version."""
    (text,) = programs("docs/server.md", containing="asOf=")
    serve, by_instant, by_version = text.splitlines()
    with _serve(world, serve) as server:
        version = plain_http.get(f"{server.address}/history").json()["versions"][0]["version"].partition(".")[0]
        now = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        found = _output(world, by_instant.replace("2026-11-23T10:00:00Z", now), server.address)
        assert "CL_FREQ" in found
        assert _output(world, by_version.replace("17", str(version)), server.address) == found


@needs_curl
@pytest.mark.runs("docs/server-pages.md")
def test_a_producer_is_controlled(world: PageWorld, kafka_topic: TopicMaker) -> None:
    """Programs with a token see the producer's transactions, suspend it, and request a full flush."""
    topic = kafka_topic("controlled")
    Path("registry.toml").write_text(
        f'[producer]\ntopic = "{topic}"\ndatabase = "sqlite:///outbox.db"\n'
        f'[kafka]\n"bootstrap.servers" = "{world.bootstrap}"\n'
    )
    Path("tokens").write_text(f"control {hashlib.sha256(b'secret').hexdigest()} Ada\n")
    world.variables["TOKEN"] = "secret"
    (settings,) = programs("docs/server-pages.md", language="toml")
    Path("serve.toml").write_text(settings.replace("/etc/kafka-replica", str(world.folder)))
    (commands,) = programs("docs/server-pages.md", language="sh")
    line = f"kafka-replica serve --config serve.toml --topic {world.topic}"
    with (
        StructureProducer(read_configuration(Path("registry.toml")).producer),
        _serve(world, line) as server,
    ):
        shown, suspended, flushed = (json.loads(_output(world, each, server.address)) for each in commands.splitlines())
    assert shown["transactions"] == []
    assert "suspend" in json.dumps(suspended)
    assert flushed
