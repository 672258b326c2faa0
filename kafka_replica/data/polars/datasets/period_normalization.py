"""Convert periods to calendar days with polars."""

from __future__ import annotations

import polars as pl

from kafka_replica.data.files.period_normalization import IS_TIMED, NormalizationSettings


def has_times(frame: pl.DataFrame, texts: dict[str, pl.Expr], how: NormalizationSettings) -> bool:
    """Return whether any period in a frame is a date-time."""
    return bool(frame.select(texts[how.time].str.contains(IS_TIMED).any()).item())


def with_days(
    frame: pl.DataFrame, texts: dict[str, pl.Expr], how: NormalizationSettings, *, timed: bool
) -> dict[str, pl.Expr]:
    """Return the texts of columns, with days instead of periods; with ``timed``, date-times instead of periods.

    Each distinct period is converted only once.
    """
    time = texts[how.time]
    begins = texts[how.start_day] if how.start_day else pl.lit(None, pl.String)
    keys = pl.struct(time.alias("period"), begins.alias("begins"))
    found = [(one["period"], one["begins"]) for one in frame.select(keys.unique()).to_series() if one["period"]]
    days = how.days(found, timed=timed)
    shown = pl.Series([days.get(one) for one in found], dtype=pl.String)
    wanted = pl.Series(
        [{"period": period, "begins": begins} for period, begins in found],
        dtype=pl.Struct({"period": pl.String, "begins": pl.String}),
    )
    day = keys.replace_strict(wanted, shown, default=None, return_dtype=pl.String)
    return {**texts, how.time: pl.coalesce(day, time)}
