"""Find the files that the paths of a command denote, and the kind of data in each."""

from __future__ import annotations

import codecs
import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.archives import BETWEEN, ZIP, files_in_archive, is_hidden, open_archive
from kafka_replica.data.files.arrow_messages import ARROW_FILE
from kafka_replica.data.files.content import beginning_of, read_content
from kafka_replica.data.files.csv_header import FIRST_CELL, SEPARATORS, separator_of
from kafka_replica.data.files.other_formats import check_is_csv, check_no_page, is_structure_message
from kafka_replica.data.jobs.stored_input import StoredInput
from kafka_replica.errors import UsageError

Kind: TypeAlias = Literal["sdmx-csv", "csv", "parquet", "arrow", "message", "xlsx"]
"""The kind of data: SDMX-CSV; plain CSV with component ids as column names; Parquet; Arrow IPC; a data message
(SDMX-ML, SDMX-JSON or SDMX-EDI); or tables on the sheets of a workbook."""

_SUFFIXES: Final[dict[str, Kind]] = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".xml": "message", ".json": "message",
    ".edi": "message", ".ges": "message", ".xlsx": "xlsx", ".arrow": "arrow", ".arrows": "arrow", ".feather": "arrow",
    ".ipc": "arrow",
}  # fmt: skip
ARROW_BEGINNINGS: Final = (ARROW_FILE, b"\xff\xff\xff\xff")
"""The first bytes of a file and of a stream of Arrow IPC."""
_NAMES: Final = "*.csv, *.parquet, *.arrow, *.xml, *.json, *.edi or *.xlsx"
_COMPRESSED: Final = (".gz", ".zst", ".zstd", ".zip")
_HEAD_BYTES: Final = 1 << 16
_BLANK_LINES: Final = re.compile(r"\A[\x00- ]*\n")
STDIN: Final = "-"


@dataclass(frozen=True, slots=True)
class Source:
    """The location and kind of data.

    Attributes:
        kind: the kind.
        path: the location: a path or URL, ``-`` for standard input, ``archive.zip!/data.csv`` for a file in an archive.
        encoding: the encoding of text if a byte order mark shows that it is UTF-16, else None.
        stdin: standard input, which can be read only once; None for files.
        separator: the separator of cells in plain CSV, detected in its header; None for other kinds.
    """

    kind: Kind
    path: str
    encoding: str | None = None
    stdin: StoredInput | None = field(default=None, repr=False)
    separator: str | None = None

    @property
    def content(self) -> Path | None:
        """Return the file with the content of standard input, which may be compressed; None for files."""
        return None if self.stdin is None else self.stdin.path

    @property
    def is_packed(self) -> bool:
        """Return whether the data is standard input, or compressed according to its name.

        Libraries that open the path themselves cannot read such data.
        """
        name = self.path.lower()
        return self.stdin is not None or BETWEEN in name or name.endswith(_COMPRESSED)

    def read(self) -> bytes:
        """Return the decompressed content.

        Raises:
            UsageError: the file cannot be opened.
            DatasetError: the file cannot be decompressed.
        """
        return read_content(self.path, self.content)


def sources_of(paths: Iterable[str], note: Callable[[str], object] | None = None) -> tuple[Source, ...]:
    """Return the sources of data that paths denote.

    A path is a file, which may be compressed (gzip, zstd, or zip with one or more files), a folder of such files, ``-``
    for standard input, or a URL such as ``hdfs://...`` that only Spark can read. Folders are searched recursively,
    without hidden files. Structure messages in folders and archives are left out, because data is often sent together
    with its structures, and so are files whose names do not show a format of data.

    Args:
        paths: the paths.
        note: is called with a sentence for each file that is left out.

    Raises:
        UsageError: the paths denote no data, or the name of a file does not show its kind.
        DatasetError: a file cannot be decompressed, an archive contains an archive, standard input is empty, or the
            first bytes of a file with the name of CSV show another format.
    """
    report = note or _nothing
    found = tuple(source for path in paths for source in _sources(path, report))
    if not found:
        raise UsageError(f"no data: name files, folders or archives of {_NAMES}, or - for standard input")
    return found


def _nothing(sentence: str) -> None:
    del sentence


def separators_in_words(sources: Iterable[Source]) -> Iterator[str]:
    """Yield a sentence for each file of plain CSV whose cells are not separated by commas."""
    for source in sources:
        if source.separator not in {None, ","}:
            yield f"{source.path}: cells are separated by {SEPARATORS[source.separator or ',']}"


