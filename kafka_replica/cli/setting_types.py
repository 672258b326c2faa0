"""Check the types of the values in a settings file, which TOML distinguishes, unlike flags and variables."""

from __future__ import annotations

import json
from typing import Any

import click

from kafka_replica.common.secret_values import is_secret
from kafka_replica.errors import ConfigurationError


def check_type(option: click.Parameter, value: Any, where: str) -> None:
    """Check that a value of a TOML file has the type of its setting.

    Args:
        option: the option of the setting.
        value: the value; a text with ``${NAME}`` may be any type, because variables are texts.
        where: the file, table and name of the setting, for the message.

    Raises:
        ConfigurationError: the value has another type; the error shows it unless it may be a secret.
    """
    if isinstance(value, list) != option.multiple or isinstance(value, dict):
        raise ConfigurationError(f"{where} should be {'a list' if option.multiple else 'one value'}")
    for each in value if isinstance(value, list) else [value]:
        problem = None if isinstance(each, str) and "${" in each else _problem(option.type, each)
        if problem is not None:
            shown = "the value (not shown)" if is_secret(str(option.name)) else _as_toml(each)
            raise ConfigurationError(f"{where}: {shown} is not {problem}")


def _problem(kind: object, value: Any) -> str | None:
    """Return the type that a value should have, with advice; None if it has this type."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    quoted = ", which is between quotation marks"
    found: str | None = None
    if isinstance(kind, click.types.BoolParamType):
        found = None if isinstance(value, bool) else "true or false, without quotation marks"
    elif isinstance(kind, click.types.IntParamType):
        is_whole = is_number and isinstance(value, int)
        found = None if is_whole else "a whole number, such as 30" + (", without quotation marks" * _is_number(value))
    elif isinstance(kind, click.types.FloatParamType):
        found = None if is_number else "a number, such as 30 or 0.5" + (", without quotation marks" * _is_number(value))
    elif not isinstance(value, str):
        found = f"a path{quoted}" if isinstance(kind, click.Path) else f"a text{quoted}"
    return found


def _is_number(value: Any) -> bool:
    """Return whether a value is a number between quotation marks."""
    try:
        return isinstance(value, str) and float(value) == float(value)
    except ValueError:
        return False


def _as_toml(value: Any) -> str:
    """Return a value approximately as it is in the file."""
    return json.dumps(value, default=str, ensure_ascii=False)
