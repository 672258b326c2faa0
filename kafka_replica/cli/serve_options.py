"""The options of ``serve``, with a flag, an environment variable and a key of the settings file for each setting.

The fields of the settings classes are the only list of settings. A flag takes precedence over its environment variable,
which takes precedence over the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from kafka_replica.broker.connection.property_names import LIBRDKAFKA_NAMES, check_names
from kafka_replica.cli.creatable_paths import CreatablePath
from kafka_replica.cli.numbers import Number, WholeNumber
from kafka_replica.cli.options import with_options
from kafka_replica.cli.properties import SERVERS_VARIABLE
from kafka_replica.cli.setting_types import check_type
from kafka_replica.cli.sources import variable_of
from kafka_replica.common.property_files import filled, flat, read_settings_file
from kafka_replica.common.wording import did_you_mean
from kafka_replica.errors import ConfigurationError
from kafka_replica.server.settings import ACCESS_LOGS, ListenSettings, ServerSettings, limit_of, setting

VARIABLE_PREFIX: Final = "KAFKA_REPLICA"
_CHOICES: Final = {
    "access_log": ACCESS_LOGS,
    "boundaries": ("auto", "markers", "quiescence"),
    "on_bad_record": ("stop", "skip"),
}
_TYPES: Final[dict[str, Any]] = {"int": int, "float": float, "str": str, "Path": click.Path(path_type=Path)}
_CREATED: Final = {
    "store": CreatablePath(is_folder=True),
    "history_path": CreatablePath(is_folder=True),
    "checkpoint": CreatablePath(is_folder=False),
}
"""The types of the paths that the command creates."""
_TABLES: Final = ("server", "replica", "kafka")
_NAME: Final = re.compile(r"(\w*)(=|: )?(.*)", re.DOTALL).match
"""The pattern of an error: the name of the setting, a sign, and the reason, which may contain the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedReplica:
    """The settings of the replica that is served; see ``Replica``."""

    topic: str = setting("", "The topic, or several separated by commas, which share one key space.")
    store: Path | None = setting(None, "Keep the replica in this folder (RocksDB): a restart answers immediately.")
    checkpoint: Path | None = setting(None, "Keep the replica in memory, and save it in this file every 5 minutes.")
    kept_versions: int = setting(100, "Number of earlier versions that are served under their own paths.", least=0)
    history_path: Path | None = setting(
        None, "Keep versions in this folder (RocksDB), for asOf queries, also across restarts."
    )
    history_keep_s: float = setting(30 * 86_400.0, "How long versions are kept in --history-path, in seconds.", least=0)
    history_keep_versions: int | None = setting(None, "Maximum number of versions kept in --history-path.", least=1)
    recent_changes: int = setting(1000, "Changes kept for streams that connect again.", least=0)
    boundaries: str = setting("auto", "How transaction boundaries are detected: auto, markers or quiescence.")
    on_bad_record: str = setting("stop", "Stop at records that cannot be replicated, or skip them.")
    dead_letters: Path | None = setting(None, "Append records that cannot be replicated to this file, and continue.")
    key_filter: tuple[str, ...] = setting(
        (), "Only keys that match this pattern as a whole: * any text, ? a character. Repeatable."
    )
    large_values: bool = setting(False, "Show values that were split into chunks as whole values.")
    stalled_after_s: float = setting(10.0, "Time without an answer after which the state is stalled.", least=0)


KINDS: Final = {"server": (ServerSettings, ListenSettings), "replica": (ServedReplica,)}
"""The settings classes by table of the settings file."""
_TABLE_OF: Final = {each.name: table for table, kinds in KINDS.items() for kind in kinds for each in fields(kind)}


def serve_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each setting to a command, and the options for the file and for Kafka's properties."""
    settings = [_option(each) for kinds in KINDS.values() for kind in kinds for each in fields(kind)]
    shared = (
        click.option("--json", is_flag=True, help="Print the address as a JSON line, for scripts."),
        click.option(
            "--kafka-property", multiple=True, metavar="KEY=VALUE",
            help="A property of Kafka's clients, which overrides the file. Repeatable.",
        ),
        click.option(
            "--bootstrap-server", "servers", envvar=SERVERS_VARIABLE, metavar="HOST:PORT[,...]",
            help="Brokers to connect to first; by default the one started by \"broker start\".",
        ),
        click.option(
            "--config", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
            is_eager=True, callback=_read_file, help="The settings file (TOML): tables [server], [replica], [kafka].",
        ),
    )  # fmt: skip
    return with_options((*reversed(settings), *shared), command)


