"""The options that all commands share, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import click

from kafka_replica.errors import ConfigurationError

Evidence: TypeAlias = Literal["auto", "markers", "quiet points"]
F = TypeVar("F", bound=Callable[..., Any])

BOOTSTRAP_SERVER = click.option(
    "--bootstrap-server", envvar="KAFKA_REPLICA_BOOTSTRAP_SERVERS", metavar="HOST:PORT[,...]",
    help="The brokers to begin with.",
)  # fmt: skip
CONFIG = click.option(
    "--config", "configs", multiple=True, metavar="FILE|KEY=VALUE",
    help="librdkafka properties: a file of KEY=VALUE lines, or one property. Repeatable; later ones win.",
)  # fmt: skip
TIMEOUT_S = click.option(
    "--timeout-s", type=click.FloatRange(min=0), default=60.0, show_default=True,
    help="How long to wait for Kafka, in seconds.",
)  # fmt: skip
STORE = click.option(
    "--store", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", envvar="KAFKA_REPLICA_STORE",
    help="Keep the replica in this folder (RocksDB); the next command goes on where this one was.",
)  # fmt: skip
_SHARED = (
    click.option("--json", "as_json", is_flag=True, help="JSON lines, for scripts."),
    TIMEOUT_S,
    CONFIG,
    click.option("--topic", required=True, envvar="KAFKA_REPLICA_TOPIC", help="The topic."),
    BOOTSTRAP_SERVER,
)


def with_options(options: Iterable[Callable[[F], F]], command: F) -> F:
    """A command with these options more; in its help they come in the opposite order."""
    for option in options:
        command = option(command)
    return command


def gathered(kind: Callable[..., Any], name: str, command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that gets the fields of a dataclass as one argument of that name."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type] # a dataclass

    @wraps(command)
    def with_one(**given: Any) -> Any:
        return command(**{name: kind(**{field: given.pop(field) for field in names})}, **given)

    return with_one


def kafka_options(command: F) -> F:
    """Adds --bootstrap-server, --topic, --config, --timeout-s and --json to a command."""
    return with_options(_SHARED, command)


@dataclass(frozen=True)
class ReplicaOptions:
    """What the command line says of a replica; see the help of the options."""

    bootstrap_server: str | None
    topic: str
    configs: tuple[str, ...]
    timeout_s: float
    evidence: Evidence
    store: Path | None
    keep: tuple[str, ...]
    on_bad_record: Literal["stop", "skip"]
    dead_letters: Path | None


_OF_A_REPLICA = (
    click.option(
        "--dead-letters", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
        help="Append records that cannot be replicated to this file, as JSON lines, and go on without them.",
    ),
    click.option(
        "--on-bad-record", type=click.Choice(["stop", "skip"]), default="stop", show_default=True,
        help="Whether to go on without records that cannot be replicated.",
    ),
    click.option(
        "--keep", multiple=True, metavar="PATTERN",
        help="Only keys that match: * any text, ? a character. Repeatable; one of them has to match.",
    ),
    STORE,
    click.option(
        "--evidence", type=click.Choice(["auto", "markers", "quiet points"]), default="auto", show_default=True,
        help="What tells where transactions end.",
    ),
)  # fmt: skip


def replica_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same, and those of a replica; the command gets all but ``as_json`` as one ``options``."""
    return kafka_options(with_options(_OF_A_REPLICA, gathered(ReplicaOptions, "options", command)))


def properties(bootstrap_server: str | None, configs: tuple[str, ...]) -> dict[str, Any]:
    """The properties for librdkafka from the command line.

    Raises:
        ConfigurationError: a file cannot be read, or something is neither a file nor KEY=VALUE.
    """
    settings: dict[str, Any] = {}
    for config in configs:
        settings |= _from_file(Path(config)) if _is_file(config) else _from_text(config, "--config")
    if bootstrap_server:
        settings["bootstrap.servers"] = bootstrap_server
    if not settings.get("bootstrap.servers"):
        raise ConfigurationError("no broker to connect to: give --bootstrap-server HOST:PORT")
    return settings


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # too long for a name, as a key or a token is; it must not be told in a message
        return False


def _from_file(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"reading {path}: {error}") from error
    settings: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text and not text.startswith(("#", "!")):
            settings |= _from_text(text, f"{path}, line {number}")
    return settings


def _from_text(text: str, where: str) -> dict[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        # Its first word alone: what follows may be a secret.
        word = (name.split() or [""])[0][:80]
        raise ConfigurationError(f"{where}: {word!r} is neither a file nor KEY=VALUE")
    return {name.strip(): value.strip()}
