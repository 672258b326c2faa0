"""Convert dates to seconds, on any engine.

The steps are the same for any number of formats: the text is split into fields, the fields become numbers, and the
numbers a year, the first day of a period and a second. Each step adds columns. Therefore no engine computes a value
twice, and expressions stay short however many formats there are.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from kafka_replica.data.mapping.date_patterns import LETTERS, MONTHS, PatternDate, Reading, UnitCount
from kafka_replica.data.mapping.frequency_cases import by_frequency
from kafka_replica.data.mapping.mapping_engine import Expression, MappingEngine
from kafka_replica.data.mapping.model import DateMap, Resolve
from kafka_replica.sdmx.values.text_types import anchored

DAY_S: Final = 86_400
_FARTHEST: Final = 10**12
Fields: TypeAlias = Mapping[str, Expression]
"""The numbers of a date's fields; the mark for AM or PM is a text."""
_YEAR: Final = "of the year"


class _Slot(NamedTuple):
    """A field of dates, which several formats may share.

    Attributes:
        field: the name of the field.
        months: the number of a month by its names, if the field is such a name.
        short_year_from: the first year that a year of two digits may denote, if the field is one.
    """

    field: str
    months: tuple[tuple[str, str], ...] = ()
    short_year_from: int = 0


def add_instant(
    engine: MappingEngine, date_map: DateMap, text: Expression, frequency: Expression | None, name: str
) -> None:
    """Add a column with the second that a date denotes, from 1970-01-01T00:00:00; NULL if the date cannot be read.

    The names of columns with intermediate values begin with the name of that column.
    """
    readings = date_map.readings if frequency is not None else date_map.readings[:1]
    dated = [(known, reading) for known, reading in readings if isinstance(reading, PatternDate)]
    numbers: dict[_Slot, Expression] = {}
    if dated:
        numbers = _add_numbers(engine, dated, text, frequency, name)
        engine.let({
            f"{name}_first": by_frequency(
                engine, dated, frequency, _same_day, lambda reading: _first_day(engine, reading, _own(reading, numbers))
            )
        })  # fmt: skip
    if len(dated) < len(readings):
        engine.let({f"{name}_count": engine.whole(text)})

    def second(reading: Reading) -> Expression:
        if isinstance(reading, UnitCount):
            return _counted(engine, engine.column(f"{name}_count"), reading, date_map.resolve)
        return _second(engine, reading, _own(reading, numbers), engine.column(f"{name}_first"), date_map.resolve)

    engine.add({name: by_frequency(engine, readings, frequency, _same_second, second)})


def _add_numbers(
    engine: MappingEngine,
    dated: Sequence[tuple[str | None, PatternDate]],
    text: Expression,
    frequency: Expression | None,
    name: str,
) -> dict[_Slot, Expression]:
    """Add columns with the numbers of all fields; a row has those of its own format, the others are NULL."""
    slots = list(dict.fromkeys(slot for _, reading in dated for slot in _slots(reading).values()))

    def parts(reading: PatternDate) -> Expression:
        last = {field: number for number, field in enumerate(reading.fields, start=1)}
        groups = {slot: last[field] for field, slot in _slots(reading).items()}
        return engine.captures(text, anchored(reading.expression), [groups.get(slot) for slot in slots])

    engine.let({f"{name}_parts": by_frequency(engine, dated, frequency, _same_parts, parts)})
    made = {slot: f"{name}_field_{number}" for number, slot in enumerate(slots)}
    engine.let({
        made[slot]: _number(engine, slot, engine.item(engine.column(f"{name}_parts"), number))
        for number, slot in enumerate(slots)
    })  # fmt: skip
    numbers = {slot: engine.column(column) for slot, column in made.items()}
    short = [slot for slot in slots if slot.short_year_from]
    engine.let({f"{made[slot]}_year": _full_year(engine, numbers[slot], slot.short_year_from) for slot in short})
    return numbers | {slot: engine.column(f"{made[slot]}_year") for slot in short}


def _slots(reading: PatternDate) -> dict[str, _Slot]:
    """Return the fields that determine a date; of several years, only the first is used."""
    years = [field for field in reading.fields if field.endswith("year") and field != "day_of_year"]
    found = {field: _Slot(field) for field in reading.fields if field not in years and field != "millisecond"}
    if "month_name" in found:
        found["month_name"] = _Slot("month_name", tuple(sorted(reading.months.items())))
    low = reading.short_year_from if years[0].startswith("short_") else 0
    return found | {years[0]: _Slot(_YEAR, short_year_from=low)}


def _own(reading: PatternDate, numbers: Mapping[_Slot, Expression]) -> Fields:
    return {slot.field: numbers[slot] for slot in _slots(reading).values()}


def _number(engine: MappingEngine, slot: _Slot, part: Expression) -> Expression:
    if slot.field == "half_day":
        return part
    return engine.counted(engine.look_up(engine.lower(part), dict(slot.months)) if slot.months else part)