def settings_of(kind: type[Any], given: Mapping[str, Any]) -> Any:
    """Return the settings of a class from the values of all options.

    Raises:
        ConfigurationError: a value is impossible; the error names the environment variable, or the file and table, that
            has it.
    """
    with located_errors(kind):
        return kind(**{each.name: given[each.name] for each in fields(kind)})


@contextmanager
def located_errors(kind: type[Any]) -> Iterator[None]:
    """Make errors about settings of a class name the environment variable, or the file and table, of the setting.

    Errors about a setting begin with its name. An error about several settings names only the file and table.

    Raises:
        ConfigurationError: the error of the block, with the source of the setting.
    """
    try:
        yield
    except ConfigurationError as error:
        name, sign, reason = _NAME(str(error)).groups()  # type: ignore[union-attr] # the pattern matches any text
        context = click.get_current_context()
        names = {each.name for each in fields(kind)}
        parameter = next((one for one in context.command.params if one.name == name and name in names), None)
        if parameter is None:
            raise
        if variable := variable_of(parameter, context):
            raise ConfigurationError(f"{variable}: {reason if sign else error}") from error
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT_MAP:
            raise
        where = f"{context.params['config']}, [{_TABLE_OF[name]}]"
        raise ConfigurationError(f"{where} {name}: {reason}" if sign else f"{where}: {error}") from error


def _option(field: Field[Any]) -> Callable[[Any], Any]:
    name, kind = field.name, str(field.type).removesuffix(" | None")
    default = None if field.default is MISSING else field.default
    flag = "--" + name.replace("_", "-")
    shown: dict[str, Any] = {
        "default": default,
        "show_default": default not in (None, "", ()),
        "help": field.metadata["help"],
    }
    if kind == "bool":
        return click.option(f"{flag}/--no{flag[1:]}", name, **shown)
    if kind.startswith("tuple"):
        return click.option(flag, name, multiple=True, **shown)
    least = limit_of(field.metadata)
    parameter = _CREATED.get(name, _TYPES[kind])
    if name in _CHOICES:
        parameter = click.Choice(_CHOICES[name])
    elif least is not None:
        parameter = WholeNumber(min=int(least)) if kind == "int" else Number(min=least)
    return click.option(flag, name, type=parameter, **shown)


def _read_file(context: click.Context, _parameter: click.Parameter, file: Path | None) -> Path | None:
    """Make the values in the settings file the defaults of the other options."""
    if file is None:
        return None
    values = read_settings_file(file).values
    if unknown := set(values) - set(_TABLES):
        hint = did_you_mean(min(unknown), _TABLES) or f"; tables are {', '.join(_TABLES)}"
        raise ConfigurationError(f"{file}: unknown table [{min(unknown)}]{hint}")
    options = {option.name: option for option in context.command.params}
    defaults: dict[str, Any] = {}
    for table, kinds in KINDS.items():
        known = {each.name for kind in kinds for each in fields(kind)}
        for name, value in _table(values, table, file).items():
            where = f"{file}, [{table}] {name}"
            if name not in known:
                raise ConfigurationError(f"{where}: {_unknown(name, value, known)}")
            check_type(options[name], value, where)
            defaults[name] = _checked(context, options[name], filled(value, where), where)
    kafka = flat(_table(values, "kafka", file))
    for name in kafka.keys() & _TABLE_OF.keys():
        raise ConfigurationError(f"{file}, [kafka] {name}: {_unknown(name, kafka[name], ())}")
    check_names(kafka, f"{file}, [kafka]")
    context.default_map = defaults
    return file


def _unknown(name: str, value: Any, known: Iterable[str]) -> str:
    """Return the error for a setting that its table does not have."""
    if name in _TABLE_OF:
        return f"this setting belongs to the table [{_TABLE_OF[name]}]"
    if LIBRDKAFKA_NAMES & flat({name: value}).keys():
        return "this property of Kafka's clients belongs to the table [kafka]"
    return f"unknown setting{did_you_mean(name, known)}"


def _table(values: Mapping[str, Any], name: str, file: Path) -> dict[str, Any]:
    table = values.get(name, {})
    if not isinstance(table, dict):
        raise ConfigurationError(f"{file}: [{name}] must be a table: [{name}] and lines of key = value")
    return table


def _checked(context: click.Context, option: click.Parameter, value: Any, where: str) -> Any:
    """Return a value of the settings file unchanged; raise ConfigurationError if its option does not accept it."""
    text = tuple(map(str, value)) if isinstance(value, tuple) else str(value)  # like the value of a flag
    try:
        option.type_cast_value(context, text)
    except click.BadParameter as error:
        raise ConfigurationError(f"{where}: {error.message}") from error
    return value
