"""Convert periods to calendar days with Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data.files.period_normalization import IS_TIMED, NormalizationSettings

_PERIOD: Final = "_kr_period"
_BEGINS: Final = "_kr_begins"
_DAY: Final = "_kr_day"
_LONGEST: Final = len("2014-01-01+01:00")


def with_days(
    df: DataFrame, texts: Mapping[str, Column], how: NormalizationSettings
) -> tuple[DataFrame, dict[str, Column]]:
    """Return the frame joined with the calendar days of its periods, and the texts with these days.

    The distinct periods, and whether there are date-times among them, are queried immediately; the driver converts each
    period once. Their number is limited by the calendar, because the query excludes date-times and ranges.
    """
    time = texts[how.time]
    begins = texts[how.start_day] if how.start_day else F.lit(None).cast("string")
    is_timed = F.coalesce(time.rlike(IS_TIMED), F.lit(False))
    short = F.when(F.length(time) <= _LONGEST, time)
    requested = df.select(short.alias("period"), begins.alias("begins"), is_timed.alias("timed"))
    rows = requested.distinct().collect()
    found = [(row.period, row.begins) for row in rows if row.period is not None]
    days = how.days(found, timed=any(row.timed for row in rows))
    if not days:
        return df, dict(texts)
    table = df.sparkSession.createDataFrame(
        [(period, begun, day) for (period, begun), day in days.items()],
        f"{_PERIOD} string, {_BEGINS} string, {_DAY} string",
    )
    is_same = (time == F.col(_PERIOD)) & begins.eqNullSafe(F.col(_BEGINS))
    joined = df.join(F.broadcast(table), is_same, "left")
    return joined, {**texts, how.time: F.coalesce(F.col(_DAY), time)}
