"""Read files as text in any encoding, and check that all rows have as many cells as the first."""

from __future__ import annotations

import codecs
import csv
import glob
import io
import re
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from kafka_replica.common.wording import counted
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.content import read_content
from kafka_replica.errors import ConfigurationError, UsageError

Paths: TypeAlias = str | Path | Sequence[str | Path]

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BLANK_LINES: Final = re.compile(r'"[^"]*"|(?P<end>\r?\n)(?:\r?\n)+')
"""An expression that skips quoted text, because line breaks within quotes do not end a line."""


def csv_files(paths: Paths) -> Iterator[Path]:
    """Yield the files of paths: ``*.csv`` and ``*.csv.gz`` in a folder, in order, and all matches of a pattern.

    Raises:
        UsageError: a file does not exist, or a folder has no such files.
    """
    for path in map(Path, [paths] if isinstance(paths, str | Path) else paths):
        for one in _fitting(path):
            yield from _in_folder(one) if one.is_dir() else [one]


def _fitting(path: Path) -> list[Path]:
    """Return the files of a path; if a file has the pattern itself as its name, that file."""
    if path.exists() or not glob.has_magic(str(path)):
        return [path]
    found = sorted(map(Path, glob.glob(str(path), recursive=True)))  # noqa: PTH207 - takes absolute patterns
    if not found:
        raise UsageError(f"reading {path}: no file or folder fits this pattern")
    return found


def _in_folder(folder: Path) -> list[Path]:
    found = sorted(one for one in folder.rglob("*") if one.name.endswith((".csv", ".csv.gz")) and one.is_file())
    if not found:
        raise UsageError(f"reading the folder {folder}: no file in it is called *.csv or *.csv.gz")
    return found


class Text(NamedTuple):
    """The text of a file.

    Attributes:
        text: the text, without blank lines before and after it.
        encoding: its encoding, as Python calls it; with ``utf-8-sig`` and ``utf-16`` a byte order mark comes first.
        first_line: the line of the file on which the text begins, from 1.
    """

    text: str
    encoding: str
    first_line: int


def text_of(path: Path, encoding: str | None, content: bytes | None = None) -> Text:
    """Return the content of a file as text.

    The encoding is that of its byte order mark, else the given encoding, else UTF-8. ``content`` is the content, if it
    was read before.

    Raises:
        UsageError: the file cannot be opened.
        ConfigurationError: the encoding is unknown.
        DatasetError: the file is not in that encoding.
    """
    data = read_content(path) if content is None else content
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    name = marked or encoding or "utf-8"
    try:
        decoded = data.decode(name)
    except LookupError as error:
        raise ConfigurationError(f"reading {path}: Python knows no encoding {name!r}") from error
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"reading {path}: it is not {name}, see byte {error.start}; say its encoding (encoding=, or --encoding), "
            "for example cp1252"
        ) from error
    text = decoded.lstrip("\r\n")
    blank = decoded[: len(decoded) - len(text)]
    return Text(text.rstrip("\r\n") + "\n", name, 1 + len(blank.splitlines()))


def rows_in(read: Text, cells: int, separator: str, path: Path) -> tuple[str, Sequence[int]]:
    """Return the text without blank lines, and the line of the file on which each row after the header begins.

    Rows are checked for their number of cells; polars makes NULLs of blank lines and of missing cells.

    Raises:
        DatasetError: a row has more or fewer cells than the first.
    """
    has_blank = "\n\n" in read.text or "\n\r\n" in read.text
    rows = _BLANK_LINES.sub(_one_line_end, read.text) if has_blank else read.text
    if has_blank or '"' in rows or rows.count(separator) != rows.count("\n") * (cells - 1):
        return rows, check_each(read, cells, separator, path)
    # otherwise the rows are almost certainly right: a long row may offset a short one, but polars rejects long rows
    return rows, range(read.first_line + 1, read.first_line + rows.count("\n"))


def _one_line_end(found: re.Match[str]) -> str:
    return found["end"] or found[0]


def check_each(read: Text, cells: int, separator: str, path: Path) -> Sequence[int]:
    """Return the line of the file on which each row after the header begins.

    Raises:
        DatasetError: a row has more or fewer cells than the first; the message names the line.
    """
    reader = csv.reader(io.StringIO(read.text, newline=""), delimiter=separator)
    begins = array("L")
    end, before = read.first_line, read.first_line - 1
    try:
        for row in reader:
            if row and len(row) != cells:
                line = before + reader.line_num
                raise DatasetError(
                    f"reading {path}: line {line} has {counted(len(row), 'cell')}, the first row {cells}"
                )
            if row:
                begins.append(end)
            end = before + reader.line_num + 1
    except csv.Error as error:
        raise DatasetError(f"reading {path}: line {before + reader.line_num}: {error}") from error
    return begins[1:]
