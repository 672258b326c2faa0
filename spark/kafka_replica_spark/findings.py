"""The findings of a row, collected in its ``_errors``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import or_
from typing import Any, Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data.validation.model import ERRORS, FIELDS
from kafka_replica_spark.expressions import balanced
from kafka_replica_spark.rows import ERRORS_TYPE, MARK

_ASKED: Final = f"{MARK}asked"
_SURELY_COMPILED: Final = 56
"""The size of conditions for which, with their findings, no method gets too long."""
_TOGETHER: Final = 16
"""The extra size of a part whose items share a condition, which then need not be evaluated in two parts."""
_FINDING: Final = 2
"""The size of the code for a finding: its number and its value; everything else is the same in each row."""
_FOUND_TYPE: Final = "array<struct<number:int,value:string>>"


class Finding(NamedTuple):
    """An element of ``_errors``: the same in all rows, except for the value."""

    rule: str
    component: str | None
    value: Column
    message: str
    severity: str
    artefact: str


class Item(NamedTuple):
    """A possible finding.

    Attributes:
        suspected: a short condition that is true in each row that has the finding.
        is_found: whether a row has the finding, if ``suspected`` is true; the same column if that decides it.
        finding: the finding to list.
        size: the number of nodes of the condition.
    """

    suspected: Column
    is_found: Column
    finding: Finding
    size: int


def with_findings(df: DataFrame, items: Sequence[Item], metadata: Mapping[str, Any]) -> DataFrame:
    """Return the frame with its errors, in two steps: short conditions, then their findings, in one array.

    Spark generates one Java method for all it does to a row, and Java never compiles a method of more than 8,000 bytes
    but interprets it, ten times slower. An expression that occurs twice in a step gets a method of its own, so
    everything here is in parts that occur twice. Spark does not merge two steps if a computed value is used twice. Each
    step passes all columns to the next, which costs as much as a look-up or two: so there are no more steps. The
    constant fields of the findings are in one table, and are joined to the numbers at the end, which makes methods and
    plans shorter.
    """
    told = dict(metadata)
    if not items:
        return _without_marks(df.select("*", F.lit(None).cast(ERRORS_TYPE).alias(ERRORS, metadata=told)))
    parts = _parts(items)
    asked = [_asked(items[part]) for part in parts]
    df = df.select(
        "*",
        *(one.alias(f"{_ASKED}{number}") for number, one in enumerate(asked)),
        *((one > 0).alias(f"{_ASKED}{number}_") for number, one in enumerate(asked)),
    )
    found = [
        F.when(F.col(f"{_ASKED}{number}_"), _found(items[part], part.start, F.col(f"{_ASKED}{number}")))
        for number, part in enumerate(parts)
    ]
    errors = _errors(found, [one.finding for one in items]).cast(ERRORS_TYPE)
    return _without_marks(df.select("*", errors.alias(ERRORS, metadata=told)))


def in_full(finding: Finding) -> Column:
    """Return an element of ``_errors``."""
    return F.struct(
        *(
            (told if isinstance(told, Column) else F.lit(told).cast("string")).alias(name)
            for name, told in finding._asdict().items()
        )
    )


def _without_marks(df: DataFrame) -> DataFrame:
    return df.drop(*(name for name in df.columns if name.startswith(MARK)))


def _errors(found: Sequence[Column], findings: Sequence[Finding]) -> Column:
    """Return the complete findings for the numbers and values in all parts; NULL if there are none."""
    some = balanced([_has_any(one) for one in found], or_)
    nothing = F.array().cast(_FOUND_TYPE)
    listed = F.concat(*(F.coalesce(one, nothing) for one in found))
    known = F.array(*(in_full(one._replace(value=F.lit(None))) for one in findings))

    def told(one: Column) -> Column:
        rest = F.get(known, one["number"])
        return F.struct(*((one if name == "value" else rest)[name].alias(name) for name in FIELDS))

    return F.when(_here(some), F.transform(listed, told))


def _parts(items: Sequence[Item]) -> list[slice]:
    """Return slices of consecutive items that result in methods which are certainly compiled."""
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


def _has_any(found: Column) -> Column:
    """Return whether a part has found something, in two forms that Spark does not unify: so the part occurs twice."""
    return (F.size(found) > 0) & F.get(found, F.lit(0)).isNotNull()


def _here(column: Column) -> Column:
    """Return the condition, pinned to its place: Spark moves nothing past an expression it considers nondeterministic.

    Otherwise a filter on ``_errors`` would be evaluated on the rows first, with all the conditions in one method.
    """
    return column & (F.spark_partition_id() >= 0)


def _asked(items: Sequence[Item]) -> Column:
    """Return a number with a bit for each true condition; a part never has more items than the number has bits."""
    bits = [F.when(one, F.lit(1 << bit)).otherwise(F.lit(0)) for bit, one in enumerate(_distinct(items))]
    return balanced(bits, Column.bitwiseOR)


def _distinct(items: Sequence[Item]) -> list[Column]:
    return list({id(one.suspected): one.suspected for one in items}.values())


def _found(items: Sequence[Item], first: int, asked: Column) -> Column:
    """Return the number and the value of each finding of a part."""
    places = {id(one): bit for bit, one in enumerate(_distinct(items))}
    found: list[Column] = []
    for number, one in enumerate(items, first):
        told = F.struct(F.lit(number).alias("number"), one.finding.value.alias("value"))
        listed = told if one.is_found is one.suspected else F.when(one.is_found, told)
        found.append(F.when(asked.bitwiseAND(F.lit(1 << places[id(one.suspected)])) > 0, listed))
    return F.array_compact(F.array(*found))
