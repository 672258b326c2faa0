"""The source of structures of a command: the topic is checked only if no files are given."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from kafka_replica.cli.structure_source import StructureSource, structure_options
from support.cli.data_runs import SAMPLES


@click.command()
@structure_options
def show(source: StructureSource) -> None:
    """Print whether there are structures."""
    with source.snapshot() as snapshot:
        click.echo(bool(list(snapshot)))


def test_a_variable_with_several_topics_does_not_prevent_the_use_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several topics are for the commands that read them; here they are an error only if they would be read."""
    monkeypatch.setenv("KAFKA_REPLICA_TOPIC", "a,b")
    assert CliRunner().invoke(show, ["--structures", str(SAMPLES)]).output == "True\n"
    refused = CliRunner().invoke(show, [])
    assert refused.exit_code == 2
    assert "'a,b' is not a valid name of a topic" in refused.output
