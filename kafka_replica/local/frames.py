"""What is taken for a frame."""

from __future__ import annotations

from typing import Any

import polars as pl

from kafka_replica.errors import UsageError


def as_frame(frame: Any) -> pl.DataFrame:
    """A polars frame of a polars, pandas or Arrow table, or of rows as dictionaries.

    Raises:
        UsageError: it is none of these.
    """
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if isinstance(frame, list) and all(isinstance(row, dict) for row in frame):
        return pl.DataFrame(frame, infer_schema_length=None)
    if hasattr(frame, "toArrow"):  # Spark's
        return _table(frame.toArrow())
    return _table(frame)


def _table(frame: Any) -> pl.DataFrame:
    try:
        made = pl.DataFrame(frame)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise UsageError(
            f"validating a {type(frame).__name__}: give a polars, pandas, Arrow or Spark frame, "
            "or a list of dictionaries"
        ) from error
    return made
