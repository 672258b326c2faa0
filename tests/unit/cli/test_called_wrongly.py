"""Commands with wrong arguments: exit status 2, and a message with the correct usage. Without a broker."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

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
        ("publish -t t -b h:1", "nothing to publish"),
        ("publish -t t -b h:1 nowhere", "there is no file or folder nowhere"),
        ("publish -t t -b h:1 --delete CL_FREQ", "reading the URN 'CL_FREQ'"),
        ("validate x.csv --flow A:B -o out -s .", "it must look like AGENCY:ID(VERSION)"),
        ("validate nowhere.csv --flow A:B(1.0) -o out -s .", "there is no file or folder nowhere.csv"),
        ("map nowhere.csv --map A:B(1.0) -o out -s .", "there is no file or folder nowhere.csv"),
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
