"""Selection of the rows that belong to a structure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import reduce
from operator import and_, or_
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data.files import belongs_to
from kafka_replica.data.files.references import urn_of
from kafka_replica.data.validation.model import Rules
from kafka_replica.sdmx import Urn

_COLUMNS: Final = ("STRUCTURE", "STRUCTURE_ID")


def structures_in(df: DataFrame) -> tuple[Urn, ...]:
    """Return the artefacts that the rows name, each once; reads the frame. A version that is not given is ``*``.

    Raises:
        DatasetError: a row names something else.
    """
    said = _said(df)
    return () if said is None else tuple(sorted({urn for _, urn, _ in _found(df, said)}))


def rows_of(df: DataFrame, rules: Rules, usages: Collection[Urn] = ()) -> DataFrame:
    """Return the rows of the artefact of the rules, or of its data structure, and the rows that name no artefact.

    The function reads the frame to find the artefacts in it.

    Args:
        df: rows of SDMX-CSV.
        rules: the rules.
        usages: other artefacts to include: ``usages_of(structures, rules)``, for example the dataflows of a data
            structure.

    Raises:
        DatasetError: a row names something else.
    """
    return split_by_structure(df, rules, usages)[0]


def split_by_structure(df: DataFrame, rules: Rules, usages: Collection[Urn]) -> tuple[DataFrame, dict[Urn, int]]:
    """Return the result of :func:`rows_of`, and the number of other rows by the artefact they name; reads once."""
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
    """Return the artefact that each row names: as in 2.0, or else as in 1.0; files of both may be combined."""
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
    """Return the named artefacts as written and as URNs, with their numbers of rows."""
    shown = df.select(*(text.alias(name) for name, text in zip(_COLUMNS, said, strict=True)))
    rows = [tuple(row) for row in shown.groupBy(*_COLUMNS).count().collect()]
    return [((kind, id_), urn_of(kind, id_), count) for kind, id_, count in rows if (kind, id_) != (None, None)]
