"""Convert tables of other libraries to polars frames."""

from __future__ import annotations

from typing import Any

import polars as pl

from kafka_replica.errors import UsageError


def as_frame(frame: Any) -> pl.DataFrame:
    """Return a polars frame from a polars, pandas, Arrow or Spark table, or from a list of dictionaries.

    Raises:
        UsageError: the object has another type, or polars cannot convert it.
    """
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if isinstance(frame, list) and all(isinstance(row, dict) for row in frame):
        return _table([{name: _value(value) for name, value in row.items()} for row in frame])
    to_arrow = getattr(frame, "toArrow", None)
    if to_arrow is not None:  # a Spark frame
        return _table(to_arrow())
    return _table(frame)


def _table(frame: Any) -> pl.DataFrame:
    try:
        return pl.DataFrame(frame, infer_schema_length=None)
    except (TypeError, ValueError, ImportError, pl.exceptions.PolarsError) as error:
        raise UsageError(
            f"reading a {type(frame).__name__} as a polars frame: {error}; give a polars, pandas, Arrow or Spark frame "
            "whose columns each have one name and one type, or a list of dictionaries"
        ) from error


def _value(value: Any) -> Any:
    """Return a value of a row; texts by language become a list of pairs, because polars has no maps."""
    if isinstance(value, dict) and value and all(isinstance(each, str | None) for each in value.values()):
        return [{"language": language, "text": text} for language, text in value.items()]
    return value
