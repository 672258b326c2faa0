# ruff: noqa: D102 - the protocol describes them
"""The operations that mapping needs from an engine, implemented with Spark's own expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StringType

from kafka_replica.data.mapping.model import PARTS
from kafka_replica.data.mapping.row_mapping import OURS
from kafka_replica.data.validation.conditions import ComponentText
from kafka_replica.data.validation.periods import start_of_period
from kafka_replica_spark.expressions import Expressions
from kafka_replica_spark.literals import MOST_IN_MAPS, map_size, maps_are_hashed
from kafka_replica_spark.mapping.digit_groups import digit_groups
from kafka_replica_spark.mapping.tables import SMALL, look_up
from kafka_replica_spark.matching import short_enough
from kafka_replica_spark.rows import named_column
from kafka_replica_spark.texts import as_text, shape_of

_PERIOD = "period"
_LACKING = "_is_null"
_MOST_DIGITS: Final = 19
"""The digits of the largest number of 64 bits."""
_TWO_DIGITS: Final = ",".join(f"{number:02}" for number in range(100))


class SparkEngine:
    """A frame that is being mapped; see :class:`kafka_replica.data.mapping.mapping_engine.MappingEngine`.

    Attributes:
        frame: the frame, including the columns added so far.
    """

    def __init__(self, frame: DataFrame) -> None:
        self.frame = frame
        self._kinds = {field.name: field.dataType for field in frame.schema.fields}
        self._are_hashed = maps_are_hashed(frame.sparkSession)
        self._tables = self._entries = 0

    def source(self, component: str) -> Column:
        kind = self._kinds.get(component)
        if kind is None or shape_of(kind) != "text":
            return self.text(None)
        return as_text(named_column(component), kind)

    def has(self, name: str) -> bool:
        return name in self._kinds

    def has_texts(self, name: str) -> bool:
        return isinstance(self._kinds.get(name), StringType)

    def may_hold(self, condition: Column) -> bool:  # noqa: ARG002 - see the protocol
        return True  # the rows are only read later

    def begins_s(self, text: Column) -> Column:
        return Expressions({_PERIOD: text}).number(start_of_period(ComponentText(_PERIOD)))

    def add(self, columns: Mapping[str, Column]) -> None:
        # Spark generates a separate method for an expression that occurs twice, so that Java can compile all methods.
        lacking = (column.isNull().alias(f"{name}{_LACKING}") for name, column in columns.items())
        added = (column.alias(name) for name, column in columns.items())
        joined = [name for name in self.frame.columns if name.startswith(f"{OURS}table_")]
        self.frame = self.frame.select("*", *added, *lacking).drop(*joined)

    def let(self, columns: Mapping[str, Column]) -> None:
        # As in add(), the expression occurs twice, so that Spark computes it in a separate method, and only once.
        self.frame = self.frame.select(
            "*", *(F.coalesce(column, column).alias(name) for name, column in columns.items())
        )

    def per_value(
        self, values: Mapping[str, Column], results: Sequence[str], compute: Callable[[SparkEngine], None]
    ) -> None:
        # Distinct values are not computed first, because that would read the data twice, which a stream cannot do.
        kept = [named_column(name) for name in self.frame.columns if not name.startswith(f"{OURS}table_")]
        self.frame = self.frame.select("*", *(value.alias(name) for name, value in values.items()))
        compute(self)
        self.frame = self.frame.select(*kept, *(one for name in results for one in (name, f"{name}{_LACKING}")))

    def column(self, name: str) -> Column:
        return named_column(name)

    def lacks(self, name: str) -> Column:
        return F.col(f"{name}{_LACKING}")

    def spread(self, name: str, separator: str) -> None:
        others = [named_column(other) for other in self.frame.columns if other != name]
        self.frame = self.frame.select(*others, F.explode_outer(F.split(F.col(name), separator)).alias(name))

    def text(self, value: str | None) -> Column:
        return F.lit(value).cast("string")

    def coalesce(self, expressions: Sequence[Column]) -> Column:
        return F.coalesce(*expressions)

    def joined(self, texts: Sequence[Column], separator: str) -> Column:
        first, *rest = texts
        parts = (part for one in rest for part in ((F.lit(separator), one) if separator else (one,)))
        return F.concat(first, *parts) if rest else first

    def part(self, text: Column, separator: str, number: int) -> Column:
        return F.get(F.split(text, separator), F.lit(number))

    def slice(self, text: Column, start: int, length: int | None) -> Column:
        return F.substring(text, start + 1, 2**30 if length is None else length)

    def lower(self, text: Column) -> Column:
        return F.lower(text)

    def look_up(self, text: Column, table: Mapping[str, str]) -> Column:
        if not table:
            return self.text(None)
        if len(table) > SMALL and self._entries + len(table) > MOST_IN_MAPS:
            return self._joined(text, table)
        self._entries += map_size(len(table))
        return look_up(text, table, in_map=self._are_hashed)

    def _joined(self, text: Column, table: Mapping[str, str]) -> Column:
        key, value = (f"{OURS}table_{what}_{self._tables}" for what in ("key", "value"))
        self._tables += 1
        columns = {key: pa.array(table, pa.string()), value: pa.array(table.values(), pa.string())}
        rows = self.frame.sparkSession.createDataFrame(pa.table(columns))
        self.frame = self.frame.join(F.broadcast(rows), text == F.col(key), "left")
        return F.col(value)

    def fits(self, text: Column, expression: str) -> Column:
        return short_enough(text, expression).rlike(expression)

    def group(self, text: Column, expression: str) -> Column:
        text = short_enough(text, expression)
        return F.when(text.rlike(expression), F.regexp_extract(text, expression, 1))

    def captures(self, text: Column, expression: str, groups: Sequence[int | None]) -> Column:
        known = digit_groups(expression)
        if known is not None:
            cut = (F.lit("") if group is None else known.cut(text, group) for group in groups)
            return F.when(text.rlike(expression), F.array(F.lit(""), *cut))
        written = "".join(PARTS if group is None else f"{PARTS}${group}" for group in groups)
        # A text that does not match remains unchanged, and has too few items when it is split.
        found = F.regexp_replace(F.when(~text.contains(PARTS), text), expression, written)
        return F.split(found, PARTS)

    def item(self, texts: Column, number: int) -> Column:
        return F.get(texts, F.lit(number + 1))

    def replaced(self, text: Column, mark: str, by: Column) -> Column:
        return F.replace(text, F.lit(mark), F.coalesce(by, F.lit("")))

    def is_one_of(self, text: Column, values: Sequence[str]) -> Column:
        return F.coalesce(text.isin(list(values)), F.lit(False))

    def is_null(self, expression: Column) -> Column:
        return expression.isNull()

    def case(self, cases: Sequence[tuple[Column, Column]]) -> Column:
        (first, value), *others = cases
        found = F.when(first, value)
        for condition, then in others:
            found = found.when(condition, then)
        return found

    def needed_where(self, condition: Column, expression: Column) -> Column:
        return F.when(condition, expression)

    def any_of(self, conditions: Sequence[Column]) -> Column:
        return reduce(or_, (F.coalesce(condition, F.lit(False)) for condition in conditions), F.lit(False))

    def number(self, value: int | None) -> Column:
        return F.lit(value).cast("bigint")

    def whole(self, text: Column) -> Column:
        return F.when(text.rlike(r"\A[+-]?[0-9]{1,19}\z"), text).try_cast("bigint")

    def counted(self, digits: Column) -> Column:
        return digits.try_cast("int").cast("bigint")

    def floor(self, number: Column, by: int) -> Column:
        if by == 1:
            return number
        # "div" rounds towards zero. The sign bit of a negative remainder, shifted over all bits, is -1; subtracting the
        # remainder before the division could exceed 64 bits.
        return F.call_function("div", number, F.lit(by)) + F.shiftright(number % F.lit(by), 63)

    def digits(self, number: Column, width: int) -> Column:
        text = number.cast("string")
        if width == 1:
            return text
        if width == 2:
            # An entry of an array is found without making a text.
            return F.when(number < 100, F.get(F.split(F.lit(_TWO_DIGITS), ","), number)).otherwise(text)
        padded = F.lpad(text, width, "0")
        # Padding takes time. A number of 64 bits is shorter than a width for which the limit is not one.
        return F.when(number >= 10 ** (width - 1), text).otherwise(padded) if width <= _MOST_DIGITS else padded

    def signed(self, number: Column) -> Column:
        return number.cast("string")

    def day(self, year: Column, month: Column, day: Column) -> Column:
        is_month = year.between(1, 9999) & month.between(1, 12)
        date = F.make_date(year.try_cast("int"), month.try_cast("int"), F.lit(1))
        found = F.when(is_month, F.unix_date(date)).cast("bigint") + day - F.lit(1)
        is_there = day.between(1, 28) | (day.between(29, 31) & (F.month(_date(found)) == month))
        return F.when(is_there, found)

    def months_later(self, day: Column, months: int) -> Column:
        return F.unix_date(F.add_months(_date(day), months)).cast("bigint")

    def of_day(self, day: Column, field: str) -> Column:
        date = _date(day)
        if field == "week_year":
            # the year of the week's Thursday (ISO 8601)
            return F.year(F.date_add(date, 3 - F.weekday(date))).cast("bigint")
        if field == "weekday":
            return (F.weekday(date) + 1).cast("bigint")
        of = {"year": F.year, "month": F.month, "day": F.dayofmonth, "day_of_year": F.dayofyear, "week": F.weekofyear}
        return of[field](date).cast("bigint")


def _date(day: Column) -> Column:
    # Numbers far outside the range of dates become NULL, because the cast would raise an error.
    return F.date_from_unix_date(F.when(day.between(-1_000_000, 4_000_000), day).cast("int"))
