"""Properties on the command line: files, single properties, and the choice of the broker. Without a broker."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from kafka_replica.cli.options import BOOTSTRAP_SERVER, CONFIG
from kafka_replica.cli.properties import properties
from kafka_replica.errors import ConfigurationError
from support.cli.command_tools import environment  # noqa: F401 - a fixture


def configured(text: str, name: str, folder: Path) -> dict[str, Any]:
    """Return the properties that a file gives."""
    path = folder / name
    path.write_text(text)
    return properties("h:1", (str(path),))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.properties", "client.id=x\nsecurity.protocol = SSL\nenable.idempotence true\n"),
        ("a.properties", "client.id: x\nsecurity.protocol : SSL\nenable.idempotence:true\n"),
        ("a.conf", "client.id: x\nsecurity.protocol=SSL\nenable.idempotence=true"),
        ("a.toml", '"client.id" = "x"\n"security.protocol" = "SSL"\n"enable.idempotence" = true\n'),
        ("a.toml", 'client.id = "x"\nsecurity.protocol = "SSL"\nenable.idempotence = true\n'),
        ("a.toml", '[kafka]\nclient.id = "x"\nsecurity.protocol = "SSL"\nenable.idempotence = true\n'),
        (
            "a.conf",
            '[producer]\nid = "p"\n[kafka]\nclient.id = "x"\nsecurity.protocol="SSL"\nenable.idempotence=true\n',
        ),
        ("p.conf", "producer.id=p\nkafka.client.id=x\nkafka.security.protocol=SSL\nkafka.enable.idempotence=true\n"),
    ],
)
def test_properties_and_toml_give_the_same_settings(name: str, text: str, tmp_path: Path) -> None:
    """Properties and TOML give the same result, also in a producer's file, where Kafka's have a table of their own."""
    assert configured(text, name, tmp_path) == {
        "bootstrap.servers": "h:1", "client.id": "x", "security.protocol": "SSL", "enable.idempotence": "true",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "expected_text"),
    [
        (
            "a.properties",
            "client.id=x\nsasl.pasword: hunter2\n",
            "line 2: .*'sasl.pasword'; did you mean 'sasl.password'",
        ),
        ("a.properties", "ssl.keystore.passwort hunter2", "did you mean 'ssl.keystore.password'"),
        ("a.toml", 'security_protocol = "hunter2"', "did you mean 'security.protocol'"),
        ("a.toml", '[kafka]\nsasl.pasword = "hunter2"', "did you mean 'sasl.password'"),
        ("a.properties", "xyz=hunter2", "'xyz'; see librdkafka's CONFIGURATION.md"),
        ("a.toml", '"client.id" = 1979-05-27', "client.id must be a string, a number"),
    ],
)
def test_unknown_properties_are_refused_with_the_nearest(
    name: str, text: str, expected_text: str, tmp_path: Path
) -> None:
    """The message for an unknown property names the nearest one, the file and its line, and never a value."""
    with pytest.raises(ConfigurationError, match=expected_text) as refused:
        configured(text, name, tmp_path)
    assert str(tmp_path / name) in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_later_properties_win_and_java_names_are_known(tmp_path: Path) -> None:
    """Later files and single properties override earlier ones; KEY:VALUE means KEY=VALUE; Java's names are known."""
    path = tmp_path / "a.properties"
    path.write_text("client.id=file\nsasl.jaas.config=x required;\n")
    found = properties("h:1", ("client.id=before", str(path), "client.rack:r=1"))
    assert (found["client.id"], found["client.rack"]) == ("file", "r=1")
    assert properties("h:1", (str(path), "client.id=after"))["client.id"] == "after"


@pytest.mark.parametrize("first", ["bootstrap.servers", "metadata.broker.list"])
@pytest.mark.parametrize("second", ["bootstrap.servers", "metadata.broker.list"])
def test_both_names_of_the_brokers_mean_the_same(first: str, second: str, tmp_path: Path) -> None:
    """The last value counts, whichever of the two names librdkafka has for it; --bootstrap-server precedes both."""
    path = tmp_path / "a.properties"
    path.write_text(f"{first}=a:1\n")
    assert properties(None, (str(path), f"{second}=b:2")) == {"bootstrap.servers": "b:2"}
    assert properties(None, (f"{second}=b:2", str(path))) == {"bootstrap.servers": "a:1"}
    path.write_text(f"{first}=a:1\n{second}=b:2\n")
    assert properties(None, (str(path),)) == {"bootstrap.servers": "b:2"}
    assert properties("h:1", (str(path),)) == {"bootstrap.servers": "h:1"}


