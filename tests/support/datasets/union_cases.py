"""Columns that have different types in two files, with the values that both engines must give."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any, Final, NamedTuple

import polars as pl


class UnionCase(NamedTuple):
    """A column of two files.

    Attributes:
        name: the name of the column.
        one: its values in the first file, typed.
        other: its values in the second file, typed.
        expected: the values of the rows of both files.
    """

    name: str
    one: pl.Series
    other: pl.Series
    expected: list[Any]


def _series(values: list[Any], kind: Any = None) -> pl.Series:
    return pl.Series(values, dtype=kind)


_DAY: Final = date(2020, 1, 1)
_TIMES: Final = pl.Series(["2020-01-01T10:00:00.5", "2020-01-02T00:00:00"]).str.to_datetime()
_MANY: Final = 9_007_199_254_740_993  # no double has this value

UNION_CASES: Final = (
    UnionCase("integers", _series([1, None], pl.Int32), _series([2, 3], pl.Int64), [1, None, 2, 3]),
    UnionCase(
        "doubles_and_texts", _series([1.0, 1e16]), _series(["2", "1.50"]), ["1", "10000000000000000", "2", "1.50"]
    ),
    UnionCase(
        "infinity_and_texts", _series([float("inf"), -0.1]), _series(["much", None]), ["INF", "-0.1", "much", None]
    ),
    UnionCase(
        "single_and_double_precision", _series([3.7, 1e-7], pl.Float32), _series([3.7, 2.0]),
        ["3.7", "0.0000001", "3.7", "2"],
    ),
    UnionCase(
        "integers_and_doubles", _series([_MANY, 1]), _series([0.5, 2.0]), ["9007199254740993", "1", "0.5", "2"]
    ),
    UnionCase(
        "decimals_and_doubles", _series([Decimal("12345678901234567.80"), None], pl.Decimal(20, 2)),
        _series([0.5, 2.0]), ["12345678901234567.8", None, "0.5", "2"],
    ),
    UnionCase(
        "decimals", _series([Decimal("1.50"), Decimal(2)], pl.Decimal(38, 2)),
        _series([Decimal("0.000000001"), None], pl.Decimal(38, 9)), ["1.5", "2", "0.000000001", None],
    ),
    UnionCase(
        "days_and_times", _series([_DAY, None]), _TIMES,
        ["2020-01-01", None, "2020-01-01T10:00:00.5", "2020-01-02T00:00:00"],
    ),
    UnionCase("days_and_texts", _series([_DAY, None]), _series(["2020", "2021"]), ["2020-01-01", None, "2020", "2021"]),
    UnionCase("truth_and_texts", _series([True, False]), _series(["x", None]), ["true", "false", "x", None]),
    UnionCase(
        "categories", _series(["a", "b"], pl.Enum(["a", "b"])), _series(["c", None], pl.Enum(["c"])),
        ["a", "b", "c", None],
    ),
    UnionCase("nothing_and_numbers", _series([None, None], pl.Int64), _series([0.5, 1.0]), [None, None, "0.5", "1"]),
    UnionCase("one_and_several", _series(["a", None]), _series([["b", "c"], None]), [["a"], None, ["b", "c"], None]),
    UnionCase(
        "several_numbers_and_texts", _series([[1.0, 2.5], [1e-7]]), _series([["a"], []]),
        [["1", "2.5"], ["0.0000001"], ["a"], []],
    ),
)  # fmt: skip


def union_frames() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return the two frames, with a column for each case, and the rows that both make."""
    one, other = (pl.DataFrame({case.name: getattr(case, which) for case in UNION_CASES}) for which in ("one", "other"))
    expected = pl.DataFrame({case.name: pl.Series(case.expected) for case in UNION_CASES})
    return one, other, expected
