"""Which rows are of which structure."""

from __future__ import annotations

import polars as pl

from kafka_replica.datasets import belongs_to, urn_of
from kafka_replica.rules.model import Rules
from kafka_replica.sdmx import Urn

_COLUMNS = ["STRUCTURE", "STRUCTURE_ID"]


def structures_in(frame: pl.DataFrame) -> tuple[Urn, ...]:
    """What the rows say they are of, each once; nothing where they do not say. A version that is not given is ``*``.

    Raises:
        DatasetError: a row says something else.
    """
    return tuple(sorted({urn for _, urn in _found(frame)}))


def rows_of(frame: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """The rows that are of what the rules are for, or of its data structure, and those that do not say.

    Raises:
        DatasetError: a row says something else.
    """
    said = _said(frame)
    if said is None:
        return frame
    silent = (None,) * len(said.columns)
    meant = [silent, *(row for row, urn in _found(frame) if belongs_to(urn, rules))]
    wanted = pl.DataFrame(meant, schema=dict.fromkeys(said.columns, pl.String()), orient="row")
    return frame.join(wanted, on=said.columns, how="semi", nulls_equal=True, maintain_order="left")


def _said(frame: pl.DataFrame) -> pl.DataFrame | None:
    if set(_COLUMNS) <= set(frame.columns):
        return frame.select(_COLUMNS).unique()
    return frame.select("DATAFLOW").unique() if "DATAFLOW" in frame.columns else None


def _found(frame: pl.DataFrame) -> list[tuple[tuple[str | None, ...], Urn]]:
    said = _said(frame)
    rows = [] if said is None else [row for row in said.rows() if any(one is not None for one in row)]
    return [(row, urn_of(*row) if len(row) == len(_COLUMNS) else urn_of("dataflow", row[0])) for row in rows]
