"""The options that all commands share, and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from kafka_replica.errors import ConfigurationError

F = TypeVar("F", bound=Callable[..., Any])

_SHARED = (
    click.option("--json", "as_json", is_flag=True, help="JSON lines, for scripts."),
    click.option(
        "--timeout-s", type=click.FloatRange(min=0), default=60.0, show_default=True,
        help="How long to wait for Kafka, in seconds.",
    ),
    click.option(
        "--config", "configs", multiple=True, metavar="FILE|KEY=VALUE",
        help="librdkafka properties: a file of KEY=VALUE lines, or one property. Repeatable; later ones win.",
    ),
    click.option("--topic", required=True, envvar="KAFKA_REPLICA_TOPIC", help="The topic."),
    click.option(
        "--bootstrap-server", envvar="KAFKA_REPLICA_BOOTSTRAP_SERVERS", metavar="HOST:PORT[,...]",
        help="The brokers to begin with.",
    ),
)  # fmt: skip


def kafka_options(command: F) -> F:
    """Adds --bootstrap-server, --topic, --config, --timeout-s and --json to a command."""
    for option in _SHARED:
        command = option(command)
    return command


def replica_options(command: F) -> F:
    """The same, and --evidence."""
    evidence = click.option(
        "--evidence",
        type=click.Choice(["auto", "markers", "quiet points"]),
        default="auto",
        show_default=True,
        help="What tells where transactions end.",
    )
    return evidence(kafka_options(command))


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
