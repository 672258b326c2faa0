"""The tables of a settings file, and the objects created from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar

from kafka_replica.common.property_files import filled
from kafka_replica.common.wording import did_you_mean
from kafka_replica.errors import ConfigurationError

T = TypeVar("T")


def settings_tables(content: Mapping[str, Any], names: Iterable[str], path: Path) -> dict[str, dict[str, Any]]:
    """Return the tables of a file, with values from environment variables filled in; a missing table is empty.

    Args:
        content: the content of the file.
        names: the names of the possible tables.
        path: the file, for messages.

    Raises:
        ConfigurationError: a table is unknown, or an environment variable is not set.
    """
    tables = {name: _table(content, name, path) for name in names}
    if unknown := set(content) - set(tables):
        hint = did_you_mean(min(unknown), tables) or f"; known are {', '.join(tables)}"
        raise ConfigurationError(f"{path}: unknown table {', '.join(sorted(unknown))}{hint}")
    return tables


def _table(content: Mapping[str, Any], name: str, path: Path) -> dict[str, Any]:
    table = content.get(name, {})
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}: [{name}] must be a table: [{name}] and lines of key = value")
    return {key: filled(value, f"{path}, [{name}] {key}") for key, value in table.items()}


def make_settings(kind: type[T], values: Mapping[str, Any], where: str) -> T:
    """Create a settings object from a table.

    Args:
        kind: the dataclass of the settings.
        values: the settings in the table.
        where: the file and the table, for messages.

    Raises:
        ConfigurationError: a setting is unknown, missing or of the wrong type.
    """
    known_fields = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    if unknown := set(values) - set(known_fields):
        hint = did_you_mean(min(unknown), known_fields) or f"; known are {', '.join(known_fields)}"
        raise ConfigurationError(f"{where}: unknown {', '.join(sorted(unknown))}{hint}")
    required = {
        name for name, field in known_fields.items() if field.default is MISSING and field.default_factory is MISSING
    }
    if missing := required - {name for name, value in values.items() if value not in ("", {}, ())}:
        raise ConfigurationError(f"{where}: {', '.join(sorted(missing))} is missing")
    for name, value in values.items():
        if str(known_fields[name].type).startswith("tuple") != isinstance(value, tuple):
            raise ConfigurationError(
                f"{where}: {name} should be a {'list' if not isinstance(value, tuple) else 'text'}"
            )
        expected = "text" if str(known_fields[name].type).startswith("str") else "number"
        if str(known_fields[name].type).startswith(("str", "int")) and isinstance(value, str) != (expected == "text"):
            raise ConfigurationError(f"{where}: {name} should be a {expected}")
        default = known_fields[name].default
        number = isinstance(default, (int, float))
        if (number and not isinstance(value, (int, float))) or (
            isinstance(default, str) and not isinstance(value, str)
        ):
            raise ConfigurationError(f"{where}: {name} should be a {'number' if number else 'text'}, as {default!r} is")
    return kind(**values)
