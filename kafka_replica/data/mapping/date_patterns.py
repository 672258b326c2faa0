r"""Patterns of dates, for reading and writing.

The letters are those of SDMX 3.1 Section 6, 13.7.1, which follow Java's SimpleDateFormat. As in Java, adjacent numeric
fields have the width of their letters, other fields any width, and quoted text is literal. Unlike in Java, a field out
of its range (month 13) does not roll over but makes the date unreadable.

Where the standard's table of letters and its own examples disagree, two interpretations are made: ``DD`` next to a
month is the day in the month (``YYYY-MMM-DD`` for 2008-mars-12), and ``YYYY`` is the week year only next to a week.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from kafka_replica.data.mapping.month_names import month_numbers, written_months

Unit: TypeAlias = Literal["year", "semester", "trimester", "quarter", "month", "week", "day"]
UNITS: Final[Mapping[str, Unit]] = {
    "A": "year", "S": "semester", "T": "trimester", "Q": "quarter", "M": "month", "W": "week", "D": "day",
}  # fmt: skip
"""The unit of a frequency's periods, by the letter that precedes the number of a period."""
LETTERS: Final[Mapping[Unit, str]] = {unit: letter for letter, unit in UNITS.items()}
MONTHS: Final[Mapping[str, int]] = {"year": 12, "semester": 6, "trimester": 4, "quarter": 3, "month": 1}
"""The number of months in a period."""


class UnusableDateError(ValueError):
    """A pattern that does not describe a date."""


@dataclass(frozen=True, slots=True)
class PatternDate:
    """A date that is written with a pattern.

    Attributes:
        expression: an expression that matches the whole text.
        fields: the field of each group in the expression.
        months: the number of a month by its names, in lower case.
        unit: the period that the date denotes.
        clock_s: the length, in seconds, of the finest part of a time of day; None without a time.
        short_year_from: the first year that a year of two digits may denote.
        pattern: the pattern, with the locale.
        locale: the language of names.
    """

    expression: str
    fields: tuple[str, ...]
    months: Mapping[str, str] = field(repr=False)
    unit: Unit
    clock_s: int | None
    short_year_from: int
    pattern: str
    locale: str | None


@dataclass(frozen=True, slots=True)
class UnitCount:
    """A count of units since a second: a second has ``per_s`` units, or a unit has ``unit_s`` seconds."""

    base_s: int
    per_s: int = 1
    unit_s: int = 1


