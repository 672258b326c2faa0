"""Columns of any type as the text that SDMX would write; the same as on Spark."""

from __future__ import annotations

from typing import Final

import polars as pl

from kafka_replica.rules.binding import Shape

# Within this a double holds whole numbers exactly, nearly.
_WHOLE: Final = 10**16


def shape_of(kind: pl.DataType) -> Shape:
    """What a column of that type holds in a row."""
    if isinstance(kind, pl.List):
        inner = kind.inner
        if isinstance(inner, pl.Struct):
            fields = [field.dtype for field in inner.fields]
            return "languages" if fields == [pl.String(), pl.String()] else "other"
        return "values" if isinstance(inner, pl.DataType) and shape_of(inner) == "text" else "other"
    unread = isinstance(kind, pl.Array | pl.Struct | pl.Binary | pl.Object | pl.Duration)
    return "other" if unread else "text"


def as_text(name: str, kind: pl.DataType) -> pl.Expr:
    """The column as text: 5.0 is ``5``, an infinity ``INF``, a timestamp an xs:dateTime to the second.

    Lists give lists of texts; texts in several languages give the list of these texts.
    """
    column = pl.col(name)
    if isinstance(kind, pl.List):
        if isinstance(kind.inner, pl.Struct):
            return column.list.eval(pl.element().struct.field(kind.inner.fields[1].name))
        return column.list.eval(_text(pl.element(), kind.inner)) if isinstance(kind.inner, pl.DataType) else column
    return _text(column, kind)


def _text(column: pl.Expr, kind: pl.DataType) -> pl.Expr:
    if isinstance(kind, pl.String):
        return column
    if isinstance(kind, pl.Datetime):
        return column.dt.strftime("%Y-%m-%dT%H:%M:%S")
    if isinstance(kind, pl.Decimal):
        return column.cast(pl.String).str.replace(r"\.0+\z", "")
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
