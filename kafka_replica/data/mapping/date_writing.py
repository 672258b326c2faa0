"""Write a second as a date, on any engine."""

from __future__ import annotations

from typing import Final

from kafka_replica.data.mapping.date_reading import DAY_S
from kafka_replica.data.mapping.dates import MONTHS, UNITS, Counted, Token, Writing, Written
from kafka_replica.data.mapping.engines import Engine, Expression
from kafka_replica.data.mapping.model import DateMap

_FIRST_DAY: Final = -719_162
_LAST_DAY: Final = 2_932_896


def written(engine: Engine, one: DateMap, at_s: Expression, frequency: Expression | None) -> Expression:
    """Return the date as text; NULL if there is no second, or no format for the frequency of the row.

    Seconds outside the years 1 to 9999 have no text.
    """
    if frequency is None or one.writings[0][0] is None:
        return _written(engine, one.writings[0][1], at_s)
    return engine.bound(
        frequency,
        lambda row: engine.case([
            (row == engine.text(known), _written(engine, writing, at_s)) for known, writing in one.writings
        ]),
    )  # fmt: skip


def _written(engine: Engine, writing: Writing, at_s: Expression) -> Expression:
    if isinstance(writing, Counted):
        count = engine.floor(at_s - engine.number(writing.base_s), writing.unit_s) * engine.number(writing.per_s)
        return engine.signed(count)

    def text(day: Expression) -> Expression:
        inside = (day >= engine.number(_FIRST_DAY)) & (day <= engine.number(_LAST_DAY))
        second = at_s - day * engine.number(DAY_S)
        joined = engine.joined([_piece(engine, token, day, second, writing) for token in writing.tokens], "")
        return engine.case([(inside, joined)])

    return engine.bound(engine.floor(at_s, DAY_S), text)


def _piece(  # noqa: PLR0911 - one return a kind of field
    engine: Engine, token: Token, day: Expression, second: Expression, writing: Written
) -> Expression:
    width = token.width
    if token.field == "text":
        return engine.text(token.text)
    if token.field in {"year", "week_year"}:
        year = engine.of_day(day, token.field)
        if width == 2:
            return engine.digits(year - engine.floor(year, 100) * engine.number(100), 2)
        return engine.digits(year, 4)
    if token.field == "month" and width > 2:
        names = writing.months if width > 3 else writing.short_months
        table = {str(number): name for number, name in enumerate(names, start=1)}
        return engine.look_up(engine.digits(engine.of_day(day, "month"), 1), table)
    if token.field == "number":
        return engine.digits(_number(engine, token.text, day), width)
    if token.field in {"month", "day", "day_of_year", "weekday", "week"}:
        return engine.digits(engine.of_day(day, token.field), width)
    return _clock_piece(engine, token, second)


def _number(engine: Engine, letter: str, day: Expression) -> Expression:
    """Return the number, within its year, of the period with that letter."""
    unit = UNITS[letter]
    if unit in {"week", "day"}:
        return engine.of_day(day, "week" if unit == "week" else "day_of_year")
    return engine.floor(engine.of_day(day, "month") - engine.number(1), MONTHS[unit]) + engine.number(1)


def _clock_piece(engine: Engine, token: Token, second: Expression) -> Expression:
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
