"""The options of a request, named like the options of the commands ``validate`` and ``map``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, get_args

from kafka_replica.data.files import TimeFormat
from kafka_replica.data.jobs import severities_of
from kafka_replica.data.validation.actions import Action
from kafka_replica.errors import UsageError

_COMMON_OPTIONS: Final = ("format", "rules", "decimal", "encoding", "time-format")
VALIDATE_OPTIONS: Final = ("structure", "flow", "action", "as-of", "allow-missing", *_COMMON_OPTIONS)
MAP_OPTIONS: Final = ("map", "reverse", *_COMMON_OPTIONS)
_REPEATABLE: Final = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOptions:
    """The options of a request.

    Attributes:
        structure: the structure that the data belongs to, as a URN or reference; None if the data names it.
        map: the structure map, as a URN or reference.
        reverse: whether the map is applied in reverse.
        action: the action of rows that do not name an action.
        as_of: the day on which constraints must be valid; None means today.
        allow_missing: whether to check everything else if lists of values are missing, instead of failing.
        rules: the severities of rules.
        decimal: the decimal separator in text files.
        encoding: the encoding of text files without a byte order mark; None means UTF-8.
        time_format: the format of periods in good rows.
        format: the format of the answer; None if the header Accept decides.
        keeps_layout: whether rejected rows of CSV data keep its columns and its separator.
    """

    structure: str | None = None
    map: str | None = None
    reverse: bool = False
    action: Action = "information"
    as_of: date | None = None
    allow_missing: bool = False
    rules: Mapping[str, str] | None = None
    decimal: str = "."
    encoding: str | None = None
    time_format: TimeFormat = "original"
    format: str | None = None
    keeps_layout: bool = True

    @property
    def job_arguments(self) -> dict[str, Any]:
        """The arguments that validation and mapping jobs have in common."""
        return {
            "decimal": self.decimal,
            "encoding": self.encoding,
            "time_format": self.time_format,
            "keeps_layout": self.keeps_layout,
            "names_files": False,  # the name of the temporary file means nothing to the client
        }


def options_of(given: Iterable[tuple[str, str]], possible: tuple[str, ...]) -> DataOptions:
    """Parse options, given as pairs of name and value.

    Args:
        given: the names and values.
        possible: the names of the possible options.

    Raises:
        UsageError: a name is unknown or duplicated, or a value is impossible.
    """
    found: dict[str, list[str]] = {}
    for name, value in given:
        if name not in possible:
            raise UsageError(f"unknown option {name!r}; options are {', '.join(possible)}")
        found.setdefault(name, []).append(value)
    for name, values in found.items():
        if len(values) > 1 and name != _REPEATABLE:
            raise UsageError(f"the option {name} is duplicated")
    only = {name: values[0] for name, values in found.items()}
    if "flow" in only and "structure" in only:
        raise UsageError("structure and flow mean the same; give one of them")
    return DataOptions(
        structure=only.get("structure") or only.get("flow") or None,
        map=only.get("map") or None,
        reverse=_choice(only, "reverse", ("false", "true")) == "true",
        action=_choice(only, "action", get_args(Action), "information"),
        as_of=_date(only.get("as-of")),
        allow_missing=_choice(only, "allow-missing", ("false", "true")) == "true",
        rules=severities_of(found.get("rules", ()), "rules"),
        decimal=only.get("decimal", "."),
        encoding=only.get("encoding") or None,
        time_format=_choice(only, "time-format", ("original", "normalized")),
        format=only.get("format") or None,
    )


def _choice(given: Mapping[str, str], name: str, possible: tuple[str, ...], default: str | None = None) -> Any:
    value = given.get(name) or default or possible[0]
    if value not in possible:
        raise UsageError(f"{name}={value!r} is not possible; it is {' or '.join(possible)}")
    return value


def _date(text: str | None) -> date | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"as-of={text!r} is not a date; write it like 2026-11-23") from error
