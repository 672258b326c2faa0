"""Convert columns of any type to texts in the form of SDMX, with the same result as the conversion with polars."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    CalendarIntervalType,
    DataType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    MapType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
    YearMonthIntervalType,
)

from kafka_replica.data.validation.binding import Shape

# Doubles represent integers exactly up to about this size (2 ** 53).
_WHOLE: Final = 10**16
_UNREAD: Final = (
    BinaryType, StructType, VariantType, DayTimeIntervalType, YearMonthIntervalType, CalendarIntervalType,
)  # fmt: skip
_SCIENTIFIC: Final = r"\A-?([0-9])(?:\.([0-9]*?)0*)?[eE]([+-]?[0-9]+)\z"


def shape_of(kind: DataType) -> Shape:
    """Return the shape of a column of this type."""
    if isinstance(kind, MapType):
        return "languages" if isinstance(kind.valueType, StringType) else "other"
    if isinstance(kind, ArrayType):
        return "values" if shape_of(kind.elementType) == "text" else "other"
    return "other" if isinstance(kind, _UNREAD) else "text"


def as_text(column: Column, kind: DataType) -> Column:  # noqa: PLR0911 - one return per kind
    """Return the column as text: 5.0 becomes ``5``, infinity ``INF``, and a timestamp an xs:dateTime.

    Timestamps are in the session's time zone. Redundant digits are omitted: 1.250 becomes ``1.25``, and seconds have a
    fraction only if it is not zero. Arrays become arrays of texts; maps from languages to texts become the array of
    these texts.
    """
    if isinstance(kind, MapType):
        return F.map_values(column)
    if isinstance(kind, ArrayType):
        inner = kind.elementType
        return F.transform(column, lambda one: as_text(one, inner))
    if isinstance(kind, StringType):
        return column.cast("string")  # without the collation that the column may have
    if isinstance(kind, TimestampType | TimestampNTZType):
        # date_format() would move a timestamp without time zone that the session's time zone skips.
        return F.replace(column.cast("string"), F.lit(" "), F.lit("T"))
    if isinstance(kind, DecimalType) and kind.scale > 0:
        return F.regexp_replace(written_out(column.cast("string")), r"\.?0+\z", "")
    if isinstance(kind, FloatType | DoubleType):
        return _of_double(column)
    return column.cast("string")


def _of_double(column: Column) -> Column:
    text = column.cast("string")
    size = F.abs(column)
    whole = (column == F.rint(column)) & (size < _WHOLE)
    return (
        F.when(whole, column.try_cast("bigint").cast("string"))
        .when(column == float("inf"), F.lit("INF"))
        .when(column == float("-inf"), F.lit("-INF"))
        .when(((size >= 1e7) & (size < _WHOLE)) | size.between(1e-5, 1e-3), written_out(text))
        .otherwise(F.regexp_replace(F.regexp_replace(text, "E", "e"), r"\.0e", "e"))
    )


def written_out(text: Column) -> Column:
    """Return numbers such as 1.25E7, 1.25e-4 and 1e22 without exponents; other texts stay unchanged."""
    first, rest, power = (F.regexp_extract(text, _SCIENTIFIC, group) for group in (1, 2, 3))
    exponent = power.try_cast("int")
    sign = F.when(text.startswith("-"), F.lit("-")).otherwise(F.lit(""))
    digits = F.concat(first, rest)
    fraction = F.substring(digits, exponent + 2, F.lit(40))
    large = F.concat(
        sign,
        F.rpad(F.substring(digits, F.lit(1), exponent + 1), exponent + 1, F.lit("0")),
        F.when(fraction == "", F.lit("")).otherwise(F.concat(F.lit("."), fraction)),
    )
    small = F.concat(sign, F.lit("0."), F.repeat(F.lit("0"), -exponent - 1), digits)
    # The cheap check comes first, because most numbers have no exponent.
    found = F.when(exponent.isNull(), text).when(exponent >= 0, large).otherwise(small)
    return F.when(text.contains("e") | text.contains("E"), found).otherwise(text)
