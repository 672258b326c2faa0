"""A producer's configuration file: TOML or Java properties, with secrets taken from the environment.

::

    [producer]
    topic = "FOO,BAR"
    database = "postgresql+psycopg://registry:${DB_PASSWORD}@localhost/registry"

    [kafka]
    "bootstrap.servers" = "localhost:9092"

    [source]
    folders = ["structures"]

    [mail]
    host = "smtp.example.org"
    to = ["admin@example.org"]

The same configuration as Java properties is ``producer.topic=FOO,BAR``, ``kafka.bootstrap.servers=localhost:9092`` and
so on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from kafka_replica.broker.connection.property_names import check_names
from kafka_replica.common.property_files import filled, flat, read_settings_file
from kafka_replica.common.wording import did_you_mean
from kafka_replica.errors import ConfigurationError
from kafka_replica.producer.mail import MailSettings
from kafka_replica.producer.property_tables import tables_of
from kafka_replica.producer.settings import ProducerSettings
from kafka_replica.producer.sources.folder import FolderSettings, FolderSource
from kafka_replica.producer.sources.rest import ServiceSettings, ServiceSource

SourceSettings: TypeAlias = FolderSettings | ServiceSettings
T = TypeVar("T")
_TABLES = ("producer", "kafka", "source", "mail")


class Configuration(NamedTuple):
    """The contents of a configuration file."""

    producer: ProducerSettings
    mail: MailSettings | None
    source: SourceSettings | None = None
    """The folder or service to watch; None if content is recorded by other means."""


def read_configuration(path: Path) -> Configuration:
    """Read a configuration file.

    Raises:
        ConfigurationError: the file cannot be read, a setting is unknown or missing, or a variable is not set.
    """
    file = read_settings_file(path)
    said = file.values if file.is_toml else tables_of(file)
    tables = {name: _table(said, name, path) for name in _TABLES}
    if unknown := set(said) - set(tables):
        hint = did_you_mean(min(unknown), tables) or f"; known are {', '.join(tables)}"
        raise ConfigurationError(f"{path}: unknown table {', '.join(sorted(unknown))}{hint}")
    kafka = flat(tables["kafka"])
    check_names(kafka, f"{path}, [kafka]")
    settings = _made(ProducerSettings, {**tables["producer"], "kafka": kafka}, f"{path}, [producer]")
    mail, source = tables["mail"], tables["source"]
    kind: type[SourceSettings] = ServiceSettings if "url" in source else FolderSettings
    return Configuration(
        settings,
        _made(MailSettings, mail, f"{path}, [mail]") if mail else None,
        _made(kind, source, f"{path}, [source]") if source else None,
    )


def make_source(settings: SourceSettings, media_type: str) -> FolderSource | ServiceSource:
    """Return the source that is configured.

    Args:
        settings: the settings of a folder or a service.
        media_type: the format that is published; a service is requested to send this format first.

    Raises:
        ConfigurationError: something in the settings is impossible.
    """
    if isinstance(settings, FolderSettings):
        return FolderSource(settings)
    return ServiceSource(settings, media_type)


def _table(said: Mapping[str, Any], name: str, path: Path) -> dict[str, Any]:
    table = said.get(name, {})
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}: [{name}] should be a table, as in [{name}] and lines of key = value")
    return {key: filled(value, f"{path}, [{name}] {key}") for key, value in table.items()}


def _made(kind: type[T], given: dict[str, Any], where: str) -> T:
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    if unknown := set(given) - set(known):
        hint = did_you_mean(min(unknown), known) or f"; known are {', '.join(known)}"
        raise ConfigurationError(f"{where}: unknown {', '.join(sorted(unknown))}{hint}")
    needed = {name for name, field in known.items() if field.default is MISSING and field.default_factory is MISSING}
    if missing := needed - {name for name, value in given.items() if value not in ("", {}, ())}:
        raise ConfigurationError(f"{where}: {', '.join(sorted(missing))} is missing")
    for name, value in given.items():
        if str(known[name].type).startswith("tuple") != isinstance(value, tuple):
            raise ConfigurationError(
                f"{where}: {name} should be a {'list' if not isinstance(value, tuple) else 'text'}"
            )
        wanted = "text" if str(known[name].type).startswith("str") else "number"
        if str(known[name].type).startswith(("str", "int")) and isinstance(value, str) != (wanted == "text"):
            raise ConfigurationError(f"{where}: {name} should be a {wanted}")
        default = known[name].default
        number = isinstance(default, (int, float))
        if (number and not isinstance(value, (int, float))) or (
            isinstance(default, str) and not isinstance(value, str)
        ):
            raise ConfigurationError(f"{where}: {name} should be a {'number' if number else 'text'}, as {default!r} is")
    return kind(**given)
