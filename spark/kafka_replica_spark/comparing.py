"""Rows compared with each other: duplicate keys, and attributes within their series or group.

A group is told by two 64-bit hashes of its values, so only 16 bytes a row are sorted into groups, and only the groups
that break a rule come back to the rows, as a broadcast. Two different keys have the same 128 bits by chance once in
10^20 data sets of a billion rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.rules.model import Finding, KeyCheck, LevelCheck
from kafka_replica_spark.rows import Prepared, joined

_HASHES: Final = ("__hash_1", "__hash_2")
MARK: Final = "__broken_"


class Marked(NamedTuple):
    """A check between rows, the column that is true in rows that break it, and the value to show."""

    check: KeyCheck | LevelCheck
    broken: Column
    value: Column


def compared(rows: Prepared) -> tuple[DataFrame, list[Marked]]:
    """The frame with a column for each check that compares rows; nothing runs before an action."""
    df = rows.df
    marked: list[Marked] = []
    counted = rows.expressions.condition(rows.bound.applies_to)
    for key in rows.bound.keys:
        texts = [rows.texts[one] for one in key.components]
        name = f"{MARK}{len(marked)}"
        df = _with(df, rows, key.components, counted, {name: F.count("*") > 1})
        marked.append(Marked(key, F.col(name) & counted, joined(texts)))
    for level, checks in groupby(rows.bound.levels, key=lambda check: check.level):
        alike = list(checks)
        names = [f"{MARK}{len(marked) + number}" for number in range(len(alike))]
        wrong = {name: _differs(rows, check) for name, check in zip(names, alike, strict=True)}
        df = _with(df, rows, level, counted, wrong)
        for name, check in zip(names, alike, strict=True):
            value = rows.texts[check.component]
            broken = F.col(name) & rows.expressions.condition(check.flagged)
            if check.demand == "same":
                broken &= value.isNotNull()
            marked.append(Marked(check, broken, value))
    return df, marked


def _with(df: DataFrame, rows: Prepared, level: Sequence[str], counted: Column, wrong: dict[str, Column]) -> DataFrame:
    """The frame with columns that are true in rows of groups that are wrong."""
    texts = [rows.texts[one] for one in level]
    groups = (
        rows.df.filter(counted)
        .groupBy(*(_hash(texts, number).alias(name) for number, name in enumerate(_HASHES)))
        .agg(*(condition.alias(name) for name, condition in wrong.items()))
    )
    groups = groups.filter(any_of(F.col(name) for name in wrong))
    hashed = df.select("*", *(_hash(texts, number).alias(name) for number, name in enumerate(_HASHES)))
    return hashed.join(F.broadcast(groups), list(_HASHES), "left").drop(*_HASHES)


def any_of(conditions: Iterable[Column]) -> Column:
    """Whether one is true."""
    found = F.lit(False)
    for condition in conditions:
        found |= condition
    return found


def _hash(texts: Sequence[Column], seed: int) -> Column:
    # The hash leaves NULL out, so that must be told apart.
    return F.xxhash64(F.lit(seed), *(part for one in texts for part in (one, one.isNull())))


def _differs(rows: Prepared, check: LevelCheck) -> Column:
    value = rows.texts[check.component]
    if check.demand == "given":
        return F.max(value).isNull()
    return F.coalesce(F.min(value) != F.max(value), F.lit(False))


def whole_findings(rows: Prepared) -> tuple[Finding, ...]:
    """What is wrong with attributes of the data set; reads the frame once."""
    checks = rows.bound.whole
    if not checks:
        return ()
    counted = rows.expressions.condition(rows.bound.applies_to)
    columns: list[Column] = []
    for number, check in enumerate(checks):
        counts = counted & rows.expressions.condition(check.flagged)
        value = F.when(counts, rows.texts[check.component])
        columns += [
            F.count(F.when(counts, 1)).alias(f"rows{number}"),
            F.min(value).alias(f"min{number}"),
            F.max(value).alias(f"max{number}"),
        ]
    row = rows.df.agg(*columns).first()
    assert row is not None  # noqa: S101 - an aggregate has one row
    found: list[Finding] = []
    for number, check in enumerate(checks):
        low, high = row[f"min{number}"], row[f"max{number}"]
        wrong = low is None if check.demand == "given" else low != high
        if row[f"rows{number}"] and wrong:
            value_ = None if low is None else f"{low}, {high}"
            found.append(Finding(check.rule, check.component, value_, check.message, check.severity, check.artefact))
    return tuple(found)