class Token(NamedTuple):
    """A part of a written date: a field and its width, or a text."""

    field: str
    width: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date written with a pattern."""

    pattern: str
    locale: str | None
    tokens: tuple[Token, ...]
    months: tuple[str, ...] = field(default=(), repr=False)
    short_months: tuple[str, ...] = field(default=(), repr=False)


Reading: TypeAlias = PatternDate | UnitCount
Writing: TypeAlias = WrittenDate | UnitCount

_FIELDS: Final = {
    "G": "era", "y": "year", "Y": "week_year", "M": "month", "w": "week", "W": "week_in_month", "D": "day_of_year",
    "d": "day", "F": "weekday_in_month", "E": "weekday_name", "u": "weekday", "U": "weekday", "H": "hour",
    "k": "hour_24", "K": "hour_11", "h": "hour_12", "m": "minute", "s": "second", "S": "millisecond", "a": "half_day",
}  # fmt: skip
_WIDEST: Final = {"year": 4, "week_year": 4, "day_of_year": 3, "millisecond": 9, "number": 3}
_SET_ASIDE: Final = frozenset({"week_in_month", "weekday_in_month"})
_CLOCKS: Final = {"hour": 3600, "hour_24": 3600, "hour_11": 3600, "hour_12": 3600, "minute": 60, "second": 1,
                  "millisecond": 1}  # fmt: skip
_UNITS_S: Final = {"day": (1, 86_400), "second": (1, 1), "millisecond": (10**3, 1), "microsecond": (10**6, 1),
                   "nanosecond": (10**9, 1)}  # fmt: skip
DEFAULTS: Final = {
    "A": "yyyy", "S": "yyyy-Sn", "T": "yyyy-Tn", "Q": "yyyy-Qn", "M": "yyyy-MM", "W": "YYYY-Wnn", "D": "yyyy-MM-dd",
    "B": "yyyy-MM-dd", "H": "yyyy-MM-dd'T'HH:mm:ss", "I": "yyyy-MM-dd'T'HH:mm:ss", "N": "yyyy-MM-dd'T'HH:mm:ss",
}  # fmt: skip
"""The default formats of a frequency's periods (13.7); B, H and N are not in its table, and are written like D and I.
"""


def unit_count_of(base_s: int, unit: str) -> UnitCount:
    """Return the unit in which an epoch counts. Raises UnusableDateError."""
    if unit.lower() not in _UNITS_S:
        raise UnusableDateError(f"an epoch of {unit!r}; the standard allows {', '.join(_UNITS_S)}")
    per_s, unit_s = _UNITS_S[unit.lower()]
    return UnitCount(base_s, per_s, unit_s)


def tokens_of(pattern: str) -> tuple[Token, ...]:
    """Return the pieces of a pattern. Raises UnusableDateError."""
    found = list(_tokens(pattern))
    names = {token.field for token in found}
    if "month" in names and "day" not in names:
        found = [token._replace(field="day") if token.field == "day_of_year" else token for token in found]
    if not any(token.field == "week" or (token.field == "number" and token.text == "W") for token in found):
        found = [token._replace(field="year") if token.field == "week_year" else token for token in found]
    else:
        found = [token._replace(field="week_year") if token.field == "year" else token for token in found]
    return tuple(found)


def _tokens(pattern: str) -> Iterator[Token]:
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "'":
            quoted = re.match(r"''|'((?:[^']|'')*)'", pattern[at:])
            if quoted is None:
                raise UnusableDateError(f"a quote in {pattern!r} is not closed")
            yield Token("text", text="'" if quoted[1] is None else quoted[1].replace("''", "'"))
            at += quoted.end()
        elif (period := re.match("([ASTQMWD])(n+)", pattern[at:])) is not None:
            yield Token("text", text=period[1])
            yield Token("number", len(period[2]), period[1])
            at += period.end()
        elif char.isascii() and char.isalpha():
            run = len(pattern[at:]) - len(pattern[at:].lstrip(char))
            # The T of ISO 8601 is often written without its quotes.
            if char == "T" and run == 1:
                yield Token("text", text="T")
            elif char not in _FIELDS:
                raise UnusableDateError(f"{char!r} in {pattern!r} is not a letter of date patterns; put it in quotes")
            else:
                yield Token(_FIELDS[char], run)
            at += run
        else:
            yield Token("text", text=char)
            at += 1


def reading_of_pattern(pattern: str, locale: str | None, short_year_from: int) -> PatternDate:
    """Return how a pattern reads dates.

    Raises:
        UnusableDateError: the pattern does not describe a date, has letters that are meaningless without others, or
            has names in an unknown language.
    """
    tokens = tokens_of(pattern)
    expression, fields = "", []
    names: Mapping[str, str] = {}
    for place, token in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else Token("text")
        before = tokens[place - 1] if place else Token("text")
        if token.field == "text":
            expression += _plain(token.text)
        elif token.field == "month" and token.width > 2:
            names = month_numbers(locale)
            if not names:
                raise UnusableDateError(f"month names in {locale!r} are not known")
            alternatives = "|".join(map(_plain, sorted(names, key=lambda name: (-len(name), name))))
            expression += f"((?iu:{alternatives}))"  # case-insensitive; Java needs u for letters beyond ASCII
            fields.append("month_name")
        elif token.field == "weekday_name":
            expression += r"\p{L}+\.?"
        elif token.field == "era":
            expression += "(?:AD|CE)"
        elif token.field == "half_day":
            expression += "([AaPp])[Mm]"
            fields.append("half_day")
        elif token.field in _SET_ASIDE:
            expression += "[0-9]"
        else:
            touches = _is_digits(after) or (_is_digits(before) and before.field != "number")
            expression += f"({_digits(token, touches=touches)})"
            fields.append(f"{token.field}:{token.text}" if token.field == "number" else _short(token))
    unit, clock_s = _unit_and_clock(fields, pattern)
    return PatternDate(expression, tuple(fields), names, unit, clock_s, short_year_from, pattern, locale)


def _is_digits(token: Token) -> bool:
    return token.field not in {"text", "weekday_name", "era", "half_day"} and not (
        token.field == "month" and token.width > 2
    )


def _digits(token: Token, *, touches: bool) -> str:
    if token.field in {"year", "week_year"}:
        return "[0-9]{2}" if token.width == 2 else "[0-9]{4}"
    if touches:
        return f"[0-9]{{{token.width}}}"
    return f"[0-9]{{1,{max(token.width, _WIDEST.get(token.field, 2))}}}"


def _short(token: Token) -> str:
    return f"short_{token.field}" if token.field in {"year", "week_year"} and token.width == 2 else token.field


def _unit_and_clock(fields: list[str], pattern: str) -> tuple[Unit, int | None]:
    """Return the period that the fields denote, and the unit of the time of day."""
    bare = {name.removeprefix("short_") for name in fields}
    clock = min((_CLOCKS[name] for name in bare if name in _CLOCKS), default=None)
    unit = _finest(bare) if bare & {"year", "week_year"} else None
    if unit is None or (clock is not None and unit != "day"):
        raise UnusableDateError(f"{pattern!r} does not determine a date within a year")
    return unit, clock


def _finest(fields: set[str]) -> Unit | None:
    """Return the shortest period within a year that the fields denote; None if there is none."""
    has_month, has_week = bool(fields & {"month", "month_name"}), bool(fields & {"week", "number:W"})
    units: tuple[tuple[bool, Unit], ...] = (
        (has_month and "day" in fields, "day"),
        (bool(fields & {"day_of_year", "number:D"}), "day"),
        (has_week and "weekday" in fields, "day"),
        (has_week, "week"),
        (has_month or "number:M" in fields, "month"),
        ("number:Q" in fields, "quarter"),
        ("number:T" in fields, "trimester"),
        ("number:S" in fields, "semester"),
        ("number:A" in fields or fields <= {"year", "week_year"}, "year"),
    )
    return next((unit for is_given, unit in units if is_given), None)


def writing_of_pattern(pattern: str, locale: str | None) -> WrittenDate:
    """Return how a pattern writes dates. Raises UnusableDateError."""
    tokens = tokens_of(pattern)
    for token in tokens:
        if token.field in _SET_ASIDE | {"weekday_name", "era"}:
            raise UnusableDateError(f"{token.field.replace('_', ' ')} in {pattern!r} cannot be written")
    names = [token for token in tokens if token.field == "month" and token.width > 2]
    if not names:
        return WrittenDate(pattern, locale, tokens)
    wide, short = written_months(locale)
    if not wide:
        raise UnusableDateError(f"month names in {locale!r} are not known")
    return WrittenDate(pattern, locale, tokens, wide, short)


def _plain(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\^$.|?*+()[]{}" else char for char in text)
