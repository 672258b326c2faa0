"""The output of ``--help``: examples, environment variables, and options of one letter."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from kafka_replica.cli.groups import kafka_replica
from kafka_replica.cli.help import EXAMPLES, SHORT_OPTIONS, VARIABLES
from support.cli.command_tools import environment  # noqa: F401 - a fixture
from support.paths import ROOT

VARIABLE = re.compile(r"\bKAFKA_REPLICA_[A-Z_]+\b")


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield all commands and groups with the words that call them; the program itself has an empty text."""
    context = click.Context(kafka_replica)
    yield "", kafka_replica
    for name in kafka_replica.list_commands(context):
        command = kafka_replica.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {below}", each) for below, each in command.commands.items())


@pytest.mark.parametrize(("words", "command"), [*commands()], ids=lambda value: str(value) if value else "-")
def test_help_shows_examples_and_environment_variables(words: str, command: click.Command) -> None:
    """Examples call this command with existing options; the environment variables are those that its options read."""
    shown = CliRunner().invoke(kafka_replica, [*words.split(), "-h"], prog_name="kafka-replica")
    assert shown.exit_code == 0, shown.output
    examples, _, variables = shown.output.partition("Examples:")[2].partition("Environment variables:")
    lines = [shlex.split(line) for line in examples.strip().splitlines()]
    assert lines
    for line in lines:
        assert line[: 1 + len(words.split())] == ["kafka-replica", *words.split()]
        called = next(one for name, one in reversed(list(commands())) if line[1:][: len(name.split())] == name.split())
        options = {name for parameter in called.params for name in parameter.opts} | {"-h", "--help"}
        assert {word for word in line if re.match(r"--?[a-z]", word)} <= options, line
    read = {str(param.envvar) for param in command.params if isinstance(param, click.Option) and param.envvar}
    named = {line.split()[0] for line in variables.strip().splitlines()}
    assert read | {"KAFKA_REPLICA_DEBUG"} <= named <= set(VARIABLES)


@pytest.mark.thorough
def test_the_help_of_the_whole_names_every_variable_that_is_read() -> None:
    """The help of the program, the documentation and the code name the same environment variables."""
    used = {
        name for path in (ROOT / "kafka_replica").rglob("*.py") for name in VARIABLE.findall(path.read_text())
    }  # fmt: skip
    assert used == set(VARIABLES)
    assert set(VARIABLE.findall(CliRunner().invoke(kafka_replica, ["--help"]).output)) == used
    documented = "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    assert used <= set(VARIABLE.findall(documented))


def test_every_command_has_an_example() -> None:
    """Every command and every group has an example."""
    assert {words for words, _ in commands()} <= set(EXAMPLES)


def test_frequent_options_have_one_letter() -> None:
    """A letter means the same option in every command, and no command has a letter twice."""
    seen = set[str]()
    for words, command in commands():
        letters = [name for parameter in command.params for name in parameter.opts if re.fullmatch("-[a-z]", name)]
        assert len(letters) == len(set(letters)), words
        for parameter in command.params:
            for name in set(parameter.opts) & set(SHORT_OPTIONS):
                assert SHORT_OPTIONS[name] in parameter.opts, (words, name)
                seen.add(name)
    assert seen == set(SHORT_OPTIONS)
    assert {"--bootstrap-server", "--topic", "--config", "--json", "--out"} <= set(SHORT_OPTIONS)
    page = (ROOT / "docs/commands.md").read_text()
    assert all(f"`{letter}`" in page for letter in SHORT_OPTIONS.values())


@pytest.mark.parametrize("command", ["validate", "map"])
def test_help_names_every_format_of_data_files(command: str) -> None:
    """Each format in the table of the page about data files is in the help of the command."""
    table = (ROOT / "docs/data-files.md").read_text().partition("| format |")[2].partition("\n\n")[0]
    formats = re.findall(r"^\| (SDMX-\w+|plain CSV|Parquet|Arrow IPC|workbook)", table, re.MULTILINE)
    assert len(set(formats)) >= 8
    shown = CliRunner().invoke(kafka_replica, [command, "--help"]).output
    words = " ".join(shown.split())
    assert [format_ for format_ in formats if format_ not in words] == []
