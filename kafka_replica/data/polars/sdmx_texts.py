"""Convert columns of any type to texts in the form of SDMX, with the same result as Spark's conversion."""

from __future__ import annotations

from typing import Final

import polars as pl

from kafka_replica.data.validation.binding import Shape

# Doubles represent integers exactly up to about this size (2 ** 53).
_WHOLE: Final = 10**16
_SCIENTIFIC: Final = r"\A(-?)([0-9])(?:\.([0-9]+))?e(-?[0-9]+)\z"


def shape_of(kind: pl.DataType) -> Shape:
    """Return the shape of a column of this type."""
    if isinstance(kind, pl.List):
        inner = kind.inner
        if isinstance(inner, pl.Struct):
            fields = [field.dtype for field in inner.fields]
            return "languages" if fields == [pl.String(), pl.String()] else "other"
        return "values" if isinstance(inner, pl.DataType) and shape_of(inner) == "text" else "other"
    unread = isinstance(kind, pl.Array | pl.Struct | pl.Binary | pl.Object | pl.Duration)
    return "other" if unread else "text"


def as_text(name: str, kind: pl.DataType) -> pl.Expr:
    """Return the column as text: 5.0 becomes ``5``, infinity ``INF``, and a timestamp an xs:dateTime.

    Redundant digits are omitted: 1.250 becomes ``1.25``, and seconds have a fraction only if it is not zero. Lists
    become lists of texts; texts by language become the list of these texts, without the languages.
    """
    column = pl.col(name)
    if isinstance(kind, pl.List):
        if isinstance(kind.inner, pl.Struct):
            return column.list.eval(pl.element().struct.field(kind.inner.fields[1].name))
        return column.list.eval(_text(pl.element(), kind.inner)) if isinstance(kind.inner, pl.DataType) else column
    return _text(column, kind)


def without_exponent(text: pl.Expr) -> pl.Expr:
    """Return numbers such as 1.25e-7 and 1e22 without exponents; other texts stay unchanged."""
    parts = text.str.extract_groups(_SCIENTIFIC)
    digits = pl.concat_str(parts.struct.field("2"), parts.struct.field("3").fill_null(""))
    exponent = parts.struct.field("4").cast(pl.Int64, strict=False)
    # Doubles that are written with an exponent of 16 or more are integers.
    large = digits.str.pad_end((exponent + 1).clip(0), "0")
    zeros = (-exponent - 1).clip(0)
    small = pl.concat_str(pl.lit("0."), digits.str.pad_start(digits.str.len_chars() + zeros, "0"))
    found = pl.concat_str(parts.struct.field("1"), pl.when(exponent >= 0).then(large).otherwise(small))
    return pl.coalesce(found, text)


def _text(column: pl.Expr, kind: pl.DataType) -> pl.Expr:
    if isinstance(kind, pl.String):
        return column
    if isinstance(kind, pl.Datetime):
        return column.dt.strftime("%Y-%m-%dT%H:%M:%S%.9f").str.replace(r"\.?0+\z", "")
    if isinstance(kind, pl.Decimal):
        text = column.cast(pl.String)
        return text.str.replace(r"\.?0+\z", "") if kind.scale else text
    if not kind.is_float():
        return column.cast(pl.String)
    text = column.cast(pl.String).str.replace(r"\.0\z", "").str.replace("e+", "e", literal=True)
    whole = column.is_finite() & (column == column.round(0)) & (column.abs() < _WHOLE)
    return (
        pl.when(whole)
        .then(column.cast(pl.Int64, strict=False).cast(pl.String))
        .when(column.is_infinite())
        .then(pl.when(column > 0).then(pl.lit("INF")).otherwise(pl.lit("-INF")))
        .otherwise(text)
    )
