"""Checks that compare rows: duplicate keys, and attributes within their series, group or data set."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import polars as pl

from kafka_replica.data.polars.rows import Prepared, joined
from kafka_replica.data.validation.model import Finding, KeyCheck, LevelCheck


def flagged_rows(rows: Prepared) -> Iterator[tuple[KeyCheck | LevelCheck, pl.DataFrame, pl.Expr]]:
    """Yield each check with the rows that violate it, and the value to show."""
    bound = rows.bound
    if not (bound.keys or bound.levels):
        return
    counted = rows.to_compare().filter(rows.expressions.condition(bound.applies_to))
    for key_check in bound.keys:
        names = list(key_check.components)
        hit = counted.filter(pl.struct(names).is_duplicated()) if counted.height else counted
        if hit.height:
            yield key_check, hit, joined([pl.col(one) for one in names])
    for level, checks in groupby(bound.levels, key=lambda check: check.level):
        alike = list(checks)
        groups = counted.group_by(level).agg(**{str(number): _differs(check) for number, check in enumerate(alike)})
        for number, check in enumerate(alike):
            wrong = groups.filter(pl.col(str(number))).select(level)
            if wrong.height:
                hit = counted.join(wrong, on=level, how="semi", nulls_equal=True, maintain_order="left")
                hit = hit.filter(rows.expressions.condition(check.flagged))
                if check.demand == "same":
                    hit = hit.filter(pl.col(check.component).is_not_null())
                if hit.height:
                    yield check, hit, rows.told(pl.col(check.component))


def _differs(check: LevelCheck) -> pl.Expr:
    column = pl.col(check.component)
    return column.is_null().all() if check.demand == "given" else column.min() != column.max()


def whole_findings(rows: Prepared) -> Iterator[Finding]:
    """Yield the findings about attributes of the data set."""
    if not rows.bound.whole:
        return
    expressions = rows.expressions
    living = rows.to_compare().filter(expressions.condition(rows.bound.applies_to))
    for check in rows.bound.whole:
        counted = living.filter(expressions.condition(check.flagged))
        if not counted.height:
            continue
        values = counted.select(rows.told(pl.col(check.component).drop_nulls().unique().sort())).to_series()
        if check.demand == "given" and not values.len():
            yield Finding(check.rule, check.component, None, check.message, check.severity, check.artefact)
        if check.demand == "same" and values.len() > 1:
            some = f"{values[0]}, {values[-1]}"
            yield Finding(check.rule, check.component, some, check.message, check.severity, check.artefact)
