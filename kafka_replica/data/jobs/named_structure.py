"""The structure that a data file names in its first row."""

from __future__ import annotations

import csv
import io
from itertools import islice
from pathlib import Path
from typing import Final, TextIO

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.content import seekable_content
from kafka_replica.data.files.csv_header import FIRST_CELL
from kafka_replica.data.files.csv_layout import LABEL
from kafka_replica.data.files.messages import structure_named_in
from kafka_replica.data.files.structure_references import urn_of
from kafka_replica.data.files.workbook import Workbook, csv_of
from kafka_replica.data.jobs.sources import Source
from kafka_replica.sdmx import Urn

_MARK: Final = "\ufeff"
_MOST: Final = 1 << 20  # the maximum number of characters that are read of a line


def artefact_of(source: Source, encoding: str | None = None) -> Urn:
    """Return the artefact that the first row of a file names.

    Its version is ``*`` if the file gives no version. A message is read only up to its first row.

    Args:
        source: the file.
        encoding: the encoding of a text file without a byte order mark; None means UTF-8.

    Raises:
        DatasetError: the file cannot be read, has no row, or names no artefact.
    """
    if source.kind == "sdmx-csv":
        return _of_csv(source, source.encoding or encoding or "utf-8-sig")
    if source.kind == "xlsx":
        with seekable_content(source.path, source.content) as file:
            table = next(Workbook(file, source.path, is_for_names=True).tables())
            content = csv_of(table.header, (row for _, row in islice(table.rows, 1)))
        return _of_table(io.StringIO(content.decode(), newline=""), source.path)
    if source.kind == "message":
        named = structure_named_in(source.path)
        if named is not None:
            return urn_of(*named, f"{source.path}, the first row")
        raise DatasetError(f"reading {source.path}: it has no row that names a structure; name the structure")
    raise DatasetError(f"reading {source.path}: files of this kind name no structure; name the structure")


def _of_csv(source: Source, encoding: str) -> Urn:
    try:
        with Path(source.path).open(encoding=encoding, newline="") as opened:
            return _of_table(opened, source.path)
    except (OSError, UnicodeError, LookupError, csv.Error, ValueError) as error:
        raise DatasetError(f"reading {source.path}: {error}") from error


def _of_table(opened: TextIO, path: str) -> Urn:
    # Files that were joined have their header, and a byte order mark before it, several times.
    lines = (line.removeprefix(_MARK) for line in iter(lambda: opened.readline(_MOST), ""))
    first = FIRST_CELL.match(next(filter(str.strip, lines), "").rstrip("\r\n"))
    name, separator = (None, ",") if first is None else (first["name"], first["separator"] or ",")
    rows = csv.reader(lines, delimiter=separator)
    row = next((row for row in rows if "".join(row).strip() and row[0] != name), [])
    if first is None or len(row) < 2:
        raise DatasetError(f"reading {path}: it has no row that names a structure; name the structure")
    if first["name"] == "DATAFLOW":
        return urn_of("dataflow", row[0].partition(LABEL)[0], f"{path}, the first row")
    return urn_of(row[0], row[1].partition(LABEL)[0], f"{path}, the first row")
