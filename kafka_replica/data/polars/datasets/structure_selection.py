"""Select rows by the structure that they name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

import polars as pl

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files import belongs_to
from kafka_replica.data.files.structure_references import urn_of
from kafka_replica.data.validation.model import Rules
from kafka_replica.sdmx import Urn

_COLUMNS = ["STRUCTURE", "STRUCTURE_ID"]


def structures_in(frame: pl.DataFrame) -> tuple[Urn, ...]:
    """Return the distinct artefacts that rows name, sorted; empty if they name none. A missing version is ``*``.

    Raises:
        DatasetError: the reference of a row is invalid.
    """
    named_rows = _named_artefacts(frame)
    return () if named_rows is None else tuple(sorted({urn for _, urn, _ in _artefact_counts(named_rows)}))


def rows_of(frame: pl.DataFrame, rules: Rules, usages: Collection[Urn] = ()) -> pl.DataFrame:
    """Return the rows that belong to the artefact of the rules or its data structure, and rows that name none.

    Args:
        frame: rows of SDMX-CSV.
        rules: the rules.
        usages: other artefacts to include: ``usages_of(structures, rules)``, for example the dataflows of a data
            structure.

    Raises:
        DatasetError: the reference of a row is invalid.
    """
    return split_by_structure(frame, rules, usages)[0]


def split_by_structure(
    frame: pl.DataFrame, rules: Rules, usages: Collection[Urn], where: Callable[[int], str] | None = None
) -> tuple[pl.DataFrame, dict[Urn, int]]:
    """Return the rows that :func:`rows_of` selects, and the number of other rows by the artefact that they name.

    Args:
        frame: rows of SDMX-CSV.
        rules: the rules.
        usages: other artefacts to include.
        where: returns the location of a row, from its position in the frame, for errors; None if it is unknown.

    Raises:
        DatasetError: the reference of a row is invalid; the error names the first such row.
    """
    named_rows = _named_artefacts(frame)
    if named_rows is None:
        return frame, {}
    meant: list[tuple[str | None, ...]] = [(None, None)]
    others: Counter[Urn] = Counter()
    for row, urn, count in _artefact_counts(named_rows, where):
        if belongs_to(urn, rules, usages):
            meant.append(row)
        else:
            others[urn] += count
    wanted = pl.DataFrame(meant, schema=dict.fromkeys(_COLUMNS, pl.String()), orient="row").with_columns(wanted=True)
    is_wanted = named_rows.join(wanted, on=_COLUMNS, how="left", nulls_equal=True, maintain_order="left")["wanted"]
    return frame.filter(is_wanted.fill_null(value=False)), dict(sorted(others.items()))


def _named_artefacts(frame: pl.DataFrame) -> pl.DataFrame | None:
    """Return the kind and reference of the artefact that each row names; None if the frame has no such columns.

    The columns of SDMX-CSV 2.0 take precedence over that of 1.0; a frame may combine files of both versions.
    """
    texts: list[pl.Expr] = [pl.lit(None, pl.String), pl.lit(None, pl.String)]
    named = set(_COLUMNS) <= set(frame.columns)
    if named:
        texts = [pl.col(name).cast(pl.String) for name in _COLUMNS]
    if "DATAFLOW" in frame.columns:
        flow = pl.col("DATAFLOW").cast(pl.String)
        is_silent = pl.all_horizontal(each.is_null() for each in texts)
        kind = pl.when(flow.is_not_null()).then(pl.lit("dataflow"))
        texts = [pl.when(is_silent).then(new).otherwise(each) for new, each in zip((kind, flow), texts, strict=True)]
    elif not named:
        return None
    return frame.select(text.alias(name) for name, text in zip(_COLUMNS, texts, strict=True))


def _artefact_counts(
    named_rows: pl.DataFrame, where: Callable[[int], str] | None = None
) -> list[tuple[tuple[str | None, ...], Urn, int]]:
    """Return each distinct kind and reference in rows, with its artefact and the number of rows."""
    rows = named_rows.group_by(_COLUMNS).len().rows()
    try:
        return [((kind, id_), urn_of(kind, id_), count) for kind, id_, count in rows if (kind, id_) != (None, None)]
    except DatasetError:
        if where is not None:
            _refuse_first(named_rows, where)
        raise


def _refuse_first(named_rows: pl.DataFrame, where: Callable[[int], str]) -> None:
    """Raise the error for the first row whose reference is invalid, with its location."""
    distinct = named_rows.with_row_index("row").unique(_COLUMNS, keep="first").sort("row")
    for row, kind, reference in distinct.select("row", *_COLUMNS).rows():
        if (kind, reference) != (None, None):
            urn_of(kind, reference, where(row))
