"""Checks that compare rows: duplicate keys, and attributes within their series, group or data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

import polars as pl

from kafka_replica.data.polars.prepared_frame import PreparedFrame, joined_key
from kafka_replica.data.validation.conditions import Condition, Constant
from kafka_replica.data.validation.model import KeyCheck, LevelCheck
from kafka_replica.data.validation.report_building import Extent

Comparison: TypeAlias = KeyCheck | LevelCheck
Hit: TypeAlias = tuple[Comparison, pl.DataFrame, pl.Expr]
"""A check, the rows that violate it, and the value to show."""


def flagged_rows(rows: PreparedFrame) -> Iterator[Hit]:
    """Yield each check with the rows that violate it, and the value to show."""
    bound = rows.bound
    if not (bound.keys or bound.levels):
        return
    counted = comparable_rows(rows)
    for key_check in bound.keys:
        hit = duplicate_rows(with_keys(counted, key_check, rows), key_check.components)
        if hit.height:
            yield key_check, hit, value_of(key_check, rows)
    for level, checks in groupby(bound.levels, key=lambda check: check.level):
        same = list(checks)
        for check, wrong in zip(same, wrong_groups(counted, level, same), strict=True):
            hit = rows_in_groups(counted, check, wrong, rows)
            if hit.height:
                yield check, hit, value_of(check, rows)


def comparable_rows(rows: PreparedFrame) -> pl.DataFrame:
    """Return the rows that are compared with each other, which excludes deletions."""
    return _filtered(rows.to_compare(), rows.bound.applies_to, rows)


def with_keys(counted: pl.DataFrame, check: KeyCheck, rows: PreparedFrame) -> pl.DataFrame:
    """Return those of the comparable rows whose keys the check compares."""
    return _filtered(counted, check.compared, rows)


def _filtered(found: pl.DataFrame, condition: Condition, rows: PreparedFrame) -> pl.DataFrame:
    return found if condition == Constant(value=True) else found.filter(rows.expressions.condition(condition))


def duplicate_rows(counted: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the rows whose values in these columns equal those of another row."""
    return counted.filter(pl.struct(list(names)).is_duplicated()) if counted.height else counted


def wrong_groups(
    counted: pl.DataFrame, level: Sequence[str], checks: Sequence[LevelCheck]
) -> Iterator[pl.DataFrame]:  # fmt: skip
    """Yield, for each check of one level, the values of ``level`` in the groups that violate it."""
    groups = counted.group_by(level).agg(**{str(number): _differs(check) for number, check in enumerate(checks)})
    for number in range(len(checks)):
        yield groups.filter(pl.col(str(number))).select(level)


def rows_in_groups(counted: pl.DataFrame, check: LevelCheck, wrong: pl.DataFrame, rows: PreparedFrame) -> pl.DataFrame:
    """Return the rows of wrong groups that the check flags."""
    if not wrong.height:
        return counted.clear()
    hit = counted.join(wrong, on=check.level, how="semi", nulls_equal=True, maintain_order="left")
    hit = hit.filter(rows.expressions.condition(check.flagged))
    return hit.filter(pl.col(check.component).is_not_null()) if check.demand == "same" else hit


def value_of(check: Comparison, rows: PreparedFrame) -> pl.Expr:
    """Return the value that a finding shows."""
    if isinstance(check, KeyCheck):
        return joined_key([pl.col(component) for component in check.components])
    return rows.shown_text(check.component)


def _differs(check: LevelCheck) -> pl.Expr:
    column = pl.col(check.component)
    return column.is_null().all() if check.demand == "given" else column.min() != column.max()


def attribute_extents(rows: PreparedFrame) -> list[Extent]:
    """Return the extreme values of each attribute of the data set, for the checks of the data set as a whole."""
    checks = rows.bound.whole
    if not checks:
        return []
    counted = comparable_rows(rows)
    found: list[Extent] = []
    for check in checks:
        flagged = counted.filter(rows.expressions.condition(check.flagged)).height
        value = rows.shown_text(check.component)
        found.append(Extent(flagged, *counted.select(least=value.min(), greatest=value.max()).row(0)))
    return found


def merged_extents(one: Sequence[Extent], other: Sequence[Extent]) -> list[Extent]:
    """Return the extreme values of attributes in the union of two sets of rows."""
    return [
        Extent(
            left.rows + right.rows,
            min((least for least in (left.least, right.least) if least is not None), default=None),
            max((most for most in (left.greatest, right.greatest) if most is not None), default=None),
        )
        for left, right in zip(one, other, strict=True)
    ]
