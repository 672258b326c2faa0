"""The options that all commands share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import click

from kafka_replica.cli.creatable_paths import CreatablePath
from kafka_replica.cli.numbers import Number
from kafka_replica.cli.properties import SERVERS_VARIABLE

Boundaries: TypeAlias = Literal["auto", "markers", "quiescence"]
F = TypeVar("F", bound=Callable[..., Any])

_TOPIC_NAME = re.compile(r"(?!\.\.?$)[A-Za-z0-9._-]{1,249}").fullmatch


def topic_option(*, required: bool = True, several: bool = True) -> Callable[[F], F]:
    """Return the option --topic, whose value is a name or, with ``several``, a list of names separated by commas.

    The value is checked here only if it is ``required``: an optional value may come from the environment variable
    without being used.
    """

    def check(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
        del context, parameter
        if value is not None and required:
            topic_names(value, several=several)
        return value

    return click.option(
        "--topic", required=required, envvar="KAFKA_REPLICA_TOPIC", callback=check,
        metavar="NAME[,...]" if several else "NAME", help="The topic, or several." if several else "The topic.",
    )  # fmt: skip


def topic_names(value: str, *, several: bool = True) -> list[str]:
    """Return the names of topics in the value of an option, separated by commas.

    Raises:
        click.BadParameter: a name is not a valid name of a topic, or is given twice.
    """
    names = [name.strip() for name in value.split(",")] if several else [value]
    for name in names:
        if not _TOPIC_NAME(name):
            raise click.BadParameter(
                f"{name!r} is not a valid name of a topic; use up to 249 letters, digits, dots, dashes and underscores"
            )
    if len(set(names)) != len(names):
        raise click.BadParameter(f"{value!r} names a topic twice")
    return names


def _checked_seconds(context: click.Context, parameter: click.Parameter, value: float) -> float:
    del context, parameter
    if math.isnan(value):
        raise click.BadParameter("nan is not a number of seconds")
    return min(value, 1e9)  # because a lock cannot wait for an infinite time


BOOTSTRAP_SERVER = click.option(
    "--bootstrap-server", envvar=SERVERS_VARIABLE, metavar="HOST:PORT[,...]",
    help="Brokers to connect to first; by default the one started by \"broker start\".",
)  # fmt: skip
CONFIG = click.option(
    "--config", "configs", multiple=True, metavar="FILE|KEY=VALUE",
    help="Properties of Kafka's clients: a file (Java properties or TOML), or one property. Repeatable; the last "
    "value counts.",
)  # fmt: skip
TIMEOUT_S = click.option(
    "--timeout-s", type=Number(min=0), default=60.0, show_default=True, callback=_checked_seconds,
    help="How long to wait for Kafka, in seconds.",
)  # fmt: skip
STORE = click.option(
    "--store", type=CreatablePath(is_folder=True), metavar="DIR", envvar="KAFKA_REPLICA_STORE",
    help="Keep the replica in this folder (RocksDB); the next command resumes from here.",
)  # fmt: skip
JSON = click.option("--json", "as_json", is_flag=True, help="JSON lines, for scripts.")


def with_options(options: Iterable[Callable[[F], F]], command: F) -> F:
    """Add options to a command, whose help lists them in reverse order."""
    for option in options:
        command = option(command)
    return command


def grouped_options(kind: Callable[..., Any], name: str, command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that passes the options for the fields of a dataclass to ``command`` as a single argument.

    Args:
        kind: the dataclass.
        name: the name of the argument.
        command: the function of the command.
    """
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type] # a dataclass

    @wraps(command)
    def with_one(**given: Any) -> Any:
        return command(**{name: kind(**{field: given.pop(field) for field in names})}, **given)

    return with_one


def kafka_options(command: F) -> F:
    """Add --bootstrap-server, --topic, --config, --timeout-s and --json to a command on one topic."""
    return with_options((JSON, TIMEOUT_S, CONFIG, topic_option(several=False), BOOTSTRAP_SERVER), command)


@dataclass(frozen=True)
class ReplicaArguments:
    """The options of a command that reads through a replica; see the help of the options."""

    bootstrap_server: str | None
    topic: str
    configs: tuple[str, ...]
    timeout_s: float
    boundaries: Boundaries
    store: Path | None
    key_filter: tuple[str, ...]
    on_bad_record: Literal["stop", "skip"]
    dead_letters: Path | None
    large_values: bool = False


_REPLICA_OPTIONS = (
    click.option(
        "--large-values", is_flag=True, help="Show values that were split into chunks as whole values.",
    ),
    click.option(
        "--dead-letters", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
        help="Append records that cannot be replicated to this file, as JSON lines, and continue without them.",
    ),
    click.option(
        "--on-bad-record", type=click.Choice(["stop", "skip"]), default="stop", show_default=True,
        help="Handling of records that cannot be replicated.",
    ),
    click.option(
        "--key-filter", multiple=True, metavar="PATTERN",
        help="Only keys that match this pattern as a whole: * any text, ? a character. Repeatable; one must match.",
    ),
    STORE,
    click.option(
        "--boundaries", type=click.Choice(["auto", "markers", "quiescence"]), default="auto", show_default=True,
        help="How transaction boundaries are detected.",
    ),
)  # fmt: skip


def replica_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a replica to a command, which receives all but ``as_json`` as the argument ``options``."""
    shared = (JSON, TIMEOUT_S, CONFIG, topic_option(), BOOTSTRAP_SERVER)
    return with_options((*_REPLICA_OPTIONS, *shared), grouped_options(ReplicaArguments, "options", command))
