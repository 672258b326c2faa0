"""Convert dates to seconds, on any engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from kafka_replica.data.mapping.dates import LETTERS, MONTHS, Counted, Dated, Reading
from kafka_replica.data.mapping.engines import Engine, Expression
from kafka_replica.data.mapping.model import DateMap, Resolve
from kafka_replica.data.mapping.regexes import Expression as Rewritten
from kafka_replica.sdmx.text_types import anchored

DAY_S: Final = 86_400
_FARTHEST: Final = 10**12
Fields: TypeAlias = Mapping[str, Expression]
Resolved: TypeAlias = Callable[[Expression, Expression], Expression]


def instant(engine: Engine, one: DateMap, frequency: Expression | None) -> Expression:
    """Return the second that a date denotes, from 1970-01-01T00:00:00; NULL if the date cannot be read."""

    def read(text: Expression) -> Expression:
        found = [(known, _read(engine, text, reading, one.resolve)) for known, reading in one.readings]
        if frequency is None or found[0][0] is None:
            return found[0][1]
        return engine.bound(
            frequency, lambda row: engine.case([(row == engine.text(known), at) for known, at in found])
        )

    return engine.bound(engine.source(one.source), read)


def _read(engine: Engine, text: Expression, reading: Reading, resolve: Resolve) -> Expression:
    if isinstance(reading, Counted):
        return engine.bound(engine.whole(text), lambda count: _counted(engine, count, reading, resolve))
    at = _fields(engine, text, reading, lambda fields: _at(engine, reading, fields, resolve))
    return engine.case([(engine.fits(text, anchored(reading.expression)), at)])


def _fields(
    engine: Engine, text: Expression, reading: Dated, body: Callable[[Fields], Expression], place: int = 0,
    known: Fields = MappingProxyType({}),
) -> Expression:  # fmt: skip
    """Return the body's expression of the fields: numbers, except for the half of the day."""
    if place == len(reading.fields):
        return body(known)
    name = reading.fields[place]
    value = engine.captured(text, anchored(Rewritten(reading.expression, len(reading.fields)).only(place + 1)))
    if name == "month_name":
        value = engine.look_up(engine.lower(value), reading.months)
    value = value if name == "half_day" else engine.whole(value)
    return engine.bound(value, lambda field: _fields(engine, text, reading, body, place + 1, {**known, name: field}))


def _at(engine: Engine, reading: Dated, fields: Fields, resolve: Resolve) -> Expression:
    def resolved(first: Expression, after: Expression) -> Expression:
        start = first * engine.number(DAY_S)
        if reading.clock_s is None:
            return _resolved(engine, start, after * engine.number(DAY_S), resolve)
        start = start + _clock(engine, fields)
        return _resolved(engine, start, start + engine.number(reading.clock_s), resolve)

    numbers = {name: field for name, field in fields.items() if name != "half_day"}
    return engine.bound(_year(engine, reading, numbers), lambda year: _days(engine, reading, numbers, year, resolved))


def _resolved(engine: Engine, start: Expression, end: Expression, resolve: Resolve) -> Expression:
    if resolve == "startOfPeriod":
        return start
    return end - engine.number(1) if resolve == "endOfPeriod" else engine.floor(start + end, 2)


