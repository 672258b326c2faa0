"""What is found in a row, put into its ``_errors``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import or_
from typing import Any, Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.rules.model import ERRORS
from kafka_replica_spark.comparing import MARK
from kafka_replica_spark.expressions import balanced
from kafka_replica_spark.rows import ERRORS_TYPE

_ASKED: Final = f"{MARK}asked"
_SURELY_COMPILED: Final = 56
"""The size of conditions, of which with their findings no method gets too long."""
_TOGETHER: Final = 16
"""How much more a part may have of items with one question, which then need not be asked in two parts."""
_FINDING: Final = 4


class Item(NamedTuple):
    """Something that may be found.

    Attributes:
        suspected: a short condition that is true in each row in which it is found.
        is_found: whether it is, where that is true; the same column if nothing is left to ask.
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
    """The frame with its errors, in two steps: short questions, then findings where these ask for it, in one array.

    Spark makes one Java method of all it does to a row, and Java never compiles a method of more than 8,000 bytes but
    interprets it, ten times as slow. What stands twice in a step gets a method of its own, so all here is in parts
    that stand twice. Spark does not make one step of two where what was computed is used twice. Each step hands all
    columns on to the next, which costs as much as a look-up or two: so there are no more of them.
    """
    told = dict(metadata)
    if not items:
        return df.select("*", F.lit(None).cast(ERRORS_TYPE).alias(ERRORS, metadata=told))
    parts = [items[part] for part in _parts(items)]
    asked = [_asked(part) for part in parts]
    df = df.select(
        "*",
        *(one.alias(f"{_ASKED}{number}") for number, one in enumerate(asked)),
        *((one > 0).alias(f"{_ASKED}{number}_") for number, one in enumerate(asked)),
    )
    lists = [
        F.when(F.col(f"{_ASKED}{number}_"), _listed(part, F.col(f"{_ASKED}{number}")))
        for number, part in enumerate(parts)
    ]
    some = balanced([_has_any(one) for one in lists], or_)
    nothing = F.array().cast(ERRORS_TYPE)
    errors = F.when(_here(some), F.concat(*(F.coalesce(one, nothing) for one in lists)).cast(ERRORS_TYPE))
    marks = [name for name in df.columns if name.startswith(MARK)]
    return df.select("*", errors.alias(ERRORS, metadata=told)).drop(*marks)


def _parts(items: Sequence[Item]) -> list[slice]:
    """Items one after the other that make a method that is surely compiled."""
    parts = [slice(0, 0)]
    total = 0
    for number, one in enumerate(items):
        size = _FINDING + one.size
        total += size
        most = _SURELY_COMPILED + (_TOGETHER if number and one.suspected is items[number - 1].suspected else 0)
        if total > most and number > parts[-1].start:
            parts.append(slice(number, number))
            total = size
        parts[-1] = slice(parts[-1].start, number + 1)
    return parts


def _has_any(listed: Column) -> Column:
    """Whether a list has something in it, asked in two ways that Spark does not see are one: it stands twice then."""
    return (F.size(listed) > 0) & F.get(listed, F.lit(0)).isNotNull()


def _here(column: Column) -> Column:
    """The same, where it stands: Spark moves nothing past what it takes for not deterministic.

    A filter on ``_errors`` would otherwise be asked of the rows first, with all the conditions in one method.
    """
    return column & (F.spark_partition_id() >= 0)


def _asked(items: Sequence[Item]) -> Column:
    """A number with a bit for each condition that is true; a part has too few items for more bits than there are."""
    bits = [F.when(one, F.lit(1 << bit)).otherwise(F.lit(0)) for bit, one in enumerate(_distinct(items))]
    return balanced(bits, Column.bitwiseOR)


def _distinct(items: Sequence[Item]) -> list[Column]:
    return list({id(one.suspected): one.suspected for one in items}.values())


def _listed(items: Sequence[Item], asked: Column) -> Column:
    places = {id(one): bit for bit, one in enumerate(_distinct(items))}
    found: list[Column] = []
    for one in items:
        listed = one.finding if one.is_found is one.suspected else F.when(one.is_found, one.finding)
        found.append(F.when(asked.bitwiseAND(F.lit(1 << places[id(one.suspected)])) > 0, listed))
    return F.array_compact(F.array(*found))
