"""The settings of ``serve``: flags, environment variables and the file."""

from __future__ import annotations

import re
import signal
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from kafka_replica.cli.commands.serve import _kafka, serve
from kafka_replica.cli.groups import kafka_replica
from kafka_replica.cli.run import CALLED_WRONGLY, run_command
from kafka_replica.cli.serve_options import KINDS, ServedReplica, settings_of
from kafka_replica.common.secret_values import is_secret
from kafka_replica.errors import ConfigurationError
from kafka_replica.server import ListenSettings, ServerSettings
from support.cli.command_tools import environment  # noqa: F401 - a fixture

FILE = """
[server]
host = "0.0.0.0"
port = 1
allowed_hosts = ["a", "b"]
ready_when_stale = true
max_lag_s = 2
tls_key_password = "${KEY_PASSWORD}"

[replica]
topic = "from-file"
key_filter = ["CL_*"]

[kafka]
bootstrap.servers = "file:9092"
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A settings file."""
    monkeypatch.setenv("KEY_PASSWORD", "from-variable")
    (tmp_path / "serve.toml").write_text(FILE)
    return tmp_path / "serve.toml"


def parsed(*arguments: str) -> dict[str, Any]:
    """Return the values of all options."""
    parent = click.Context(kafka_replica, **kafka_replica.context_settings)
    return serve.make_context("serve", list(arguments), parent).params


