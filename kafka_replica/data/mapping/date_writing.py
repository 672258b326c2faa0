"""Write a second as a date, on any engine, in the same steps for any number of formats: numbers, pieces, texts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import groupby
from typing import Final

from kafka_replica.data.mapping.date_patterns import MONTHS, UNITS, Token, UnitCount, Writing, WrittenDate
from kafka_replica.data.mapping.date_reading import DAY_S
from kafka_replica.data.mapping.frequency_cases import by_frequency
from kafka_replica.data.mapping.mapping_engine import Expression, MappingEngine
from kafka_replica.data.mapping.model import DateMap

_FIRST_DAY: Final = -719_162
_LAST_DAY: Final = 2_932_896


def add_written(
    engine: MappingEngine, date_map: DateMap, at_s: Expression, frequency: Expression | None, name: str
) -> None:
    """Add a column with the date as text; NULL if there is no second, or no format for the frequency of the row.

    Seconds outside the years 1 to 9999 have no text. The names of columns with intermediate values begin with the name
    of that column.
    """
    writings = date_map.writings if frequency is not None else date_map.writings[:1]
    dates = [(known, writing) for known, writing in writings if isinstance(writing, WrittenDate)]
    made = _add_pieces(engine, dates, at_s, frequency, name) if dates else {}

    def text(writing: Writing) -> Expression:
        if isinstance(writing, UnitCount):
            count = engine.floor(at_s - engine.number(writing.base_s), writing.unit_s) * engine.number(writing.per_s)
            return engine.signed(count)
        is_inside = ~engine.is_null(engine.column(f"{name}_day"))
        pieces: list[Expression] = []
        for is_text, tokens in groupby(writing.tokens, lambda token: token.field == "text"):
            if is_text:
                pieces.append(engine.text("".join(token.text for token in tokens)))
            else:
                pieces.extend(engine.column(made[_same_piece(token, writing)]) for token in tokens)
        return engine.case([(is_inside, engine.joined(pieces, ""))])

    engine.add({name: by_frequency(engine, writings, frequency, _same_text, text)})


def _add_pieces(
    engine: MappingEngine,
    dates: Sequence[tuple[str | None, WrittenDate]],
    at_s: Expression,
    frequency: Expression | None,
    name: str,
) -> dict[Hashable, str]:
    """Add columns with the texts of all fields that occur; return their names."""
    day = engine.floor(at_s, DAY_S)
    is_inside = (at_s >= engine.number(_FIRST_DAY * DAY_S)) & (at_s < engine.number((_LAST_DAY + 1) * DAY_S))
    engine.let({f"{name}_day": engine.case([(is_inside, day)])})
    day = engine.column(f"{name}_day")
    engine.let({f"{name}_clock": at_s - day * engine.number(DAY_S), f"{name}_month": engine.of_day(day, "month")})
    month, second = engine.column(f"{name}_month"), engine.column(f"{name}_clock")
    pieces: dict[Hashable, tuple[Token, list[tuple[str | None, WrittenDate]]]] = {}
    for known, writing in dates:
        for token in dict.fromkeys(token for token in writing.tokens if token.field != "text"):
            pieces.setdefault(_same_piece(token, writing), (token, []))[1].append((known, writing))
    made: dict[Hashable, str] = {key: f"{name}_piece_{number}" for number, key in enumerate(pieces)}

    def piece(token: Token, uses: Sequence[tuple[str | None, WrittenDate]]) -> Expression:
        text = _piece(engine, token, day, month, second, uses[0][1])
        if frequency is None or len(uses) == len(dates):
            return text
        return engine.needed_where(engine.is_one_of(frequency, [known or "" for known, _ in uses]), text)

    engine.let({made[key]: piece(*how) for key, how in pieces.items()})
    return made


def _same_piece(token: Token, writing: WrittenDate) -> Hashable:
    return token, _names(token, writing) if token.field == "month" else ()


def _same_text(writing: Writing) -> Hashable:
    return writing if isinstance(writing, UnitCount) else (writing.tokens, writing.months, writing.short_months)


def _names(token: Token, writing: WrittenDate) -> tuple[str, ...]:
    """Return the names of months that a token writes; empty if it writes numbers."""
    return () if token.width < 3 else writing.months if token.width > 3 else writing.short_months


def _piece(
    engine: MappingEngine, token: Token, day: Expression, month: Expression, second: Expression, writing: WrittenDate
) -> Expression:
    width = token.width
    if token.field in {"year", "week_year"}:
        year = engine.of_day(day, token.field)
        if width == 2:
            return engine.digits(year - engine.floor(year, 100) * engine.number(100), 2)
        return engine.digits(year, 4)
    if token.field == "month":
        names = _names(token, writing)
        table = {str(number): name for number, name in enumerate(names, start=1)}
        return engine.look_up(engine.digits(month, 1), table) if names else engine.digits(month, width)
    if token.field == "number":
        return engine.digits(_number(engine, token.text, day, month), width)
    if token.field in {"day", "day_of_year", "weekday", "week"}:
        return engine.digits(engine.of_day(day, token.field), width)
    return _clock_piece(engine, token, second)


def _number(engine: MappingEngine, letter: str, day: Expression, month: Expression) -> Expression:
    """Return the number, within its year, of the period with that letter."""
    unit = UNITS[letter]
    if unit in {"week", "day"}:
        return engine.of_day(day, "week" if unit == "week" else "day_of_year")
    return engine.floor(month - engine.number(1), MONTHS[unit]) + engine.number(1)


def _clock_piece(engine: MappingEngine, token: Token, second: Expression) -> Expression:
    hour = engine.floor(second, 3600)
    half = engine.floor(hour, 12)
    one = engine.number(1)
    if token.field == "half_day":
        return engine.case([(half == one, engine.text("PM")), (half == engine.number(0), engine.text("AM"))])
    minutes = engine.floor(second, 60)
    eleven = hour + engine.number(11)
    value = {
        "hour": hour,
        "hour_24": engine.case([(hour == engine.number(0), engine.number(24)), (hour > engine.number(0), hour)]),
        "hour_11": hour - half * engine.number(12),
        "hour_12": eleven - engine.floor(eleven, 12) * engine.number(12) + one,
        "minute": minutes - hour * engine.number(60),
        "second": second - minutes * engine.number(60),
        "millisecond": engine.number(0),
    }[token.field]
    return engine.digits(value, token.width)
