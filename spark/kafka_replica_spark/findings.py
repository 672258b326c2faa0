"""What is found in a row, put into its ``_errors``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import or_
from typing import Any, Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.rules.model import ERRORS
from kafka_replica_spark.comparing import MARK
from kafka_replica_spark.expressions import balanced
from kafka_replica_spark.rows import ERRORS_TYPE

_ASKED: Final = f"{MARK}asked"
_LISTED: Final = f"{MARK}listed"
_SURELY_COMPILED: Final = 56
"""The size of conditions, of which with their findings no method gets too long."""
_FINDING: Final = 4


class Item(NamedTuple):
    """Something that may be found.

    Attributes:
        suspected: a short condition that is true in each row in which it is found.
        is_found: whether it is.
        finding: what is then listed; see :func:`finding`.
        size: how many nodes the condition has.
    """

    suspected: Column
    is_found: Column
    finding: Column
    size: int


def finding(rule: str, component: str | None, value: Column, message: str, severity: str, artefact: str) -> Column:
    """An element of ``_errors``."""
    return F.struct(
        F.lit(rule).alias("rule"),
        F.lit(component).cast("string").alias("component"),
        value.alias("value"),
        F.lit(message).alias("message"),
        F.lit(severity).alias("severity"),
        F.lit(artefact).alias("artefact"),
    )


def with_findings(df: DataFrame, items: Sequence[Item], metadata: Mapping[str, Any]) -> DataFrame:
    """The frame with its errors, in three steps: short questions, findings where these ask for it, all in one array.

    Spark makes one Java method of all it does to a row, and Java never compiles a method of more than 8,000 bytes but
    interprets it, ten times as slow. What stands twice in a step gets a method of its own, so all here is in parts
    that stand twice. Spark does not make one step of two where what was computed is used twice.
    """
    told = dict(metadata)
    if not items:
        return df.select("*", F.lit(None).cast(ERRORS_TYPE).alias(ERRORS, metadata=told))
    parts = _parts(items)
    asked = [balanced(_distinct([one.suspected for one in items[part]]), or_) for part in parts]
    df = _twice(df, _ASKED, asked, lambda one: one.cast("int"))
    listed = [
        F.when(F.col(f"{_ASKED}{number}"), F.when(F.col(f"{_ASKED}{number}_") > 0, _listed(items[part])))
        for number, part in enumerate(parts)
    ]
    df = _twice(df, _LISTED, listed, F.size)
    lists = [F.col(f"{_LISTED}{number}") for number in range(len(parts))]
    some = [one.isNotNull() & (F.col(f"{_LISTED}{number}_") > 0) for number, one in enumerate(lists)]
    nothing = F.array().cast(ERRORS_TYPE)
    errors = F.when(balanced(some, or_), F.concat(*(F.coalesce(one, nothing) for one in lists)))
    marks = [name for name in df.columns if name.startswith(MARK)]
    return df.select("*", errors.alias(ERRORS, metadata=told)).drop(*marks)


def _parts(items: Sequence[Item]) -> list[slice]:
    """Items one after the other that make a method that is surely compiled."""
    parts = [slice(0, 0)]
    total = 0
    for number, one in enumerate(items):
        size = _FINDING + one.size
        total += size
        if total > _SURELY_COMPILED and number > parts[-1].start:
            parts.append(slice(number, number))
            total = size
        parts[-1] = slice(parts[-1].start, number + 1)
    return parts


def _twice(df: DataFrame, name: str, columns: list[Column], other: Callable[[Column], Column]) -> DataFrame:
    """The frame with columns, and each once more in another form."""
    return df.select(
        "*",
        *(one.alias(f"{name}{number}") for number, one in enumerate(columns)),
        *(other(one).alias(f"{name}{number}_") for number, one in enumerate(columns)),
    )


def _distinct(columns: list[Column]) -> list[Column]:
    return list({id(one): one for one in columns}.values())


def _listed(items: Sequence[Item]) -> Column:
    return F.array_compact(F.array(*[F.when(one.is_found, one.finding) for one in items])).cast(ERRORS_TYPE)