def test_a_flag_wins_over_a_variable_and_that_over_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The three places, and the defaults where a setting is in none of them."""
    monkeypatch.setenv("KAFKA_REPLICA_PORT", "2")
    monkeypatch.setenv("KAFKA_REPLICA_HOST", "variable")
    monkeypatch.setenv("KAFKA_REPLICA_ALLOWED_HOSTS", "c d")
    monkeypatch.setenv("KAFKA_REPLICA_READY_WHEN_STALE", "false")
    found = parsed("--config", str(file), "--port", "3")
    listen, server = settings_of(ListenSettings, found), settings_of(ServerSettings, found)
    assert (listen.host, listen.port, listen.tls_key_password) == ("variable", 3, "from-variable")
    assert (server.allowed_hosts, server.ready_when_stale, server.max_lag_s) == (("c", "d"), False, 2)
    assert (listen.grace_s, server.threads) == (10, 4)
    replica = settings_of(ServedReplica, found)
    assert (replica.topic, replica.key_filter, replica.kept_versions) == ("from-file", ("CL_*",), 100)


@pytest.mark.parametrize(
    ("arguments", "servers"),
    [
        ((), "variable:3"),
        (("--kafka-property", "bootstrap.servers=property:2"), "property:2"),
        (("--kafka-property", "bootstrap.servers=property:2", "--bootstrap-server", "flag:1"), "flag:1"),
    ],
)
def test_a_flag_wins_over_the_variable_of_the_brokers(
    file: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], servers: str
) -> None:
    """The flag --bootstrap-server wins over --kafka-property, that over the variable, and that over the file."""
    monkeypatch.setenv("KAFKA_REPLICA_BOOTSTRAP_SERVERS", "variable:3")
    parent = click.Context(kafka_replica, **kafka_replica.context_settings)
    context = serve.make_context("serve", ["--config", str(file), *arguments], parent)
    found = context.params
    with context.scope(cleanup=False):
        assert _kafka(found["config"], found["servers"], found["kafka_property"])["bootstrap.servers"] == servers


def test_the_variable_of_each_setting_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """KAFKA_REPLICA and the name of the setting in capitals, also for the file and the topic."""
    shown = CliRunner().invoke(kafka_replica, ["serve", "-h"], terminal_width=500).output
    names = {each.name for kinds in KINDS.values() for kind in kinds for each in fields(kind)}
    variables = set(re.findall(r"KAFKA_REPLICA_(\w+)", shown))
    assert {name.upper() for name in {*names, "config", "json", "kafka_property"}} <= variables
    monkeypatch.setenv("KAFKA_REPLICA_TOPIC", "t")
    assert parsed()["topic"] == "t"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[servr]", r"unknown table \[servr\]; did you mean 'server'"),
        ("[server]\nprt = 1", r"\[server\] prt: unknown setting; did you mean 'port'"),
        ("[server]\nport = 'x'", r"\[server\] port: \"x\" is not a whole number"),
        ("[server]\nport = -1", r"\[server\] port: -1 is not in the range"),
        ("[server]\nport = true", r"\[server\] port: true is not a whole number"),
        ("[server]\nport = '8090'", r"\[server\] port: \"8090\" is not a whole number, .*without quotation marks"),
        ("[server]\nthreads = 2.7", r"\[server\] threads: 2.7 is not a whole number"),
        ("[server]\nmax_lag_s = '2'", r"\[server\] max_lag_s: \"2\" is not a number, .*without quotation marks"),
        ("[server]\nmax_lag_s = false", r"\[server\] max_lag_s: false is not a number"),
        ("[server]\nenvironment = 1", r"\[server\] environment: 1 is not a text"),
        ("[server]\ntokens_file = 4", r"\[server\] tokens_file: the value \(not shown\) is not a path"),
        ("[server]\ntls_key = true", r"\[server\] tls_key: true is not a path"),
        ("[server]\nallowed_hosts = ['a', 1]", r"\[server\] allowed_hosts: 1 is not a text"),
        ("[server]\nready_when_stale = 'yes'", r"\[server\] ready_when_stale: \"yes\" is not true or false"),
        ("[server]\naccess_log = 1", r"\[server\] access_log: 1 is not a text"),
        ("[replica]\ntopic = 5", r"\[replica\] topic: 5 is not a text"),
        ("[replica]\nstore = 4", r"\[replica\] store: 4 is not a path"),
        ("[replica]\nhistory_path = 1.5", r"\[replica\] history_path: 1.5 is not a path"),
        ("[replica]\ncheckpoint = 1979-05-27", r"\[replica\] checkpoint: \"1979-05-27\" is not a path"),
        ("[replica]\ndead_letters = 0", r"\[replica\] dead_letters: 0 is not a path"),
        ("[replica]\nkey_filter = [1]", r"\[replica\] key_filter: 1 is not a text"),
        ("[server]\nhistory_path = 'h'", r"\[server\] history_path: this setting belongs to the table \[replica\]"),
        ("[replica]\nport = 1", r"\[replica\] port: this setting belongs to the table \[server\]"),
        ("[kafka]\nport = 1", r"\[kafka\] port: this setting belongs to the table \[server\]"),
        ("[server]\nbootstrap.servers = 'x'", r"\[server\] bootstrap: .* belongs to the table \[kafka\]"),
        ("[server]\nport = [1]", r"\[server\] port should be one value"),
        ("[server]\nallowed_hosts = 'x'", r"\[server\] allowed_hosts should be a list"),
        ("[server]\ntls_key_password = '${NO_SUCH}'", "NO_SUCH is not set"),
        ("server = 1", r"\[server\] must be a table"),
        ("[kafka]\nbootstrap.server = 'x'", "bootstrap.server"),
        ("[replica]\nboundaries = 'x'", "boundaries: 'x' is not one of"),
        ("x", "as TOML"),
    ],
)  # fmt: skip
def test_a_file_with_a_mistake_is_refused_with_its_place(tmp_path: Path, text: str, problem: str) -> None:
    """The message names the file, the table and the setting."""
    (tmp_path / "serve.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=problem) as refused:
        parsed("--config", str(tmp_path / "serve.toml"))
    assert "serve.toml" in str(refused.value)


SECRETS = [
    (table, each.name) for table, kinds in KINDS.items() for kind in kinds for each in fields(kind)
    if is_secret(each.name)
]  # fmt: skip
"""The settings that may have a secret, with their tables."""


@pytest.mark.parametrize(("table", "name"), SECRETS)
@pytest.mark.parametrize("value", ["31415926", "3141.5926", "true", "[31415926]", "[['x31415926']]", "{x = 31415926}"])
def test_a_secret_of_the_wrong_type_is_not_shown(tmp_path: Path, table: str, name: str, value: str) -> None:
    """A password of digits without quotation marks is a number, which must not be in the error, and thus in a log."""
    (tmp_path / "serve.toml").write_text(f"[{table}]\n{name} = {value}\n")
    with pytest.raises(ConfigurationError) as refused:
        parsed("--config", str(tmp_path / "serve.toml"))
    assert f"[{table}] {name}" in str(refused.value)
    assert not re.search("3141|5926|true", str(refused.value).partition(name)[2])


def test_the_password_of_the_key_is_a_secret() -> None:
    """The test above is about this setting, whatever its name is."""
    assert ("server", "tls_key_password") in SECRETS


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-t", "x", "--workers", "0"], "range"), (["-t", "x", "--port", "70000"], "port=70000"), ([], "--topic"),
        (["-t", "x", "--kafka-property", "no.such=1"], "no.such"),
        (["-t", "x y"], "is not a valid name"), (["-t", "x,x"], "twice"),
        (["-t", "x", "--store", "s", "--checkpoint", "c"], "exclude each other"),
        (["-t", "x", "--tls-key", "key.pem"], "tls_certificate"),
        (["-t", "x", "--dead-letters", "."], "cannot hold dead letters"),
        (["-t", "x", "--dead-letters", "none/such/letters"], "cannot hold dead letters"),
    ],
)  # fmt: skip
def test_an_impossible_setting_ends_the_command_with_2(arguments: list[str], problem: str) -> None:
    """Nothing is opened before all settings are checked."""
    outcome = CliRunner().invoke(kafka_replica, ["serve", "-b", "localhost:1", *arguments], standalone_mode=False)
    assert isinstance(outcome.exception, ConfigurationError | click.BadParameter)
    assert problem in str(outcome.exception)


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("KAFKA_REPLICA_PORT", "many", "'many' is not a whole number"),
        ("KAFKA_REPLICA_BOUNDARIES", "x", "'x' is not one of"),
        ("KAFKA_REPLICA_BASE_PATHS", "x", "'x' is not possible"),
        ("KAFKA_REPLICA_PORT", "80900", "80900 is not possible"),
        ("KAFKA_REPLICA_KAFKA_LINGER_MS", "ten", "'ten' is not a number"),
        ("KAFKA_REPLICA_KAFKA_NO_SUCH", "1", "no property 'no.such'"),
        ("KAFKA_REPLICA_STORE", "/dev/null/store", "/dev/null is not a folder"),
    ],
)
def test_an_error_names_the_variable_that_has_the_value(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], variable: str, value: str, problem: str
) -> None:
    """The variable, and not the flag, which is not on the command line."""
    monkeypatch.setenv(variable, value)
    assert run_command(["serve", "-t", "x", "-b", "localhost:1"]) == CALLED_WRONGLY
    shown = capsys.readouterr().err
    assert variable in shown
    assert problem in shown
    assert "--port" not in shown


def test_an_error_names_the_flag_that_has_the_value(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The flag wins over the variable, and its value is the wrong one."""
    monkeypatch.setenv("KAFKA_REPLICA_PORT", "1")
    assert run_command(["serve", "-t", "x", "--port", "many"]) == CALLED_WRONGLY
    shown = capsys.readouterr().err
    assert "--port" in shown
    assert "KAFKA_REPLICA_PORT" not in shown
    assert run_command(["serve", "-t", "x", "-b", "localhost:1", "--kafka-property", "no.such=1"]) == CALLED_WRONGLY
    assert "--kafka-property: " in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--store", "--history-path", "--checkpoint"])
