"""Read the content of files part by part: plain, compressed with gzip or zstd, or in zip archives.

No other module decompresses files; a limit protects against decompression bombs.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, TypeAlias

from kafka_replica.common.wording import reason_of
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.archives import BETWEEN, ZIP, is_workbook, nested_archive_error, open_member
from kafka_replica.data.files.decompression_limit import content_too_large, decompression_limit
from kafka_replica.data.files.gzip_decompressor import MAGIC as GZIP
from kafka_replica.data.files.gzip_decompressor import GzipDecompressor
from kafka_replica.data.files.zstandard_frames import ZSTD, zstd_parts
from kafka_replica.errors import UsageError

GivenContent: TypeAlias = bytes | Path
"""File content that the caller already has: the decompressed bytes, or the path of a file that stores the content, for
example that of standard input."""

PART_BYTES: Final = 1 << 20
_HEAD: Final = 4
"""The number of bytes that show how a file is compressed."""
_PACKED_SIZE: Final = 1 << 20


class DecompressedContent:
    """The decompressed content of a file, as an iterable of parts.

    The first bytes of a file show how it is compressed. A gzip or zstd file may consist of several members or frames.
    If an archive has several files, the path must name one of them, as in ``data.zip!/data.csv``. A compressed file in
    an archive is first copied to a temporary file in its compressed form.

    Attributes:
        done: the number of bytes read so far, before decompression.
    """

    def __init__(
        self, path: str, content: GivenContent | None = None, size: int = PART_BYTES, folder: Path | None = None,
        archive: zipfile.ZipFile | None = None,
    ) -> None:  # fmt: skip
        """Remember the file, without opening it.

        Args:
            path: the file, or ``archive.zip!/data.csv`` for a file in an archive; errors name it.
            content: the content of the file, if the caller has it already.
            size: the maximum size of a part, in bytes.
            folder: an existing folder for temporary files; None means the system's.
            archive: the archive that the path names, if the caller has opened it already; it stays open.
        """
        self._path, self._content, self._size, self._folder = path, content, size, folder
        self._archive = archive
        self.done = 0

    def __iter__(self) -> Iterator[bytes]:
        """Yield the parts.

        Raises:
            UsageError: the file cannot be opened, or it is an archive of several files and the path names none of them.
            DatasetError: the file is damaged, is an archive within an archive, or its decompressed content would be
                larger than :func:`decompression_limit` allows.
        """
        self.done = 0
        if isinstance(self._content, bytes):
            yield from self._plain(io.BytesIO(self._content))
            return
        place, name = (self._content, "") if self._content is not None else _split(self._path)
        if self._archive is not None:
            yield from self._of_archive(self._archive, name)
            return
        with ExitStack() as stack:
            try:
                file: IO[bytes] = stack.enter_context(place.open("rb"))
                head = _head(file)
                size = place.stat().st_size
            except OSError as error:
                raise UsageError(f"reading {self._path}: {reason_of(error)}") from error
            if name or (head == ZIP and not is_workbook(file)):
                yield from self._of_archive(file, name)
            else:
                file.seek(0)
                yield from self._unpacked(file, head, size)

    def _unpacked(self, file: IO[bytes], head: bytes, size: int) -> Iterator[bytes]:
        """Yield the parts of a file of ``size`` bytes that is plain, gzip or zstd."""
        if head.startswith(GZIP):
            yield from self._limited(self._inflated(file), decompression_limit(size))
        elif head == ZSTD:
            yield from self._limited(zstd_parts(file, self._size, self._path, self._report), decompression_limit(size))
        else:
            yield from self._plain(file)

    def _plain(self, file: IO[bytes]) -> Iterator[bytes]:
        try:
            while part := file.read(self._size):
                self.done += len(part)
                yield part
        except OSError as error:
            raise UsageError(f"reading {self._path}: {reason_of(error)}") from error

    def _of_archive(self, file: IO[bytes] | zipfile.ZipFile, name: str) -> Iterator[bytes]:
        """Yield the parts of a file in an archive."""
        with open_member(file, name, self._path) as (member, info):
            head = member.read(_HEAD)
            # The size in the archive's directory cannot be trusted, so the limit applies to the bytes that are read.
            parts = self._limited(_parts_after(head, member, self._size), decompression_limit(info.compress_size))
            if not head.startswith((ZIP, ZSTD, GZIP)):
                size = 0
                for part in parts:
                    size += len(part)
                    self.done = info.compress_size * size // max(size, info.file_size)
                    yield part
                return
            with TemporaryFile(dir=self._folder) as copy:
                size = copy_parts(parts, copy, self._path)
                if head == ZIP and not is_workbook(copy):
                    raise nested_archive_error(self._path)
                copy.seek(0)
                for part in self._unpacked(copy, head, size):
                    yield part

    def _limited(self, parts: Iterable[bytes], limit: int) -> Iterator[bytes]:
        room = limit
        for part in parts:
            room -= len(part)
            if room < 0:
                raise content_too_large(self._path, limit)
            yield part

    def _inflated(self, file: IO[bytes]) -> Iterator[bytes]:
        """Yield the parts of all members of a gzip file."""
        gunzip = GzipDecompressor(self._size, partial(_gzip_failed, self._path))
        while data := file.read(_PACKED_SIZE):
            self.done += len(data)
            yield from gunzip.feed(data)
        gunzip.finish()

    def _report(self, done: int) -> None:
        self.done = done


def file_to_open(path: str, content: Path | None) -> Path:
    """Return the file to open: the archive if the path names a file in it, or the file that has the content."""
    return _split(path)[0] if content is None else content


def _split(path: str) -> tuple[Path, str]:
    """Return the path to open, and the name of the file in this archive; empty if the path is not in an archive.

    The name of a folder may end with ``!``, too, so the part before ``!/`` must not be a folder.
    """
    at = path.find(BETWEEN)
    while at >= 0 and os.path.isdir(path[: at + 1]):  # noqa: PTH112 - False instead of an error if the path cannot be examined
        at = path.find(BETWEEN, at + 1)
    return (Path(path), "") if at < 0 else (Path(path[:at]), path[at + len(BETWEEN) :])


def is_packed(path: str, content: Path | None = None) -> bool:
    """Return whether a file is compressed, is a zip archive that is not a workbook, or lies in an archive.

    Raises:
        UsageError: the file cannot be opened.
    """
    if content is None and _split(path)[1]:
        return True
    try:
        with file_to_open(path, content).open("rb") as file:
            head = _head(file)
            return head.startswith((GZIP, ZSTD)) or (head == ZIP and not is_workbook(file))
    except OSError as error:
        raise UsageError(f"reading {path}: {reason_of(error)}") from error


def copy_parts(parts: Iterable[bytes], file: IO[bytes], where: str) -> int:
    """Write parts to a temporary file, and return their size in bytes.

    Args:
        parts: the parts.
        file: the file.
        where: the source of the parts, for errors.

    Raises:
        UsageError: the file cannot be written.
    """
    size = 0
    for part in parts:
        size += len(part)
        try:
            file.write(part)
        except OSError as error:
            raise UsageError(f"reading {where}: writing it to a temporary file: {reason_of(error)}") from error
    file.flush()
    return size


def _head(file: IO[bytes]) -> bytes:
    head = file.read(_HEAD)
    file.seek(0)
    return head


def _parts_after(head: bytes, file: IO[bytes], size: int) -> Iterator[bytes]:
    """Yield the parts of a file whose first bytes have been read."""
    part = head + file.read(size - len(head))
    while part:
        yield part
        part = file.read(size)


def _gzip_failed(where: str, error: Exception | None) -> DatasetError:
    """Return the error for damaged gzip data; ``error`` is the library's, or None if the data ends too early."""
    reason = "is truncated" if error is None else f"is damaged: {error}"
    return DatasetError(f"reading {where}: the gzip data {reason}")
