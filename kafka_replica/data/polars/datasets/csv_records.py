"""Find the records in a chunk of a CSV file, the line of each, and those with a wrong number of cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.polars.datasets.csv_chunks import WHITESPACE, Chunk

_QUOTED: Final = re.compile(rb'"[^"]*"')


class WrongRow(NamedTuple):
    """A row with more or fewer cells than the header.

    Attributes:
        at: the position of the row among the rows of its chunk.
        line: the line of the file on which the row begins.
        cells: the number of cells in the row.
        wanted: the number of cells that the row should have.
        text: the original text of the row, without its line end.
    """

    at: int
    line: int
    cells: int
    wanted: int
    text: str


class Records(NamedTuple):
    """The records of a chunk.

    Attributes:
        data: the records, without blank lines, also of whitespace; a wrong row is replaced by empty cells.
        lines: the line of the file on which each record begins.
        wrong: the wrong rows.
    """

    data: bytes
    lines: Sequence[int]
    wrong: Sequence[WrongRow] = ()


def records_in(chunk: Chunk, cells: int, separator: str, path: Path, *, each: bool = False) -> Records:
    """Return the records of a chunk.

    Args:
        chunk: the chunk.
        cells: the number of cells in the header.
        separator: the separator of cells.
        path: the file, for errors.
        each: whether to check each record even if the chunk has the right number of separators in total. Without this
            check, a long row and a short row may cancel out; polars then rejects the long row.

    Raises:
        DatasetError: a quote is not closed, or not doubled within a quoted cell.
    """
    data, first_line = chunk
    mark = separator.encode()
    is_plain = b'"' not in data and not data.startswith((b"\n", b"\r\n"))
    if not each and is_plain and b"\n\n" not in data and b"\n\r\n" not in data:
        count = data.count(b"\n")
        if data.count(mark) == count * (cells - 1):
            return Records(data, range(first_line, first_line + count))
    if data.count(b'"') % 2:
        raise DatasetError(
            f"reading {path}: after line {first_line - 1}: is a quote not closed, or not at the beginning of a cell?"
        )
    outline = _outline(data)
    _check_quotes(outline, mark, first_line, path)
    outlines = outline.split(b"\n")[:-1]
    inner = [outline.count(b"\xff") for outline in outlines]
    begins = list(accumulate((1 + breaks for breaks in inner), initial=first_line))[:-1]
    found = [outline.count(mark) + 1 for outline in outlines]
    if all(one == cells for one in found) and (cells > 1 or all(outline.strip(WHITESPACE) for outline in outlines)):
        return Records(data, begins)
    return _kept(data, outlines, inner, begins, found, cells, mark)


def _outline(data: bytes) -> bytes:
    """Return the data without the content of quoted texts, so that separators and line breaks can be counted.

    Each quoted text is replaced by a quote, followed by a byte FF for each line break in the text.
    """
    if b'"' not in data:
        return data
    short = str(pl.select(pl.lit(data.decode()).str.replace_all('"[^"]*"', '"')).item()).encode()
    if short.count(b"\n") == data.count(b"\n"):
        return short
    return _QUOTED.sub(lambda found: b'"' + b"\xff" * found[0].count(b"\n"), data)


def _check_quotes(outline: bytes, mark: bytes, first_line: int, path: Path) -> None:
    """Check that quoted cells end where their quotes do, because polars leaves out other quotes within them.

    A cell that does not begin with a quote may contain quotes.
    """
    separator = re.escape(mark)
    if re.search(rb'"(?!\r\n)[^"\n\xff%b]' % separator, outline) is None:  # this is fast
        return
    found = re.search(rb'(?m)(?:^|%b)"["\xff]*(?!\r\n)[^"\n\xff%b]' % (separator, separator), outline)
    if found is not None:
        before = outline[: found.start()]
        line = first_line + before.count(b"\n") + before.count(b"\xff")
        raise DatasetError(
            f'reading {path}: line {line}: a quoted cell has a quote that is not doubled; within quotes write "" for "'
        )


def _kept(
    data: bytes, outlines: Sequence[bytes], inner: Sequence[int], begins: Sequence[int], found: Sequence[int],
    cells: int, mark: bytes,
) -> Records:  # fmt: skip
    """Return the records without blank lines, also of whitespace, and with empty cells instead of wrong rows."""
    lines = data.split(b"\n")
    empty = mark * (cells - 1) or b'""'
    records: list[bytes] = []
    kept: list[int] = []
    wrong: list[WrongRow] = []
    at = 0
    for outline, breaks, line, count in zip(outlines, inner, begins, found, strict=True):
        record = lines[at] if not breaks else b"\n".join(lines[at : at + breaks + 1])
        at += breaks + 1
        if count == 1 and not outline.strip(WHITESPACE):
            continue
        if count != cells:
            wrong.append(WrongRow(len(records), line, count, cells, record.removesuffix(b"\r").decode()))
            record = empty
        records.append(record)
        kept.append(line)
    return Records(b"".join(each + b"\n" for each in records), kept, wrong)
