"""Options and output that are common to the commands of the producer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from kafka_replica.cli.output import print_json_line, print_line
from kafka_replica.producer.configuration_files.configuration import read_configuration
from kafka_replica.producer.service.structure_producer import ProducerControl

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def producer_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --config and --json to a command."""
    command = click.option("--json", "as_json", is_flag=True, help="JSON lines, for scripts.")(command)
    return click.option("--config", "file", type=_FILE, required=True, help="The settings file.")(command)


def control_of(file: Path) -> closing[ProducerControl]:
    """Return a context manager that yields the control of a configured producer, and closes it at the end.

    Args:
        file: the settings file.
    """
    return closing(ProducerControl(read_configuration(file).producer))


def report_success(as_json: bool, what: str, words: str) -> None:
    """Report that a command has succeeded.

    Args:
        as_json: whether to print JSON.
        what: the command, for JSON.
        words: the sentence, for text.
    """
    if as_json:
        print_json_line({"done": what})
    else:
        print_line(words)
