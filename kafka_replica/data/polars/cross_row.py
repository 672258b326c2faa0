"""Checks that compare rows: duplicate keys, and attributes within their series, group or data set."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import polars as pl

from kafka_replica.data.polars.rows import Prepared, joined
from kafka_replica.data.validation.model import KeyCheck, LevelCheck
from kafka_replica.data.validation.report_building import Extent


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
                    yield check, hit, rows.told(check.component)


def _differs(check: LevelCheck) -> pl.Expr:
    column = pl.col(check.component)
    return column.is_null().all() if check.demand == "given" else column.min() != column.max()


def extents(rows: Prepared) -> list[Extent]:
    """Return the values of the attributes of the data set."""
    checks = rows.bound.whole
    if not checks:
        return []
    counted = rows.to_compare().filter(rows.expressions.condition(rows.bound.applies_to))
    found: list[Extent] = []
    for check in checks:
        flagged = counted.filter(rows.expressions.condition(check.flagged))
        value = rows.told(check.component)
        found.append(Extent(flagged.height, *flagged.select(least=value.min(), greatest=value.max()).row(0)))
    return found