@click.command()
@BOOTSTRAP_SERVER
@CONFIG
def servers(bootstrap_server: str | None, configs: tuple[str, ...]) -> None:
    """A command that only prints the brokers it would connect to."""
    click.echo(properties(bootstrap_server, configs)["bootstrap.servers"])


def started(folder: Path, name: str, port: int) -> int:
    """Record a running broker in its lock file, and return the descriptor of the open file that holds the lock."""
    data = folder.parent / f"data-{name}"
    data.mkdir()
    entry = {
        "name": name, "bootstrap_servers": f"127.0.0.1:{port}", "port": port, "pid": 1, "supervisor_pid": 1,
        "cluster_id": "c", "data_dir": str(data), "log_path": str(data / "broker.log"), "requested": {},
    }  # fmt: skip
    (folder / f"{name}.json").write_text(json.dumps(entry))
    file = os.open(data / "in-use.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def test_the_started_broker_is_used_where_none_is_named(
    environment: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The order is --bootstrap-server, --config, the environment, then the broker that was started."""
    runner = CliRunner()
    first = started(environment, "second", 7001)
    done = runner.invoke(servers, [])
    assert done.stdout == "127.0.0.1:7001\n"
    assert done.stderr == "kafka-replica: using the broker 'second' at 127.0.0.1:7001\n"
    other = started(environment, "default", 7002)
    assert runner.invoke(servers, []).stdout == "127.0.0.1:7002\n"
    monkeypatch.setenv("KAFKA_REPLICA_BOOTSTRAP_SERVERS", "e:1")
    done = runner.invoke(servers, [])
    assert (done.stdout, done.stderr) == ("e:1\n", "")
    assert runner.invoke(servers, ["--config", "bootstrap.servers=c:1"]).stdout == "c:1\n"
    assert runner.invoke(servers, ["--config", "metadata.broker.list=c:1"]).stdout == "c:1\n"
    assert runner.invoke(servers, ["--config", "bootstrap.servers=c:1", "--bootstrap-server", "b:1"]).stdout == "b:1\n"
    monkeypatch.delenv("KAFKA_REPLICA_BOOTSTRAP_SERVERS")
    os.close(other)  # the broker has ended
    assert runner.invoke(servers, []).stdout == "127.0.0.1:7001\n"
    third = started(environment, "third", 7003)
    done = runner.invoke(servers, [])
    assert isinstance(done.exception, ConfigurationError)
    assert "second at 127.0.0.1:7001, third at 127.0.0.1:7003" in str(done.exception)
    os.close(first)
    os.close(third)
    assert isinstance(runner.invoke(servers, []).exception, ConfigurationError)


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.properties", "client.id=x\nfetch.min.bytes = ten\n", "a.properties, line 2: fetch.min.bytes"),
        ("a.properties", "kafka.fetch.min.bytes = ten\n", "a.properties, line 1: fetch.min.bytes"),
        ("a.toml", "fetch.min.bytes = 'ten'\n", "a.toml, fetch.min.bytes"),
        ("a.toml", "[kafka]\nfetch.min.bytes = 'ten'\n", "a.toml, [kafka] fetch.min.bytes"),
    ],
)
def test_a_text_instead_of_a_number_is_refused_with_its_place(name: str, text: str, place: str, tmp_path: Path) -> None:
    """A reader that found this error later would first detect boundaries in another way."""
    with pytest.raises(ConfigurationError) as refused:
        configured(text, name, tmp_path)
    assert str(refused.value) == f"{tmp_path}/{place}: 'ten' is not a number"


@pytest.mark.parametrize("value", ["0", " 7", "-1", "0x10", "0.5"])
def test_numbers_that_kafkas_clients_accept_are_accepted(value: str) -> None:
    """Hexadecimal numbers and fractions of milliseconds are numbers, too."""
    assert properties("h:1", (f"linger.ms={value}",))["linger.ms"] == value.strip()
    with pytest.raises(ConfigurationError, match=r"--config: linger\.ms: 'x1' is not a number"):
        properties("h:1", ("linger.ms=x1",))
