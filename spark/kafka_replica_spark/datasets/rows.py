"""Select rows by the structure that they name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import reduce
from operator import and_, or_
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data.files import belongs_to
from kafka_replica.data.files.structure_references import urn_of
from kafka_replica.data.validation.model import Rules
from kafka_replica.sdmx import Urn

_COLUMNS: Final = ("STRUCTURE", "STRUCTURE_ID")


def structures_in(df: DataFrame) -> tuple[Urn, ...]:
    """Return the distinct artefacts that rows name, sorted; empty if they name none. A missing version is ``*``.

    This reads the frame.

    Raises:
        DatasetError: the reference of a row is invalid.
    """
    texts = _named_artefacts(df)
    return () if texts is None else tuple(sorted({urn for _, urn, _ in _artefact_counts(df, texts)}))


def rows_of(df: DataFrame, rules: Rules, usages: Collection[Urn] = ()) -> DataFrame:
    """Return the rows that belong to the artefact of the rules or its data structure, and rows that name none.

    This reads the frame to find the artefacts in it.

    Args:
        df: rows of SDMX-CSV.
        rules: the rules.
        usages: other artefacts to include: ``usages_of(structures, rules)``, for example the dataflows of a data
            structure.

    Raises:
        DatasetError: the reference of a row is invalid.
    """
    return split_by_structure(df, rules, usages)[0]


def split_by_structure(
    df: DataFrame, rules: Rules, usages: Collection[Urn], files: str = "data"
) -> tuple[DataFrame, dict[Urn, int]]:
    """Return the rows that :func:`rows_of` selects, and the number of other rows by the artefact that they name.

    This reads the frame once.

    Args:
        df: rows of SDMX-CSV.
        rules: the rules.
        usages: other artefacts to include.
        files: the files of the rows, for errors.

    Raises:
        DatasetError: the reference of a row is invalid.
    """
    texts = _named_artefacts(df)
    if texts is None:
        return df, {}
    meant: list[tuple[str | None, ...]] = []
    others: Counter[Urn] = Counter()
    for row, urn, count in _artefact_counts(df, texts, files):
        if belongs_to(urn, rules, usages):
            meant.append(row)
        else:
            others[urn] += count
    if not others:
        return df, {}
    tests = [
        reduce(and_, (text.eqNullSafe(F.lit(value)) for text, value in zip(texts, row, strict=True)))
        for row in [(None, None), *meant]
    ]
    return df.filter(reduce(or_, tests, F.lit(False))), dict(sorted(others.items()))


def _named_artefacts(df: DataFrame) -> list[Column] | None:
    """Return the kind and reference of the artefact that each row names; None if the frame has no such columns.

    The columns of SDMX-CSV 2.0 take precedence over that of 1.0; a frame may combine files of both versions.
    """
    texts = [F.lit(None).cast("string")] * len(_COLUMNS)
    named = set(_COLUMNS) <= set(df.columns)
    if named:
        texts = [F.col(name).cast("string") for name in _COLUMNS]
    if "DATAFLOW" in df.columns:
        flow = F.col("DATAFLOW").cast("string")
        is_silent = reduce(and_, (text.isNull() for text in texts))
        kind = F.when(flow.isNotNull(), F.lit("dataflow"))
        return [F.when(is_silent, new).otherwise(text) for new, text in zip((kind, flow), texts, strict=True)]
    return texts if named else None


def _artefact_counts(
    df: DataFrame, texts: list[Column], files: str = "data"
) -> list[tuple[tuple[str | None, ...], Urn, int]]:
    """Return each distinct kind and reference in rows, with its artefact and the number of rows."""
    shown = df.select(*(text.alias(name) for name, text in zip(_COLUMNS, texts, strict=True)))
    rows = [tuple(row) for row in shown.groupBy(*_COLUMNS).count().collect()]
    where = f"a row of {files}"
    return [((kind, id_), urn_of(kind, id_, where), count) for kind, id_, count in rows if (kind, id_) != (None, None)]
