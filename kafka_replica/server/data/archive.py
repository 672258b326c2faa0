"""Uploaded ZIP archives: archives of one file, and workbooks. Source: APPNOTE.TXT 6.3.10, section 4.3."""

from __future__ import annotations

import errno
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kafka_replica.data.errors import DatasetError
from kafka_replica.sdmx.formats.xlsx.zip_methods import is_usual

MAGIC: Final = b"PK\x03\x04"
_PIECE: Final = 1 << 18
_END: Final = b"PK\x05\x06"
_END_BYTES: Final = 22
_END_ZIP64: Final = b"PK\x06\x07"
_TAIL_BYTES: Final = (1 << 16) + _END_BYTES + 20
_DIRECTORY_BYTES: Final = 1 << 20
"""The maximum size of an archive's directory: one with a million names would need a gigabyte of memory."""
_CONTENT_TYPES: Final = "[Content_Types].xml"
_REFUSED: Final = "the archive is encrypted, or compressed in another way than usual; compress it again"
_DAMAGES: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


def workbook_bytes(path: Path) -> int | None:
    """Return the uncompressed size of a workbook as its directory states it; None if the archive is not a workbook.

    Raises:
        DatasetError: the archive is damaged, or is a workbook of an unsupported kind.
    """
    with _opened(path) as entries:
        parts = entries.infolist()
    if all(part.filename != _CONTENT_TYPES for part in parts):
        return None
    if not all(map(is_usual, parts)):
        raise DatasetError(_REFUSED)
    return sum(part.file_size for part in parts)


def file_of_archive(path: Path) -> Iterator[bytes]:
    """Yield the content of the only file of an archive in pieces; hidden files are ignored.

    Raises:
        DatasetError: the archive is damaged, of an unsupported kind, or does not have exactly one file.
    """
    with _opened(path) as entries:
        files = [entry for entry in entries.infolist() if not entry.is_dir() and not _is_hidden(entry.filename)]
        if len(files) != 1:
            raise DatasetError(f"the archive has {len(files)} files; send an archive of one")
        if not is_usual(files[0]) or files[0].flag_bits & 1:
            raise DatasetError(_REFUSED)
        try:
            with entries.open(files[0]) as content:
                while piece := content.read(_PIECE):
                    yield piece
        except _DAMAGES as error:
            raise DatasetError(f"reading the archive: it is damaged: {error}") from error
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            raise DatasetError("reading the archive: it is damaged: its directory names an impossible place") from error


def _opened(path: Path) -> zipfile.ZipFile:
    size = path.stat().st_size
    with path.open("rb") as opened:
        opened.seek(max(0, size - _TAIL_BYTES))
        tail = opened.read()
    if _END_ZIP64 in tail or any(size > _DIRECTORY_BYTES for size in _directory_sizes(tail)):
        raise DatasetError("the archive has too many files; send an archive of one")
    try:
        return zipfile.ZipFile(path)
    except _DAMAGES as error:
        raise DatasetError(f"reading the archive: it is damaged: {error}") from error


def _directory_sizes(tail: bytes) -> Iterator[int]:
    """Yield the size of the directory that each possible end record states; a comment may contain the signature."""
    start = tail.find(_END)
    while start >= 0:
        if start + _END_BYTES <= len(tail):
            yield int.from_bytes(tail[start + 12 : start + 16], "little")
        start = tail.find(_END, start + 1)


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "_")) for part in name.split("/"))
