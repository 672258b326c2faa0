"""Read the properties of Kafka's clients from the command line."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import click
from click.core import ParameterSource

from kafka_replica.broker.connection.property_names import check_names
from kafka_replica.broker.connection.security.servers import parse_servers
from kafka_replica.cli.started_broker import started_broker_address
from kafka_replica.common.property_files import SettingsFile, filled, flat, read_settings_file
from kafka_replica.errors import ConfigurationError

SERVERS: Final = "bootstrap.servers"
SERVERS_VARIABLE: Final = "KAFKA_REPLICA_BOOTSTRAP_SERVERS"
_OTHER_NAME: Final = "metadata.broker.list"  # librdkafka's second name for the same property
_NUMBERS: Final = re.compile(r"(?:\.(?:ms|bytes|kbytes|messages|records)|retries)$").search
"""The pattern of names of properties that are numbers."""
_NUMBER: Final = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?)").fullmatch
_SCHEME: Final = re.compile(r"(^|,)\s*\w+://")
_TABLE: Final = "kafka"
"""The table of a producer's configuration file that has Kafka's properties."""


def properties(
    bootstrap_server: str | None, configs: tuple[str, ...], sources: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the properties that the command line defines, the brokers always as ``bootstrap.servers``.

    The brokers are those of ``--bootstrap-server``, else those of ``--config``, else those of the environment variable,
    else the broker that ``broker start`` has started.

    Args:
        bootstrap_server: the value of ``--bootstrap-server``, or of its environment variable.
        configs: files, and properties as KEY=VALUE, the most important last.
        sources: where properties come from, for errors: by default from ``--config``.

    Raises:
        ConfigurationError: a file cannot be read, a property does not exist, a value is neither a file nor KEY=VALUE,
            or there is no broker to connect to.
    """
    settings: dict[str, Any] = {}
    for config in configs:
        source = sources.get(config, "--config")
        given = _of_file(Path(config)) if _is_file(config) else _of_text(config, source)
        settings |= {SERVERS if name == _OTHER_NAME else name: value for name, value in given.items()}
    if bootstrap_server is not None and not (is_from_environment("bootstrap_server") and settings.get(SERVERS)):
        settings[SERVERS] = bootstrap_server
    elif not settings.get(SERVERS):
        settings[SERVERS] = started_broker_address()
    if settings[SERVERS] is None:
        raise ConfigurationError(
            f"no broker to connect to: give --bootstrap-server HOST:PORT, set {SERVERS_VARIABLE}, or start one with "
            "kafka-replica broker start"
        )
    parse_servers(_SCHEME.sub(r"\1", settings[SERVERS]), SERVERS, "")  # without the schemes, which are not checked
    return settings


def is_from_environment(option: str) -> bool:
    """Return whether the current command has the value of an option from its environment variable."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source(option) is ParameterSource.ENVIRONMENT


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # a text too long for a file name may be a key or a token, and is never shown
        return False


def _of_file(path: Path) -> dict[str, str]:
    file = read_settings_file(path)
    if not file.is_toml:
        return _of_properties(file)
    table = file.values.get(_TABLE)
    found = flat(table if isinstance(table, dict) else file.values)
    check_names(found, str(path))
    where = f"{path}, "
    if isinstance(table, dict):
        where += f"[{_TABLE}] "
        found = {name: filled(value, f"{where}{name}") for name, value in found.items()}
    texts = _texts(found, path)
    for name, value in texts.items():
        _check_number(name, value, f"{where}{name}")
    return texts


def _of_properties(file: SettingsFile) -> dict[str, str]:
    prefix = f"{_TABLE}."
    has_table = any(name.startswith(prefix) for name in file.values)
    found: dict[str, str] = {}
    for full_name, value in file.values.items():
        if full_name.startswith(prefix) or not has_table:
            name, where = full_name.removeprefix(prefix), file.where(full_name)
            check_names([name], where)
            found[name] = filled(value, where) if has_table else value
            _check_number(name, found[name], f"{where}: {name}")
    return found


def _check_number(name: str, value: str, where: str) -> None:
    """Refuse a text as the value of a property that is a number, before anything connects.

    Raises:
        ConfigurationError: the value is not a number.
    """
    if _NUMBERS(name) and not _NUMBER(value.strip()):
        raise ConfigurationError(f"{where}: {value!r} is not a number")


def _texts(values: Mapping[str, Any], path: Path) -> dict[str, str]:
    """Return TOML values as the texts that Kafka's clients expect."""
    found: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, bool):
            found[name] = str(value).lower()
        elif isinstance(value, (str, int, float)):
            found[name] = str(value)
        elif isinstance(value, (list, tuple)) and all(isinstance(each, (str, int)) for each in value):
            found[name] = ",".join(map(str, value))
        else:
            raise ConfigurationError(f"{path}: {name} must be a string, a number, true, false or a list of strings")
    return found


def _of_text(text: str, source: str) -> dict[str, str]:
    separators = [at for at in (text.find("="), text.find(":")) if at > 0]
    name = text[: min(separators)].strip() if separators else ""
    if not name or os.sep in name:
        # The error shows only the first word, because the rest may be a secret.
        word = (text.split() or [""])[0].partition("=")[0][:80]
        raise ConfigurationError(f"{source}: {word!r} is neither a file nor KEY=VALUE")
    check_names([name], source)
    value = text[min(separators) + 1 :].strip()
    _check_number(name, value, f"{source}: {name}" if source.startswith("--") else source)
    return {name: value}