def _full_year(engine: MappingEngine, short: Expression, low: int) -> Expression:
    """Return the year that two digits denote within the hundred years from ``low`` on."""
    century = short + engine.number(low // 100 * 100)
    return engine.case([
        (century >= engine.number(low), century),
        (century < engine.number(low), century + engine.number(100)),
    ])  # fmt: skip


def _same_parts(reading: PatternDate) -> Hashable:
    return reading.expression, tuple(_slots(reading).items())


def _same_day(reading: PatternDate) -> Hashable:
    return reading.unit, tuple(sorted(_slots(reading).values()))


def _same_second(reading: Reading) -> Hashable:
    return reading if isinstance(reading, UnitCount) else (_same_day(reading), reading.clock_s)


def _first_day(engine: MappingEngine, reading: PatternDate, fields: Fields) -> Expression:
    """Return the first day of the period; for ISO 8601 weeks, the Monday. Week 1 is the week of 4 January."""
    one, year = engine.number(1), fields[_YEAR]
    month = fields.get("month_name", fields.get("month"))
    if "day" in fields and month is not None:
        return engine.day(year, month, fields["day"])
    ordinal = _day_of_year(reading, fields)
    if ordinal is not None:
        return engine.day(year, one, one) + ordinal - one
    count = fields.get(f"number:{LETTERS[reading.unit]}")
    if reading.unit in {"week", "day"}:
        fourth = engine.day(year, one, engine.number(4))
        return fourth - engine.of_day(fourth, "weekday") + one + (_week(fields) - one) * engine.number(7)
    number = month if reading.unit == "month" and month is not None else count
    if reading.unit == "year" or number is None:
        number = one if count is None else engine.case([(count == one, one)])
    return engine.day(year, (number - one) * engine.number(MONTHS[reading.unit]) + one, one)


def _day_of_year(reading: PatternDate, fields: Fields) -> Expression | None:
    return fields.get("day_of_year", fields.get("number:D")) if reading.unit == "day" else None


def _week(fields: Fields) -> Expression:
    return fields.get("week", fields.get("number:W"))


def _second(
    engine: MappingEngine, reading: PatternDate, fields: Fields, first: Expression, resolve: Resolve
) -> Expression:
    """Return the second to use within the period that begins on a day; NULL if the year has no such period."""
    one = engine.number(1)

    def resolved(day: Expression, after: Expression) -> Expression:
        start = day * engine.number(DAY_S)
        if reading.clock_s is None:
            return _resolved(engine, start, after * engine.number(DAY_S), resolve)
        start = start + _clock(engine, fields)
        return _resolved(engine, start, start + engine.number(reading.clock_s), resolve)

    if "day" in fields and {"month_name", "month"} & set(fields):
        return resolved(first, first + one)
    ordinal = _day_of_year(reading, fields)
    if ordinal is not None:
        is_there = (ordinal >= one) & (engine.of_day(first, "year") == fields[_YEAR])
        return engine.case([(is_there, resolved(first, first + one))])
    if reading.unit not in {"week", "day"}:
        return resolved(first, engine.months_later(first, MONTHS[reading.unit]))
    seven, weekday = engine.number(7), fields.get("weekday")
    is_there = (_week(fields) >= one) & (engine.of_day(first + engine.number(3), "year") == fields[_YEAR])
    if weekday is None:
        return engine.case([(is_there, resolved(first, first + seven))])
    day = first + weekday - one
    return engine.case([(is_there & (weekday >= one) & (weekday <= seven), resolved(day, day + one))])


def _resolved(engine: MappingEngine, start: Expression, end: Expression, resolve: Resolve) -> Expression:
    if resolve == "startOfPeriod":
        return start
    return end - engine.number(1) if resolve == "endOfPeriod" else engine.floor(start + end, 2)


def _counted(engine: MappingEngine, number: Expression, reading: UnitCount, resolve: Resolve) -> Expression:
    count = engine.floor(number, reading.per_s)
    most = engine.number(_FARTHEST // reading.unit_s)
    start = count * engine.number(reading.unit_s) + engine.number(reading.base_s)
    at = _resolved(engine, start, start + engine.number(reading.unit_s), resolve)
    return engine.case([((count <= most) & (count >= engine.number(-_FARTHEST // reading.unit_s)), at)])


def _clock(engine: MappingEngine, fields: Fields) -> Expression:
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
    # As in Java, AM and PM are ignored if the hours count to 24.
    if "half_day" in fields and {"hour_11", "hour_12"} & set(fields):
        late = engine.any_of([fields["half_day"] == engine.text(letter) for letter in "Pp"])
        total = total + engine.coalesce([engine.case([(late, engine.number(DAY_S // 2))]), engine.number(0)])
    return total
