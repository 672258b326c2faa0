"""Check rules that compare rows with each other: duplicate keys, and attributes within their series or group.

First, each row is reduced to a 64-bit hash. Only groups of equal hashes that may break a rule are then compared by
their values; most data has no such groups, and Spark skips the second comparison. Groups that break a rule are joined
to the rows as a broadcast.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import and_, or_
from typing import Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data.validation.model import KeyCheck, LevelCheck
from kafka_replica.data.validation.report_building import Extent
from kafka_replica_spark.expressions import join_balanced
from kafka_replica_spark.rows import MARK, PreparedFrame, join_with_dots

_HASH: Final = f"{MARK}hash"
_AGAIN: Final = f"{MARK}again"
"""The column with a second hash, and later with the result of the first comparison."""


class MarkedCheck(NamedTuple):
    """A check that compares rows, the column that is true in rows that break it, and the value to show."""

    check: KeyCheck | LevelCheck
    broken: Column
    value: Column


def with_cross_row_checks(rows: PreparedFrame) -> tuple[DataFrame, list[MarkedCheck]]:
    """Return the frame with a column for each check that compares rows; no job runs before an action."""
    df = rows.df
    marked: list[MarkedCheck] = []
    counted = rows.expressions.condition(rows.bound.applies_to)
    for key in rows.bound.keys:
        texts = [rows.texts[component] for component in key.components]
        name = f"{MARK}{len(marked)}"
        has_key = counted & rows.expressions.condition(key.compared)
        df = _with_broken_groups(df, rows, rows.df.filter(has_key), key.components, {name: key})
        marked.append(MarkedCheck(key, F.col(name) & has_key, join_with_dots(texts)))
    for level, checks in groupby(rows.bound.levels, key=lambda check: check.level):
        same = list(checks)
        names = [f"{MARK}{len(marked) + number}" for number in range(len(same))]
        df = _with_broken_groups(df, rows, rows.df.filter(counted), level, dict(zip(names, same, strict=True)))
        for name, check in zip(names, same, strict=True):
            value = rows.to_compare(check.component)
            broken = F.col(name) & rows.expressions.condition(check.flagged)
            if check.demand == "same":
                broken &= value.isNotNull()
            marked.append(MarkedCheck(check, broken, rows.shown_text(check.component)))
    return df, marked


def _with_broken_groups(
    df: DataFrame,
    rows: PreparedFrame,
    counted: DataFrame,
    level: Sequence[str],
    checks: dict[str, KeyCheck | LevelCheck],
) -> DataFrame:
    """Return the frame with a column for each check, which is true in the rows of groups that break the check.

    Args:
        df: the frame.
        rows: the texts of the frame.
        counted: the rows that form groups.
        level: the components by which rows are grouped.
        checks: the checks by the names of their columns.
    """
    texts = [rows.texts[one] for one in level]
    names = [f"{MARK}level{number}" for number in range(len(level))]
    values = {name: rows.to_compare(check.component) for name, check in checks.items() if isinstance(check, LevelCheck)}
    candidates = _candidate_hashes(counted, texts, values, checks)
    groups = (
        counted.select(
            F.xxhash64(*texts).alias(_HASH),
            *(text.alias(name) for name, text in zip(names, texts, strict=True)),
            *(value.alias(name) for name, value in values.items()),
        )
        .join(F.broadcast(candidates), _HASH, "left_semi")
        .groupBy(_HASH, *names)
        .agg(*(_wrong(name, check).alias(name) for name, check in checks.items()))
        .filter(any_of(F.col(name) for name in checks))
    )
    hashed = df.select("*", F.xxhash64(*texts).alias(f"{_HASH}_"))
    same = [_same(F.col(name), text) for name, text in zip(names, texts, strict=True)]
    on = (F.col(_HASH) == F.col(f"{_HASH}_")) & join_balanced(same, and_)
    return hashed.join(F.broadcast(groups), on, "left").drop(_HASH, f"{_HASH}_", *names)


def _candidate_hashes(
    counted: DataFrame, texts: list[Column], values: dict[str, Column], checks: dict[str, KeyCheck | LevelCheck]
) -> DataFrame:
    """Return the hashes of groups in which a check may be broken; several groups may have the same hash."""
    hashed = counted.select(
        F.xxhash64(*texts).alias(_HASH),
        F.xxhash64(F.lit(0), *texts, *(text.isNull() for text in texts)).alias(_AGAIN),
        *(F.when(value.isNotNull(), F.xxhash64(value)).alias(name) for name, value in values.items()),
    )
    maybe: list[Column] = []
    for name, check in checks.items():
        if isinstance(check, KeyCheck):
            maybe.append(F.count("*") > 1)
        elif check.demand == "same":
            maybe.append(F.coalesce(F.min(name) != F.max(name), F.lit(False)))
        else:
            maybe.append((F.count(name) == 0) | (F.min(_AGAIN) != F.max(_AGAIN)))
    if all(isinstance(check, KeyCheck) for check in checks.values()):
        # Nearly every row is a separate group, so a partial count before the shuffle would save nothing.
        hashed = hashed.repartition(_HASH)
    grouped = hashed.groupBy(_HASH).agg(any_of(maybe).alias(_AGAIN))
    return grouped.filter(F.col(_AGAIN)).select(_HASH)


def _same(column: Column, other: Column) -> Column:
    """Return whether two texts are equal or both missing, without ``<=>``, which Spark would make a key of the join."""
    return F.coalesce(column == other, column.isNull() & other.isNull())


def any_of(conditions: Iterable[Column]) -> Column:
    """Return whether at least one condition is true."""
    return join_balanced([F.lit(False), *conditions], or_)


def _wrong(name: str, check: KeyCheck | LevelCheck) -> Column:
    if isinstance(check, KeyCheck):
        return F.count("*") > 1
    if check.demand == "given":
        return F.max(name).isNull()
    return F.coalesce(F.min(name) != F.max(name), F.lit(False))


def extents(rows: PreparedFrame) -> list[Extent]:
    """Return the extreme values of each attribute of the data set; this reads the frame once if there are any."""
    checks = rows.bound.whole
    if not checks:
        return []
    counted = rows.expressions.condition(rows.bound.applies_to)
    columns: list[Column] = []
    for check in checks:
        flagged = counted & rows.expressions.condition(check.flagged)
        value = F.when(counted, rows.shown_text(check.component))
        columns += [F.count(F.when(flagged, 1)), F.min(value), F.max(value)]
    found = rows.df.agg(*(column.alias(str(number)) for number, column in enumerate(columns))).collect()[0]
    return [Extent(*found[start : start + 3]) for start in range(0, len(found), 3)]
