r"""Match texts with regular expressions, including those that are too large for Rust, which expands repetitions.

A class such as ``\p{L}`` is large, and ``\p{L}{1,255}`` is 255 times as large. If Rust refuses an expression, Python's
``re`` matches it, value by value; its classes are then written as ranges of characters.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import groupby
from typing import Final

import polars as pl

from kafka_replica.sdmx.values.text_types import anchored

_CLASS_OR_CHARACTER: Final = re.compile(r"\\.|[\[\]]|[^\\\[\]]", re.DOTALL)


def matches_whole_text(text: pl.Expr, expression: str) -> pl.Expr:
    """Return whether an expression without anchors matches a whole text; NULL if the text is NULL."""
    whole = anchored(expression)
    if _is_small(whole):
        return text.str.contains(whole)
    found = re.compile(_python_form(expression))
    return text.map_elements(lambda value: found.fullmatch(value) is not None, return_dtype=pl.Boolean)


@lru_cache(maxsize=4096)
def _is_small(expression: str) -> bool:
    try:
        pl.Series([""]).str.contains(expression)
    except pl.exceptions.ComputeError:
        return False
    return True


def _python_form(expression: str) -> str:
    """Return the expression in Python's syntax, which has neither categories nor classes within classes."""
    written, depth, class_ = "", 0, ""
    for part in _CLASS_OR_CHARACTER.findall(expression):
        depth += {"[": 1, "]": -1}.get(part, 0)
        class_ += part
        if not depth:
            written += class_ if len(class_) == len(part) else _ranges(class_)
            class_ = ""
    return written


@cache
def _ranges(class_: str) -> str:
    """Return a class as ranges of the characters that Rust's class of that name contains."""
    inside = _characters().filter(_characters().str.contains(rf"\A{class_}\z")).to_list()
    runs = (list(run) for _, run in groupby(enumerate(map(ord, inside)), lambda pair: pair[1] - pair[0]))
    ranges = "".join(rf"\U{run[0][1]:08x}-\U{run[-1][1]:08x}" for run in runs)
    return f"[{ranges}]" if ranges else r"(?!)"


@cache
def _characters() -> pl.Series:
    """Return all Unicode characters except surrogates."""
    return pl.Series([chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000], dtype=pl.String)
