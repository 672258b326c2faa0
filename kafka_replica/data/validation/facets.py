"""Checks of uncoded values: text type and facets.

Source: SDMX 2.1/3.x Section 6, "Representation data types"; SDMXStructureBase.xsd, ``TextFormatType``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple

from msgspec import structs

from kafka_replica.common.wording import counted
from kafka_replica.data.validation.conditions import (
    MOST_DIGITS,
    Arithmetic,
    CharLength,
    CompareDouble,
    CompareInt,
    ComponentText,
    Condition,
    In,
    Matches,
    Not,
    Number,
    Operator,
    ScaledDecimal,
    every,
    some,
)
from kafka_replica.data.validation.exact_comparison import exact_comparison, integers_above
from kafka_replica.data.validation.patterns import UnusablePatternError, translated_pattern
from kafka_replica.data.validation.periods import (
    MONTHLY,
    OF_A_YEAR,
    UNDERSTOOD,
    month_of_period,
    not_in_calendar,
    start_of_period,
)
from kafka_replica.data.validation.sequences import RANGE_TYPES, sequence_bounds
from kafka_replica.sdmx import TextFormat
from kafka_replica.sdmx.values.periods import DAY_S, period
from kafka_replica.sdmx.values.text_types import (
    DECIMAL,
    FINITE,
    FLOATING,
    FREE_TYPES,
    NUMBER_TYPES,
    SIZES,
    TIME_TYPES,
    WRITTEN,
)

COUNTED: Final = frozenset(NUMBER_TYPES) | {"Numeric"}
"""The types whose values can be compared with numbers."""
_OF_NUMBERS: Final = ("min_value", "max_value", "start_value", "end_value", "interval", "decimals")
_OF_TIMES: Final = ("start_time", "end_time", "time_interval")
_OF_SEQUENCES: Final = ("interval", "time_interval")
_LONGEST: Final = 2**31 - 2
"""The largest length or number of digits that is compared."""
_MOST_DAYS: Final = 4_000_000
_MOST_MONTHS: Final = 120_000
_OF_A_YEAR: Final = ("2020-W02", "2020-D002")


class FacetViolation(NamedTuple):
    """A rule, the condition that violates it, and the description of the error."""

    rule: str
    condition: Condition
    message: str


def facet_violations(
    id_: str, text_type: str, format_: TextFormat, note_unchecked: Callable[[str], None], shifted: Condition
) -> Iterator[FacetViolation]:
    """Yield the rules of one component.

    Args:
        id_: the component.
        text_type: its text type.
        format_: its facets.
        note_unchecked: called with a message for each requirement that cannot be checked.
        shifted: true if reporting years of the row do not begin on 1 January.
    """
    value = ComponentText(id_)
    if text_type in WRITTEN:
        rule = "time-period" if text_type in TIME_TYPES else "text-type"
        yield FacetViolation(rule, not_written(value, text_type), f"is not a valid {text_type}")
        if text_type in TIME_TYPES:
            # The cheap condition comes first.
            calendar = every(not_in_calendar(value), Matches(value, WRITTEN[text_type]), Not(shifted))
            yield FacetViolation("calendar", calendar, "names a week or day that this year does not have")
    elif text_type not in FREE_TYPES:
        note_unchecked(f"text type {text_type}")
    yield from _lengths(value, format_, note_unchecked)
    yield from _pattern(value, format_, note_unchecked)
    format_ = _without_sequence(text_type, format_, note_unchecked)
    if text_type in COUNTED:
        yield from _numbers(value, text_type, format_, note_unchecked)
    elif text_type in TIME_TYPES:
        yield from _times(value, text_type, format_, note_unchecked)
    for name in _meaningless(text_type, format_):
        note_unchecked(f"facet {name} of text type {text_type}")


def _without_sequence(text_type: str, format_: TextFormat, note_unchecked: Callable[[str], None]) -> TextFormat:
    """Return the facets without those of a sequence if ``isSequence`` is false.

    The types of ranges have ``startValue`` and ``endValue`` without a sequence, too. If ``isSequence`` is missing, the
    facets are used as they are: XML Schema's comments require it to be true, but many structures omit it.
    """
    if format_.is_sequence is not False:
        return format_
    names = _OF_SEQUENCES if text_type in RANGE_TYPES else (*_OF_SEQUENCES, "start_value", "end_value")
    given = [name for name in names if getattr(format_, name) is not None]
    for name in given:
        note_unchecked(f"facet {_camel(name)}, because isSequence is false")
    return structs.replace(format_, **dict.fromkeys(given))


def _meaningless(text_type: str, format_: TextFormat) -> Iterator[str]:
    """Yield the facets that are meaningless for values of this type."""
    for names, types in ((_OF_NUMBERS, COUNTED), (_OF_TIMES, frozenset(TIME_TYPES))):
        if text_type not in types:
            yield from (_camel(name) for name in names if getattr(format_, name) is not None)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def not_written(value: ComponentText, text_type: str) -> Condition:
    """Return whether a text is not a value of the text type; unknown if there is no text."""
    # Floating-point values may have an exponent, so the text of a column of doubles is matched unchanged.
    fits = Matches(value, WRITTEN[text_type], is_number=text_type in COUNTED - FLOATING)
    if text_type not in SIZES:
        return Not(fits)
    most = 2 ** SIZES[text_type] - 1
    return some(
        Not(fits), Matches(value, rf"\+?0*(?:{integers_above(most)})|-0*(?:{integers_above(most + 1)})", is_number=True)
    )


def out_of_bounds(
    value: ComponentText, low: Decimal | None, high: Decimal | None, *, exclusive: bool = False
) -> Condition:
    """Return whether a number is out of bounds; the bounds are inclusive unless ``exclusive``."""
    broken: list[Condition] = []
    if low is not None:
        broken.append(number_comparison(value, "<=" if exclusive else "<", low))
    if high is not None:
        broken.append(number_comparison(value, ">=" if exclusive else ">", high))
    return some(*broken)


def number_comparison(value: ComponentText, operator: Operator, bound: Decimal) -> Condition:
    """Compare a number with a constant: as doubles, and if the doubles are equal, digit by digit.

    A number with an exponent is itself a double, and is then equal to the constant.
    """
    rough = float(bound)
    exact = exact_comparison(operator, bound)
    strict: Operator = "<" if operator[0] == "<" else ">"
    clear, equal = CompareDouble(value, strict, rough), CompareDouble(value, "=", rough)
    plain, holds = Matches(value, DECIMAL, is_number=True), Matches(value, exact.expression, is_number=True)
    near = every(equal, plain, Not(holds) if exact.negated else holds)
    return some(clear, near) if operator == strict else some(clear, near, every(equal, Not(plain)))


def _lengths(
    value: ComponentText, format_: TextFormat, note_unchecked: Callable[[str], None]
) -> Iterator[FacetViolation]:
    least, most = format_.min_length, format_.max_length
    if least is not None and least > _LONGEST:
        note_unchecked(f"facet minLength {least}")
    elif least is not None:
        short = CompareInt(CharLength(value), "<", Number(least))
        yield FacetViolation("length", short, f"is shorter than {counted(least, 'character')}")
    if most is not None and most <= _LONGEST:  # no text is longer
        long = CompareInt(CharLength(value), ">", Number(most))
        yield FacetViolation("length", long, f"is longer than {counted(most, 'character')}")


def _pattern(
    value: ComponentText, format_: TextFormat, note_unchecked: Callable[[str], None]
) -> Iterator[FacetViolation]:
    if format_.pattern is None:
        return
    try:
        pattern = translated_pattern(format_.pattern)
    except (UnusablePatternError, RecursionError) as error:  # too deeply nested groups
        note_unchecked(f"pattern {format_.pattern} ({error})")
        return
    yield FacetViolation("pattern", Not(Matches(value, pattern.expression)), f"does not match {format_.pattern}")


def _numbers(
    value: ComponentText, text_type: str, format_: TextFormat, note_unchecked: Callable[[str], None]
) -> Iterator[FacetViolation]:
    yield from _ranges(value, text_type, format_)
    if format_.decimals is not None and format_.decimals > _LONGEST:
        note_unchecked(f"facet decimals {format_.decimals}")
    elif format_.decimals is not None:
        digits = rf"[+-]?[0-9]*\.[0-9]{{{format_.decimals + 1},}}(?:[eE][+-]?[0-9]+)?"
        longer = Matches(value, digits, is_number=True)
        yield FacetViolation(
            "decimals", longer, f"has more than {counted(format_.decimals, 'digit')} after the decimal point"
        )
    if format_.interval:
        steps = _steps(value, format_.interval, format_.start_value or Decimal(0))
        if steps is None:
            note_unchecked(f"facet interval {format_.interval}")
        else:
            yield steps


def _ranges(value: ComponentText, text_type: str, format_: TextFormat) -> Iterator[FacetViolation]:
    lowest, highest = sequence_bounds(text_type, format_)
    exclusive = text_type == "ExclusiveValueRange"
    finite = Matches(value, FINITE)
    floating = text_type in FLOATING
    for low in (format_.min_value, lowest):
        if low is not None:
            broken = every(finite, out_of_bounds(value, low, None, exclusive=exclusive))
            broken = some(broken, In(value, frozenset({"-INF"}))) if floating else broken
            yield FacetViolation("range", broken, f"is not {'over' if exclusive else 'at least'} {_plain(low)}")
    for high in (format_.max_value, highest):
        if high is not None:
            broken = every(finite, out_of_bounds(value, None, high, exclusive=exclusive))
            broken = some(broken, In(value, frozenset({"INF"}))) if floating else broken
            yield FacetViolation("range", broken, f"is not {'under' if exclusive else 'at most'} {_plain(high)}")


def _steps(value: ComponentText, interval: Decimal, start: Decimal) -> FacetViolation | None:
    """Return the violation of a step; None if the interval or the start has too many digits for 64-bit integers."""
    decimals = max(0, *(-int(one.normalize().as_tuple().exponent) for one in (interval, start)))
    if max(interval.adjusted(), start.adjusted()) + decimals >= MOST_DIGITS:
        return None
    step, first = (int(Fraction(one) * 10**decimals) for one in (abs(interval), start))
    # Any start that is lower by a multiple of the interval is equivalent; this one makes the difference non-negative.
    lowered = first % step - step * (10**MOST_DIGITS // step + 2)
    number = ScaledDecimal(value, decimals)
    rest = Arithmetic("%", Arithmetic("-", number, Number(lowered)), Number(step))
    fine = re.sub(r"\.0$", "", str(interval))
    fits = rf"[+-]?[0-9]*(?:\.[0-9]{{0,{decimals}}}0*)?"
    off = some(CompareInt(rest, ">", Number(0)), Not(Matches(value, fits, is_number=True)))
    return FacetViolation(
        "sequence",
        every(Matches(value, DECIMAL, is_number=True), off),
        f"is not a multiple of {fine} away from {_plain(start)}",
    )


def _times(
    value: ComponentText, text_type: str, format_: TextFormat, note_unchecked: Callable[[str], None]
) -> Iterator[FacetViolation]:
    start = None if format_.start_time is None else period(format_.start_time)
    end = None if format_.end_time is None else period(format_.end_time)
    begins = start_of_period(value)
    if start is not None:
        yield FacetViolation("range", CompareInt(begins, "<", Number(start.start_s)), f"is before {format_.start_time}")
    elif format_.start_time is not None:
        note_unchecked(f"facet startTime {format_.start_time}")
    if end is not None:
        yield FacetViolation("range", CompareInt(begins, ">=", Number(end.end_s)), f"is after {format_.end_time}")
    elif format_.end_time is not None:
        note_unchecked(f"facet endTime {format_.end_time}")
    if format_.time_interval is None:
        return
    off = None if start is None else _time_steps(value, format_.time_interval, start.start_s)
    if off is None:
        note_unchecked(f"facet timeInterval {format_.time_interval}")
        return
    if re.search("[YM]", format_.time_interval) and any(re.fullmatch(WRITTEN[text_type], one) for one in _OF_A_YEAR):
        note_unchecked(
            f"facet timeInterval {format_.time_interval} of weeks, and of days of the year other than the first"
        )
    message = f"is not a multiple of {format_.time_interval} after {format_.start_time}"
    yield FacetViolation("sequence", off, message)


def _time_steps(value: ComponentText, interval: str, start_s: int) -> Condition | None:
    found = re.fullmatch(r"P(?:(\d{1,9})Y)?(?:(\d{1,9})M)?(?:(\d{1,9})D)?", interval, re.ASCII)
    if found is None or not any(found.groups()):
        return None
    years, months, days = (int(part or 0) for part in found.groups())
    count = years * 12 + months
    if days > _MOST_DAYS or count > _MOST_MONTHS:
        return None
    if days and not count:
        since = Arithmetic("-", start_of_period(value), Number(start_s - days * DAY_S * (_MOST_DAYS // days)))
        return CompareInt(Arithmetic("%", since, Number(days * DAY_S)), ">", Number(0))
    if days or not count:
        return None
    from_month = _month_number(start_s)
    if from_month is None:
        return None
    month = month_of_period(value)
    since = Arithmetic("-", month, Number(from_month - count * (_MOST_MONTHS // count)))
    odd = every(Matches(value, UNDERSTOOD), Not(Matches(value, MONTHLY)), Not(Matches(value, OF_A_YEAR)))
    return some(CompareInt(Arithmetic("%", since, Number(count)), ">", Number(0)), odd)


def _month_number(start_s: int) -> int | None:
    """Return the number of the month, counted from year 0, that begins at a second; None if no month does."""
    for year in range(1, 10_000):
        found = period(f"{year:04}")
        if found is not None and found.start_s <= start_s < found.end_s:
            for month in range(1, 13):
                one = period(f"{year:04}-{month:02}")
                if one is not None and one.start_s == start_s:
                    return year * 12 + month - 1
    return None


def _plain(number: Decimal) -> str:
    return f"{number:f}"
