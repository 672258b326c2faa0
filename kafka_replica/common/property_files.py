"""Settings files: Java properties and TOML.

Source of the properties format: java.util.Properties, ``load(Reader)``.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from kafka_replica.errors import ConfigurationError

_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_BLANK: Final = " \t\f"
_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.?))", re.DOTALL)
_KEY: Final = re.compile(r"((?:[^\\=: \t\f]|\\.)*)[ \t\f]*[=:]?[ \t\f]*", re.DOTALL)


class SettingsFile(NamedTuple):
    """The content of a settings file.

    Attributes:
        path: the file.
        values: the values by name. Values of properties are texts; values of TOML have TOML's types, including tables.
        is_toml: whether the file is TOML.
        lines: the line number of each name, for properties only.
    """

    path: Path
    values: dict[str, Any]
    is_toml: bool
    lines: dict[str, int]

    def where(self, name: str) -> str:
        """Return the file and line of a setting, for messages."""
        number = self.lines.get(name)
        return str(self.path) if number is None else f"{self.path}, line {number}"


def read_settings_file(path: Path) -> SettingsFile:
    """Read a settings file as TOML or properties, by its suffix; with another suffix, as TOML if it is valid TOML.

    Raises:
        ConfigurationError: the file cannot be read, or has the suffix ``.toml`` and is not TOML.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"reading {path}: {error.strerror or error}") from error
    suffix = path.suffix.lower()
    if suffix != ".properties":
        try:
            return SettingsFile(path, tomllib.loads(data.decode("utf-8-sig")), is_toml=True, lines={})
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            if suffix == ".toml":
                raise ConfigurationError(f"reading {path} as TOML: {error}") from error
    values, lines = {}, {}
    for number, name, value in parse_properties(_text(data)):
        values[name], lines[name] = value, number
    return SettingsFile(path, values, is_toml=False, lines=lines)


def parse_properties(text: str) -> Iterator[tuple[int, str, str]]:
    r"""Parse Java properties; yield the line number, name and value of each.

    ``name=value``, ``name: value`` and ``name value`` are equivalent. A line that ends with a backslash continues on
    the next line; ``\t``, ``\n``, ``\r``, ``\f`` and ``\uXXXX`` are escapes, any other escaped character is literal.
    """
    for number, line in _logical_lines(text):
        found = _KEY.match(line)
        assert found is not None  # noqa: S101 - the pattern matches the empty text, too
        yield number, _unescaped(found[1]), _unescaped(line[found.end() :])


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    pending, began = "", 0
    for number, natural in enumerate(_LINE_END.split(text), 1):
        line = natural.lstrip(_BLANK)
        if not pending and (not line or line[0] in "#!"):
            continue
        began = began if pending else number
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            pending += line[:-1]
            continue
        yield began, pending + line
        pending = ""
    if pending:
        yield began, pending


def _unescaped(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) if found[1] else _ESCAPES.get(found[2], found[2])

    # Java writes characters beyond the Basic Multilingual Plane as two escapes, a surrogate pair.
    return _ESCAPED.sub(character, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")  # the encoding of properties that Java reads from a stream


def flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return settings by their full names; TOML reads unquoted names with dots as nested tables."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return found


def filled(value: Any, where: str) -> Any:
    """Return a value with each ``${NAME}`` in its texts replaced by the environment variable; lists become tuples.

    Raises:
        ConfigurationError: a variable is not set.
    """

    def look_up(found: re.Match[str]) -> str:
        try:
            return os.environ[found[1]]
        except KeyError as error:
            raise ConfigurationError(f"{where}: the environment variable {found[1]} is not set") from error

    if isinstance(value, dict):
        return {name: filled(each, where) for name, each in value.items()}
    if isinstance(value, list):
        return tuple(filled(each, where) for each in value)
    return _VARIABLE.sub(look_up, value) if isinstance(value, str) else value
