"""Test whether a text is one of a set of values."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import polars as pl


def is_in(text: pl.Expr, values: Iterable[str]) -> pl.Expr:
    """Return whether a text equals one of the values; NULL if the text is NULL."""
    every = _ordered(frozenset(values))
    if len(every) == 1:
        return text == pl.lit(every[0], pl.String)
    return text.is_in(every.implode(), nulls_equal=False)


@lru_cache(maxsize=64)
def _ordered(values: frozenset[str]) -> pl.Series:
    """Return the values in order; they are cached because each batch of a job needs the same ones."""
    return pl.Series(sorted(values), dtype=pl.String)
