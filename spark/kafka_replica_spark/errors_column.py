"""Collect the findings of a row in its column ``_errors``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import or_
from typing import Any, Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data.validation.model import ERRORS, FIELDS
from kafka_replica_spark.expressions import join_balanced
from kafka_replica_spark.rows import ERRORS_TYPE, MARK

_BITS: Final = f"{MARK}suspected"
_SURELY_COMPILED: Final = 56
"""The size of a part (conditions and findings) up to which Java certainly compiles its method."""
_TOGETHER: Final = 16
"""The additional size of a part whose items share a condition, so that it is not evaluated in two parts."""
_FINDING: Final = 2
"""The size of a finding, which consists of its number and its value; its other fields are the same in each row."""
_FOUND_TYPE: Final = "array<struct<number:int,value:string>>"


class Finding(NamedTuple):
    """An element of ``_errors``, which is the same in all rows except for the value."""

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
        is_found: whether a row for which ``suspected`` is true has the finding; the same column if it always has.
        finding: the finding to list.
        size: the number of nodes of the condition.
    """

    suspected: Column
    is_found: Column
    finding: Finding
    size: int


def with_findings(df: DataFrame, items: Sequence[Item], metadata: Mapping[str, Any]) -> DataFrame:
    """Return the frame with the column ``_errors``, computed in two steps: short conditions, then their findings.

    Spark generates one Java method for all operations on a row, and Java never compiles a method of more than 8,000
    bytes: it interprets the method, which is ten times slower. However, an expression that occurs twice in a step gets
    a separate method; therefore everything here is in parts that occur twice. Spark does not merge two steps if a
    computed value is used twice. Each step passes all columns to the next, which costs as much as one or two look-ups,
    so there are only two steps. The constant fields of the findings are in one table, and are added by number at the
    end, which makes methods and plans shorter.

    Args:
        df: the frame.
        items: the possible findings.
        metadata: the metadata of the column ``_errors``.
    """
    column_metadata = dict(metadata)
    if not items:
        return _without_marks(df.select("*", F.lit(None).cast(ERRORS_TYPE).alias(ERRORS, metadata=column_metadata)))
    parts = _parts(items)
    bits = [_suspected_bits(items[part]) for part in parts]
    df = df.select(
        "*",
        *(bit.alias(f"{_BITS}{number}") for number, bit in enumerate(bits)),
        *((bit > 0).alias(f"{_BITS}{number}_") for number, bit in enumerate(bits)),
    )
    found = [
        F.when(F.col(f"{_BITS}{number}_"), _found(items[part], part.start, F.col(f"{_BITS}{number}")))
        for number, part in enumerate(parts)
    ]
    errors = _errors(found, [item.finding for item in items]).cast(ERRORS_TYPE)
    return _without_marks(df.select("*", errors.alias(ERRORS, metadata=column_metadata)))


def in_full(finding: Finding) -> Column:
    """Return an element of ``_errors`` as a struct."""
    return F.struct(
        *(
            (value if isinstance(value, Column) else F.lit(value).cast("string")).alias(name)
            for name, value in finding._asdict().items()
        )
    )


def _without_marks(df: DataFrame) -> DataFrame:
    return df.drop(*(name for name in df.columns if name.startswith(MARK)))


def _errors(found: Sequence[Column], findings: Sequence[Finding]) -> Column:
    """Return the complete findings for the numbers and values that all parts have found; NULL if there are none."""
    some = join_balanced([_has_any(one) for one in found], or_)
    nothing = F.array().cast(_FOUND_TYPE)
    listed = F.concat(*(F.coalesce(one, nothing) for one in found))
    known = F.array(*(in_full(finding._replace(value=F.lit(None))) for finding in findings))

    def complete(column: Column) -> Column:
        rest = F.get(known, column["number"])
        return F.struct(*((column if name == "value" else rest)[name].alias(name) for name in FIELDS))

    return F.when(_pinned(some), F.transform(listed, complete))


def _parts(items: Sequence[Item]) -> list[slice]:
    """Return slices of consecutive items whose methods are small enough to be compiled."""
    parts = [slice(0, 0)]
    total = 0
    for number, item in enumerate(items):
        size = _FINDING + item.size
        total += size
        most = _SURELY_COMPILED + (_TOGETHER if number and item.suspected is items[number - 1].suspected else 0)
        if total > most and number > parts[-1].start:
            parts.append(slice(number, number))
            total = size
        parts[-1] = slice(parts[-1].start, number + 1)
    return parts


def _has_any(found: Column) -> Column:
    """Return whether a part has found anything, in two forms that Spark does not unify, so that it occurs twice."""
    return (F.size(found) > 0) & F.get(found, F.lit(0)).isNotNull()


def _pinned(column: Column) -> Column:
    """Return the condition with a part that Spark considers nondeterministic, so that Spark moves nothing past it.

    Otherwise Spark would evaluate a filter on ``_errors`` first, with all conditions in one method.
    """
    return column & (F.spark_partition_id() >= 0)


def _suspected_bits(items: Sequence[Item]) -> Column:
    """Return a number with a bit for each true condition; the size of parts limits their items to its bits."""
    bits = [F.when(one, F.lit(1 << bit)).otherwise(F.lit(0)) for bit, one in enumerate(_distinct(items))]
    return join_balanced(bits, Column.bitwiseOR)


def _distinct(items: Sequence[Item]) -> list[Column]:
    return list({id(item.suspected): item.suspected for item in items}.values())


def _found(items: Sequence[Item], first: int, bits: Column) -> Column:
    """Return the number and the value of each finding of a part."""
    places = {id(one): bit for bit, one in enumerate(_distinct(items))}
    found: list[Column] = []
    for number, item in enumerate(items, first):
        entry = F.struct(F.lit(number).alias("number"), item.finding.value.alias("value"))
        listed = entry if item.is_found is item.suspected else F.when(item.is_found, entry)
        found.append(F.when(bits.bitwiseAND(F.lit(1 << places[id(item.suspected)])) > 0, listed))
    return F.array_compact(F.array(*found))
