"""Commands with wrong arguments: exit status 2, and a message with the correct usage. Without a broker."""

from __future__ import annotations

import errno
import os
import shlex
from pathlib import Path

import click
import pytest

from kafka_replica.broker.connection.java.stores import JavaStore
from kafka_replica.cli.groups import kafka_replica
from support.cli.command_tools import environment  # noqa: F401 - a fixture
from support.cli.data_runs import Run


@pytest.mark.parametrize(
    ("line", "expected_text"),
    [
        ("pubish", "No such command 'pubish'; did you mean 'publish'?"),
        ("xyz", "No such command 'xyz'."),
        ("broker stap", "'stop'"),
        ("dump --tpic t", "'--topic'"),
        ("broker start --nam x", "'--name'"),
        ("broker start --name a/b", "is not a valid name of a broker"),
        ("broker start --set x", "'x' is not KEY=VALUE"),
        ("dump", "Missing option '-t' / '--topic'"),
        ("dump -t a/b", "'a/b' is not a valid name of a topic"),
        ("dump -t t --boundaries marker", "is not one of 'auto', 'markers'"),
        ("dump -t t", "kafka-replica broker start"),
        ("dump -t t -b localhost:port", "bootstrap.servers"),
        ("dump -t t -b h:1 -c nonsense", "'nonsense' is neither a file nor KEY=VALUE"),
        ("dump -t t -b h:1 -c sasl.usernam=x", "did you mean 'sasl.username'?"),
        ("dump -t t -b h:1 --timeout-s soon", "'soon' is not a number of seconds, such as 30 or 0.5"),
        ("serve -t t -b h:1 --max-lag-s soon", "'soon' is not a number of seconds, such as 30 or 0.5"),
        ("serve -t t -b h:1 --port 1.5", "'1.5' is not a whole number, such as 30"),
        ("doctor -t t -b h:1 --large-bytes much", "'much' is not a whole number, such as 30"),
        ("publish -t t -b h:1", "nothing to publish"),
        ("publish -t t -b h:1 nowhere", "there is no file or folder nowhere"),
        ("publish -t t -b h:1 --delete CL_FREQ", "reading the URN 'CL_FREQ'"),
        ("validate x.csv --flow A:B -o out -s .", "it must look like AGENCY:ID(VERSION)"),
        ("validate nowhere.csv --flow A:B(1.0) -o out -s .", "there is no file or folder nowhere.csv"),
        ("map nowhere.csv --map A:B(1.0) -o out -s .", "there is no file or folder nowhere.csv"),
        ("validate a.csv --flow A:B(1.0) -o s3a://b/out -s .", "'s3a://b/out' is an address"),
        ("producer run -c nowhere.toml", "does not exist"),
        ("producer run", "Missing option '-c' / '--config'"),
    ],
)
def test_a_command_that_is_called_wrongly_ends_with_2(line: str, expected_text: str, run: Run) -> None:
    """A command with wrong arguments ends with status 2 and states once what is wrong."""
    done = run(*shlex.split(line))
    assert done.returncode == 2, done.stderr
    assert done.stderr.replace("\n", " ").count(expected_text) == 1
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs Linux's file system of processes")
@pytest.mark.parametrize("command", ["dump", "serve"])
def test_a_store_that_cannot_be_created_is_found_before_anything_is_read(command: str, run: Run) -> None:
    """Nothing can be created in /proc, although its rights allow it to an administrator."""
    done = run(command, "-t", "t", "-b", "h:1", "--store", "/proc/x")
    assert done.returncode == 2, done.stderr
    assert "/proc/x cannot be created, because /proc is not writable" in done.stderr.replace("\n", " ")


def test_changed_samples_are_replaced_only_on_request(run: Run, tmp_path: Path) -> None:
    """Unchanged samples can be written again; changed ones are kept, with status 2, unless replacing is requested."""
    assert run("samples").returncode == run("samples", "--json").returncode == 0
    names = {path.name for path in (tmp_path / "samples").iterdir()}
    assert "labour_data.csv" in names
    changed = tmp_path / "samples" / "labour_data.csv"
    changed.write_text("mine")
    done = run("samples")
    assert (done.returncode, changed.read_text()) == (2, "mine")
    assert "--overwrite" in done.stderr
    assert run("samples", "--overwrite").returncode == 0
    assert changed.read_text() != "mine"


def test_the_debug_variable_does_not_change_the_exit_status(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With KAFKA_REPLICA_DEBUG a mistake on the command line is shown with its stack trace, and still ends with 2."""
    monkeypatch.setenv("KAFKA_REPLICA_DEBUG", "1")
    done = run("explain", "nonsense")
    assert done.returncode == 2
    assert done.stderr.startswith("Traceback")
    assert "nonsense" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("number", "status"),
    [(errno.ENOSPC, 1), (errno.EMFILE, 1), (errno.EIO, 1), (errno.ENOENT, 2), (errno.EACCES, 2), (errno.EADDRINUSE, 2)],
)
def test_a_resource_that_is_exhausted_is_not_a_wrong_call(
    number: int, status: int, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After status 1 a supervisor such as systemd starts the service again; after 2 a person has to act."""

    def opening(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    def command(*_: object, **__: object) -> None:
        with monkeypatch.context() as patches:
            patches.setattr(Path, "open", opening)
            JavaStore("ssl.keystore.location", "/nowhere/keys.jks", None)

    monkeypatch.setattr(kafka_replica, "main", command)
    done = run("serve")
    assert done.returncode == status
    assert done.stderr.count("ssl.keystore.location: /nowhere/keys.jks cannot be read") == 1


@pytest.mark.parametrize(("interrupt", "status"), [(KeyboardInterrupt, 130), (EOFError, 1)])
def test_a_prompt_that_is_interrupted_ends_with_130(
    interrupt: type[BaseException], status: int, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C at the prompt of ``producer delete`` is an interrupt; the end of the input is an answer with no."""

    def prompt(_text: str) -> str:
        raise interrupt

    monkeypatch.setattr(click.termui, "visible_prompt_func", prompt)
    (tmp_path / "producer.toml").touch()
    done = run("producer", "delete", "--config", "producer.toml")
    assert done.returncode == status
    assert done.stderr.strip() == ("" if status == 130 else "kafka-replica: no command was run")


@pytest.mark.parametrize("content", [b"mine", b"\xff\xfe"])
def test_other_files_of_monitoring_are_kept(content: bytes, run: Run, tmp_path: Path) -> None:
    """A file with other content, also in another encoding, is kept with status 2 unless replacing is requested."""
    assert run("monitoring").returncode == run("monitoring").returncode == 0
    changed = tmp_path / "monitoring" / "kafka-replica-rules.yml"
    changed.write_bytes(content)
    done = run("monitoring")
    assert (done.returncode, changed.read_bytes()) == (2, content)
    assert "--overwrite" in done.stderr
    assert run("monitoring", "--overwrite").returncode == 0
    assert changed.read_bytes() != content
