"""Test whether a text is in a set."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl


def is_in(text: pl.Expr, values: Iterable[str]) -> pl.Expr:
    """Return whether a text equals one of the values; NULL if the text is NULL."""
    every = sorted(set(values))
    if len(every) == 1:
        return text == every[0]
    return text.is_in(pl.Series(every, dtype=pl.String).implode(), nulls_equal=False)
