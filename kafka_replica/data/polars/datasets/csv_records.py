"""Find the records in a chunk of a CSV file, the line of each, and those with a wrong number of cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.polars.datasets.csv_chunks import WHITESPACE, Chunk
from kafka_replica.data.polars.datasets.csv_quotes import with_stray_quotes_quoted


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
        data: the records, without blank lines, also of whitespace; a wrong row is replaced by empty cells, and cells
            with stray quotes are quoted.
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
        DatasetError: a quote is not doubled within a quoted cell.
    """
    data, first_line, outline, has_strays = chunk
    mark = separator.encode()
    is_plain = b'"' not in data and not data.startswith((b"\n", b"\r\n"))
    if not each and is_plain and b"\n\n" not in data and b"\n\r\n" not in data:
        count = data.count(b"\n")
        if data.count(mark) == count * (cells - 1):
            return Records(data, range(first_line, first_line + count))
    _check_quotes(outline, mark, first_line, path)
    outlines = outline.split(b"\n")[:-1]
    inner, begins = _lines_in(outline, outlines, first_line)
    found = [outline.count(mark) + 1 for outline in outlines]
    if all(one == cells for one in found) and (cells > 1 or all(outline.strip(WHITESPACE) for outline in outlines)):
        records = Records(data, begins)
    else:
        records = _kept(data, outlines, inner, begins, found, cells, mark)
    return records._replace(data=with_stray_quotes_quoted(records.data, mark)) if has_strays else records


def _lines_in(outline: bytes, outlines: Sequence[bytes], first_line: int) -> tuple[Sequence[int], Sequence[int]]:
    """Return the number of line breaks within each record, and the line on which it begins."""
    if b"\xff" not in outline:
        return [0] * len(outlines), range(first_line, first_line + len(outlines))
    inner = [one.count(b"\xff") for one in outlines]
    return inner, list(accumulate((1 + breaks for breaks in inner), initial=first_line))[:-1]


def _check_quotes(outline: bytes, mark: bytes, first_line: int, path: Path) -> None:
    """Check that quoted cells end where their quotes do, because polars leaves out other quotes within them.

    A cell that does not begin with a quote may contain quotes.
    """
    separator = re.escape(mark)
    wrong = rb'(?!\r\n)[^"\n\xff%b]' % separator
    if all(re.search(end + wrong, outline) is None for end in (b'"', b"\xff")):  # this is fast
        return
    found = re.search(rb'(?m)(?:^|%b)"\xff*%b' % (separator, wrong), outline)
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