def _sources(path: str, note: Callable[[str], object]) -> Iterator[Source]:
    if path == STDIN:
        yield _of_input(StoredInput(sys.stdin.buffer))
        return
    if "://" in path:
        yield Source(_kind(path.rstrip("/")) or "sdmx-csv", path)
        return
    place = Path(path)
    if not place.exists():
        raise UsageError(f"there is no file or folder {path}")
    if not place.is_dir():
        yield from _of_file(place, note)
        return
    for file in sorted(each for each in place.rglob("*") if each.is_file() and not is_hidden(each.relative_to(place))):
        if file.suffix.lower() == ".zip":
            yield from _of_file(file, note)
        else:
            yield from _of_member(_kind(file.name), str(file), note)


def _of_file(file: Path, note: Callable[[str], object]) -> Iterator[Source]:
    """Yield the source for a file, or one for each file in an archive, in the order of their names."""
    kind = _kind(file.name)
    if file.suffix.lower() == ".zip" and (kind is None or zipfile.is_zipfile(file)):
        with open_archive(file) as archive:
            kinds: dict[str, Kind | None] = {name: _kind(name) for name in sorted(files_in_archive(archive, str(file)))}
            if not any(kinds.values()):
                raise UsageError(f"{file}: it contains no file named {_NAMES}")
            for name, inner in kinds.items():
                yield from _of_member(inner, f"{file}{BETWEEN}{name}", note, archive)
        return
    if kind is None:
        raise UsageError(f"{file}: its name does not state its format; name it {_NAMES}")
    yield _with_kind(kind, str(file))


def _of_member(
    kind: Kind | None, path: str, note: Callable[[str], object], archive: zipfile.ZipFile | None = None
) -> Iterator[Source]:
    """Yield the source for a file in a folder or an opened archive, unless the file is left out."""
    if kind is None:
        note(f"{path} is left out: its name does not state a format of data")
    elif kind == "message" and is_structure_message(beginning_of(path, _HEAD_BYTES, archive=archive)):
        note(f"{path} is left out: it is a structure message")
    else:
        yield _with_kind(kind, path, archive)


def _kind(name: str) -> Kind | None:
    path = Path(name.lower())
    return _SUFFIXES.get(Path(path.stem).suffix if path.suffix in _COMPRESSED else path.suffix)


def _with_kind(kind: Kind, path: str, archive: zipfile.ZipFile | None = None) -> Source:
    if kind != "csv":
        return Source(kind, path)
    return _csv(beginning_of(path, _HEAD_BYTES, archive=archive), path)


def _csv(head: bytes, path: str, stdin: StoredInput | None = None) -> Source:
    """Return the source for a CSV file; its header shows whether it is SDMX-CSV or plain CSV.

    Raises:
        DatasetError: the first bytes show another format.
    """
    encoding = "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else None
    start = head[: len(head) // 2 * 2].decode(encoding or "utf-8-sig", errors="replace")
    start = start.replace("\0", "")  # of UTF-16 without a byte order mark, whose encoding is named later
    check_is_csv(head, start, path)
    header = _BLANK_LINES.sub("", start).partition("\n")[0].rstrip("\r")
    if _is_sdmx(header):
        return Source("sdmx-csv", path, encoding, stdin)
    return Source("csv", path, encoding, stdin, separator_of(header))


def _is_sdmx(header: str) -> bool:
    """Return whether a header is that of SDMX-CSV: by its first cell, and by its second if the separator is unusual."""
    found = FIRST_CELL.match(header)
    if found is None or not found["separator"]:
        return header.lstrip('"').startswith("STRUCTURE[")
    is_usual = found["separator"] in SEPARATORS or found["sub"] is not None
    return is_usual or header[found.end() :].lstrip('"').startswith("STRUCTURE_ID")


def _of_input(stdin: StoredInput) -> Source:
    """Return the source for standard input, which has no name, so that its first bytes must show its kind."""
    head = beginning_of("standard input", _HEAD_BYTES, stdin.path)
    if not head:
        raise DatasetError("reading standard input: it is empty")
    if head.startswith(b"PAR1"):
        return Source("parquet", STDIN, stdin=stdin)
    if head.startswith(ZIP):
        return Source("xlsx", STDIN, stdin=stdin)  # because an archive of data would have been unpacked
    if head.startswith(ARROW_BEGINNINGS):
        return Source("arrow", STDIN, stdin=stdin)
    start = head[:1024].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")
    check_no_page(start.replace(b"\0", b"").decode(errors="replace"), "standard input")
    if start.startswith((b"<", b"{", b"UNA", b"UNB", b"UNH")):
        return Source("message", STDIN, stdin=stdin)
    return _csv(head, STDIN, stdin)
