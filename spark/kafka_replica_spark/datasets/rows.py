"""Which rows are of which structure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import reduce
from operator import and_, or_
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data.files import belongs_to, urn_of
from kafka_replica.data.validation.model import Rules
from kafka_replica.sdmx import Urn

_COLUMNS: Final = ("STRUCTURE", "STRUCTURE_ID")


def structures_in(df: DataFrame) -> tuple[Urn, ...]:
    """What the rows say they are of, each once; reads the frame. A version that is not given is ``*``.

    Raises:
        DatasetError: a row says something else.
    """
    said = _said(df)
    return () if said is None else tuple(sorted({urn for _, urn, _ in _found(df, said)}))


def rows_of(df: DataFrame, rules: Rules, usages: Collection[Urn] = ()) -> DataFrame:
    """The rows that are of what the rules are for, or of its data structure, and those that do not say.

    Reads the frame to see what there is.

    Args:
        df: rows of SDMX-CSV.
        rules: the rules.
        usages: what else is meant: ``usages_of(structures, rules)``, for example the dataflows of a data structure.

    Raises:
        DatasetError: a row says something else.
    """
    return parted(df, rules, usages)[0]


def parted(df: DataFrame, rules: Rules, usages: Collection[Urn]) -> tuple[DataFrame, dict[Urn, int]]:
    """What :func:`rows_of` gives, and how many other rows there are, by what they say they are of; reads once."""
    said = _said(df)
    if said is None:
        return df, {}
    meant: list[tuple[str | None, ...]] = []
    others: Counter[Urn] = Counter()
    for row, urn, count in _found(df, said):
        if belongs_to(urn, rules, usages):
            meant.append(row)
        else:
            others[urn] += count
    if not others:
        return df, {}
    tests = [
        reduce(and_, (text.eqNullSafe(F.lit(value)) for text, value in zip(said, row, strict=True)))
        for row in [(None, None), *meant]
    ]
    return df.filter(reduce(or_, tests, F.lit(False))), dict(sorted(others.items()))


def _said(df: DataFrame) -> list[Column] | None:
    """What each row says: as in 2.0, or where it is silent as in 1.0; files of both may stand below each other."""
    texts = [F.lit(None).cast("string")] * len(_COLUMNS)
    named = set(_COLUMNS) <= set(df.columns)
    if named:
        texts = [F.col(name).cast("string") for name in _COLUMNS]
    if "DATAFLOW" in df.columns:
        flow = F.col("DATAFLOW").cast("string")
        is_silent = reduce(and_, (one.isNull() for one in texts))
        kind = F.when(flow.isNotNull(), F.lit("dataflow"))
        return [F.when(is_silent, new).otherwise(one) for new, one in zip((kind, flow), texts, strict=True)]
    return texts if named else None


def _found(df: DataFrame, said: list[Column]) -> list[tuple[tuple[str | None, ...], Urn, int]]:
    """What rows say, the artefact that is, and how many say so."""
    shown = df.select(*(text.alias(name) for name, text in zip(_COLUMNS, said, strict=True)))
    rows = [tuple(row) for row in shown.groupBy(*_COLUMNS).count().collect()]
    return [((kind, id_), urn_of(kind, id_), count) for kind, id_, count in rows if (kind, id_) != (None, None)]