def _counted(engine: Engine, number: Expression, reading: Counted, resolve: Resolve) -> Expression:
    count = engine.floor(number, reading.per_s)
    most = engine.number(_FARTHEST // reading.unit_s)
    start = count * engine.number(reading.unit_s) + engine.number(reading.base_s)
    at = _resolved(engine, start, start + engine.number(reading.unit_s), resolve)
    return engine.case([((count <= most) & (count >= engine.number(-_FARTHEST // reading.unit_s)), at)])


def _days(engine: Engine, reading: Dated, numbers: Fields, year: Expression, resolved: Resolved) -> Expression:
    """Return what ``resolved`` makes of the first day of the period, and the day after its last."""
    one = engine.number(1)
    count = numbers.get(f"number:{LETTERS[reading.unit]}")
    month = numbers.get("month_name", numbers.get("month"))
    if "day" in numbers and month is not None:
        return engine.bound(engine.day(year, month, numbers["day"]), lambda day: resolved(day, day + one))
    ordinal = numbers.get("day_of_year", count) if reading.unit == "day" else None
    if ordinal is not None:
        return engine.bound(
            engine.day(year, one, one) + ordinal - one,
            lambda day: engine.case([
                ((ordinal >= one) & (engine.of_day(day, "year") == year), resolved(day, day + one))
            ]),
        )  # fmt: skip
    if reading.unit in {"week", "day"}:
        week = numbers.get("week", numbers.get("number:W"))
        return _weeks(engine, year, week, numbers.get("weekday"), resolved)
    length = MONTHS[reading.unit]
    number = month if reading.unit == "month" and month is not None else count
    if reading.unit == "year" or number is None:
        number = one if count is None else engine.case([(count == one, one)])
    return engine.bound(
        engine.day(year, (number - one) * engine.number(length) + one, one),
        lambda first: resolved(first, engine.months_later(first, length)),
    )


def _weeks(
    engine: Engine, year: Expression, week: Expression, weekday: Expression | None, resolved: Resolved
) -> Expression:
    """Return what ``resolved`` makes of the days of an ISO 8601 week; week 1 is the week of 4 January."""
    one, seven = engine.number(1), engine.number(7)

    def days(monday: Expression) -> Expression:
        is_there = (week >= one) & (engine.of_day(monday + engine.number(3), "year") == year)
        if weekday is None:
            return engine.case([(is_there, resolved(monday, monday + seven))])
        day = monday + weekday - one
        is_there = is_there & (weekday >= one) & (weekday <= seven)
        return engine.case([(is_there, resolved(day, day + one))])

    return engine.bound(
        engine.day(year, one, engine.number(4)),
        lambda fourth: engine.bound(
            fourth - engine.of_day(fourth, "weekday") + one + (week - one) * seven, days
        ),
    )  # fmt: skip


def _year(engine: Engine, reading: Dated, numbers: Fields) -> Expression:
    """Return the year; a year of two digits is in the hundred years from ``short_year_from`` on."""
    name = next(name for name in numbers if name.endswith("year") and name != "day_of_year")
    if not name.startswith("short_"):
        return numbers[name]
    low = reading.short_year_from
    century = numbers[name] + engine.number(low // 100 * 100)
    return engine.case([
        (century >= engine.number(low), century),
        (engine.any_of([century < engine.number(low)]), century + engine.number(100)),
    ])  # fmt: skip


def _clock(engine: Engine, fields: Fields) -> Expression:
    """Return the second of the day; NULL if a part is out of its range."""
    total = engine.number(0)
    for name, least, most, unit in (
        ("hour", 0, 23, 3600), ("hour_24", 1, 24, 3600), ("hour_11", 0, 11, 3600), ("hour_12", 1, 12, 3600),
        ("minute", 0, 59, 60), ("second", 0, 59, 1),
    ):  # fmt: skip
        if name not in fields:
            continue
        value = fields[name]
        wraps = engine.number({"hour_24": 24, "hour_12": 12}.get(name, 10**6))
        inside = (value >= engine.number(least)) & (value <= engine.number(most))
        value = engine.case([(inside & (value == wraps), engine.number(0)), (inside, value)])
        total = total + value * engine.number(unit)
    # As in Java, the half of the day is ignored if the hour counts to 24.
    if "half_day" in fields and {"hour_11", "hour_12"} & set(fields):
        late = engine.any_of([fields["half_day"] == engine.text(letter) for letter in "Pp"])
        total = total + engine.coalesce([engine.case([(late, engine.number(DAY_S // 2))]), engine.number(0)])
    return total