@pytest.mark.parametrize("inside", ["", "below"])
def test_a_path_that_cannot_be_created_ends_the_command_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str, inside: str
) -> None:
    """A file where a folder should be, or a folder where a file should be; and a path below a file."""
    other = tmp_path / "other"
    if flag == "--checkpoint" and not inside:
        other.mkdir()
    else:
        other.write_text("")
    assert run_command(["serve", "-t", "x", "-b", "localhost:1", flag, str(other / inside)]) == CALLED_WRONGLY
    assert f"'{flag}'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[replica]\ntopic = 't'\n[server]\nport = 80900", "[server] port: 80900 is not possible; it is 0 to 65535"),
        ("[replica]\ntopic = 't'\n[server]\nempty_status = 1", "[server] empty_status: 1 is not possible"),
        ("[replica]\ntopic = 't'\n[server]\nbase_paths = ['x']", "[server] base_paths: 'x' is not possible"),
        ("[replica]\ntopic = 't'\n[server]\ntls_key = 'x'", "[server]: tls_key and tls_client_ca need"),
        ("[replica]\ntopic = 'x y'", "[replica] topic: 'x y' is not a valid name"),
        ("[replica]\ntopic = 't'\nstore = 's'\ncheckpoint = 'c'", "[replica]: store and checkpoint exclude"),
        ("[replica]\ntopic = 't'\n[kafka]\nfetch.wait.max.ms = 'ten'", "[kafka] fetch.wait.max.ms: 'ten' is not a num"),
    ],
)
def test_an_impossible_value_in_the_file_is_named_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, problem: str
) -> None:
    """Values that are checked together with others also name the file and the table, before anything is opened."""
    (tmp_path / "serve.toml").write_text(text)
    assert run_command(["serve", "-b", "localhost:1", "--config", str(tmp_path / "serve.toml")]) == CALLED_WRONGLY
    shown = capsys.readouterr()
    assert f"serve.toml, {problem}" in shown.err
    assert shown.out == ""


def test_a_variable_within_the_file_may_be_any_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables are texts, so that a number or a truth value from a variable is written between quotation marks."""
    monkeypatch.setenv("OWN_PORT", "8090")
    monkeypatch.setenv("OWN_STALE", "true")
    (tmp_path / "serve.toml").write_text("[server]\nport = '${OWN_PORT}'\nready_when_stale = '${OWN_STALE}'")
    found = parsed("--config", str(tmp_path / "serve.toml"))
    assert (found["port"], found["ready_when_stale"]) == (8090, True)


def test_a_path_in_the_file_that_cannot_be_created_is_named_with_its_place(tmp_path: Path) -> None:
    """The value of the settings file is checked like that of the flag."""
    (tmp_path / "serve.toml").write_text("[replica]\nstore = '/dev/null/store'")
    with pytest.raises(ConfigurationError, match=r"serve.toml, \[replica\] store: .*/dev/null is not a folder"):
        parsed("--config", str(tmp_path / "serve.toml"))


def test_options_are_real_click_options() -> None:
    """The command can be completed and documented like any other."""
    assert all(isinstance(option, click.Option) for option in serve.params)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("step", ["_kafka", "_replica", "_history", "serve_replica"])
def test_a_signal_while_the_service_starts_or_ends_is_its_normal_end(
    step: str, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status is 0, as after a signal to the running server, which handles it itself."""
    module = import_module("kafka_replica.cli.commands.serve")
    monkeypatch.setattr(module, step, lambda *_, **__: signal.raise_signal(number))
    monkeypatch.setattr(module, "begin_long_run", lambda: None)  # it sets up the log of the whole process
    assert run_command(["serve", "-t", "x", "-b", "127.0.0.1:1", "--port", "0"]) == 0
