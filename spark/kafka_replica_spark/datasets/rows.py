"""Which rows are of which structure."""

from __future__ import annotations

from functools import reduce
from operator import and_, or_

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.datasets import belongs_to, urn_of
from kafka_replica.rules.model import Rules
from kafka_replica.sdmx import Urn

_COLUMNS = ["STRUCTURE", "STRUCTURE_ID"]


def structures_in(df: DataFrame) -> tuple[Urn, ...]:
    """What the rows say they are of, each once; reads the frame. A version that is not given is ``*``.

    Raises:
        DatasetError: a row says something else.
    """
    return tuple(sorted({urn for _, urn in _found(df)}))


def rows_of(df: DataFrame, rules: Rules) -> DataFrame:
    """The rows that are of what the rules are for, or of its data structure, and those that do not say.

    Reads the frame to see what there is.

    Raises:
        DatasetError: a row says something else.
    """
    columns = _columns(df)
    if not columns:
        return df
    found = _found(df)
    meant = [row for row, urn in found if belongs_to(urn, rules)]
    if len(meant) == len(found):
        return df
    silent: tuple[str | None, ...] = (None,) * len(columns)
    tests = [
        reduce(and_, (F.col(name).eqNullSafe(F.lit(value)) for name, value in zip(columns, row, strict=True)))
        for row in [silent, *meant]
    ]
    return df.filter(reduce(or_, tests, F.lit(False)))


def _columns(df: DataFrame) -> list[str]:
    if set(_COLUMNS) <= set(df.columns):
        return _COLUMNS
    return ["DATAFLOW"] if "DATAFLOW" in df.columns else []


def _found(df: DataFrame) -> list[tuple[tuple[str | None, ...], Urn]]:
    columns = _columns(df)
    rows = [tuple(row) for row in df.select(*columns).distinct().collect()] if columns else []
    rows = [row for row in rows if any(one is not None for one in row)]
    return [(row, urn_of(row[0], row[1]) if len(row) == len(_COLUMNS) else urn_of("dataflow", row[0])) for row in rows]
