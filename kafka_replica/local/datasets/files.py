"""Files as text, whatever their encoding, and whether all rows have as many cells as the first."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from kafka_replica.errors import DatasetError, UsageError

Paths: TypeAlias = str | Path | Sequence[str | Path]

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_GZIP: Final = b"\x1f\x8b"


def csv_files(paths: Paths) -> Iterator[Path]:
    """The files meant; of a folder all that are called ``*.csv`` or ``*.csv.gz``, in order.

    Raises:
        UsageError: there is no such file, or nothing in the folder.
    """
    for path in map(Path, [paths] if isinstance(paths, str | Path) else paths):
        if not path.is_dir():
            yield path
            continue
        found = sorted(one for one in path.rglob("*") if one.name.endswith((".csv", ".csv.gz")) and one.is_file())
        if not found:
            raise UsageError(f"reading the folder {path}: no file in it is called *.csv or *.csv.gz")
        yield from found


def text_of(path: Path, encoding: str | None) -> str:
    """What a file holds; its byte order mark decides the encoding, then what was said, then UTF-8.

    Raises:
        UsageError: it cannot be opened, or there is no such encoding.
        DatasetError: it is not in that encoding.
    """
    try:
        data = path.read_bytes()
        if data.startswith(_GZIP):
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"reading {path}: {getattr(error, 'strerror', None) or error}") from error
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    name = marked or encoding or "utf-8"
    try:
        return data.decode(name)
    except LookupError as error:
        raise UsageError(f"reading {path}: Python knows no encoding {name!r}") from error
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"reading {path}: it is not {name}, see byte {error.start}; say encoding=, for example cp1252"
        ) from error


def check_rows(text: str, cells: int, separator: str, path: Path) -> None:
    """Polars fills short rows up, so these are looked for beforehand.

    Raises:
        DatasetError: a row has more or fewer cells than the first.
    """
    lines = text.count("\n") + (not text.endswith("\n"))
    if '"' not in text and "\n\n" not in text and text.count(separator) == lines * (cells - 1):
        return  # nearly surely: too many in one row may make up for another's lack, and polars refuses these
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        for row in reader:
            if row and len(row) != cells:
                raise DatasetError(
                    f"reading {path}: line {reader.line_num} has {len(row)} cells, the first row {cells}"
                )
    except csv.Error as error:
        raise DatasetError(f"reading {path}: line {reader.line_num}: {error}") from error
