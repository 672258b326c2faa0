"""Tell quotes around the cells of a CSV file from quotes that are letters of a cell.

A cell that begins with a quote ends with one. All quotes in other cells, as in ``5" pipe``, are letters. They are
called stray quotes here: separators and line breaks after them end cells and rows as usual.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

import polars as pl

QUOTE: Final = b'"'
_QUOTED: Final = re.compile(rb'(?:"[^"]*+")+')


def outline_of(data: bytes) -> bytes:
    """Return the data without the content of quoted texts, so that separators and line breaks can be counted.

    Each quoted text is replaced by a quote, followed by a byte FF for each line break in the text. The outline is right
    if :func:`is_regular` says so; it pairs all quotes.
    """
    if QUOTE not in data:
        return data
    short = str(pl.select(pl.lit(data.decode()).str.replace_all('(?:"[^"]*")+', '"')).item()).encode()
    if short.count(b"\n") == data.count(b"\n"):
        return short
    return _QUOTED.sub(lambda found: QUOTE + b"\xff" * found[0].count(b"\n"), data)


def is_regular(outline: bytes, mark: bytes) -> bool:
    """Return whether each quoted text begins a cell, so that there are no stray quotes.

    Args:
        outline: the outline of data that begins with a record.
        mark: the separator of cells.
    """
    # The pattern begins with the quote, because the search for a fixed character is fast.
    return re.search(rb'"(?<=[^\n%b]")' % re.escape(mark), outline) is None


def without_stray_quotes(data: bytes, mark: bytes) -> bytes:
    """Return data in which another character replaces each stray quote; all positions remain.

    Args:
        data: data that begins with a record.
        mark: the separator of cells.
    """
    if QUOTE not in data:
        return data
    strays = [found.start() for found in _quotes(data, mark) if found.lastindex is None]
    if not strays:
        return data
    letter, changed = ord("x" if mark == b"'" else "'"), bytearray(data)
    for at in strays:
        changed[at] = letter
    return bytes(changed)


def with_stray_quotes_quoted(data: bytes, mark: bytes) -> bytes:
    """Return whole records in which all cells with stray quotes are quoted, because polars pairs any two quotes.

    Args:
        data: whole records, whose quoted cells end where their quotes do.
        mark: the separator of cells.
    """
    parts: list[bytes] = []
    done = 0
    for found in _quotes(data, mark):
        at = found.start()
        if at < done or found.lastindex is not None:
            continue
        begin, end = _cell_at(data, at, done, mark)
        parts += [data[done:begin], QUOTE, data[begin:end].replace(QUOTE, QUOTE * 2), QUOTE]
        done = end
    return b"".join([*parts, data[done:]])


def last_opened(data: bytes, mark: bytes) -> int:
    """Return the position of the last quote that begins a cell; 0 if there is none."""
    return max((found.start() for found in _quotes(data, mark) if found.lastindex is not None), default=0)


def _quotes(data: bytes, mark: bytes) -> Iterator[re.Match[bytes]]:
    """Yield quoted texts, as a group, and stray quotes, from data that begins with a record."""
    return _any_quote(mark).finditer(data)


@cache
def _any_quote(mark: bytes) -> re.Pattern[bytes]:
    # See is_regular for the place of the first quote.
    quoted = rb'[^"]*+(?:""[^"]*+)*+(?:"|\Z)'
    return re.compile(rb'(?m)"((?:(?<=^")|(?<=%b"))%b)?' % (re.escape(mark), quoted))


def _cell_at(data: bytes, at: int, done: int, mark: bytes) -> tuple[int, int]:
    """Return the begin and end of the cell with a stray quote; ``done`` is the end of an earlier cell, or 0."""
    row = data.rfind(b"\n", done, at) + 1
    begin = data.rfind(mark, max(row, done), at) + 1 or row
    row_end = data.find(b"\n", at)
    end = data.find(mark, at, row_end)
    if end < 0:
        end = row_end - 1 if data[row_end - 1 : row_end] == b"\r" else row_end
    return begin, end
