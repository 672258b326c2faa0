"""Read a file in parts: plain and gzip files, and plain files in zip archives, are decompressed part by part."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, Final

from kafka_replica.common.wording import reason_of
from kafka_replica.data.files.content import BETWEEN, DAMAGE, ZIP, archive_failed, gzip_failed, read_content
from kafka_replica.data.files.decompression_limit import largest, too_large
from kafka_replica.data.files.zstandard_frames import ZSTD
from kafka_replica.data.gunzip import MAGIC as GZIP
from kafka_replica.data.gunzip import Gunzip
from kafka_replica.errors import UsageError

_HEAD: Final = 4
"""The number of bytes that show how a file is compressed."""
_PACKED_SIZE: Final = 1 << 20


class ContentParts:
    """The decompressed content of a file, as an iterator of parts.

    zstd files, zip archives whose path names no file, and compressed files in archives are held in memory as a whole.

    Attributes:
        done: the number of bytes read so far, before decompression.
    """

    def __init__(self, path: str, content: bytes | None, size: int) -> None:
        """Remember the file, without opening it.

        Args:
            path: the file, or ``archive.zip!/data.csv`` for a file in an archive.
            content: the decompressed content of the file, if the caller has it already.
            size: the maximal size of a part, in bytes.
        """
        self._path, self._content, self._size = path, content, size
        self.done = 0

    def __iter__(self) -> Iterator[bytes]:
        """Yield the parts.

        Raises:
            UsageError, DatasetError: see :func:`kafka_replica.data.files.content.read_content`.
        """
        self.done = 0
        if self._content is not None:
            yield from self._plain(io.BytesIO(self._content))
            return
        archive, _, name = self._path.partition(BETWEEN)
        with ExitStack() as stack:
            try:
                file: IO[bytes] = stack.enter_context(Path(archive).open("rb"))
                head = file.read(_HEAD)
                file.seek(0)
            except OSError as error:
                raise UsageError(f"reading {self._path}: {reason_of(error)}") from error
            if name:
                yield from self._of_archive(file, name)
            elif head.startswith((ZIP, ZSTD)):
                yield from self._plain(io.BytesIO(read_content(self._path)))
            elif head.startswith(GZIP):
                yield from self._inflated(file, largest(Path(archive).stat().st_size))
            else:
                yield from self._plain(file)

    def _plain(self, file: IO[bytes]) -> Iterator[bytes]:
        try:
            while part := file.read(self._size):
                self.done += len(part)
                yield part
        except OSError as error:
            raise UsageError(f"reading {self._path}: {reason_of(error)}") from error

    def _of_archive(self, file: IO[bytes], name: str) -> Iterator[bytes]:
        """Yield the parts of a file in an archive."""
        try:
            with zipfile.ZipFile(file) as opened:
                info = opened.getinfo(name)
                with opened.open(info) as inner:
                    head = inner.read(_HEAD)
                if head.startswith((ZIP, ZSTD, GZIP)):
                    yield from self._plain(io.BytesIO(read_content(self._path)))
                    return
                size, limit = 0, largest(info.compress_size)
                with opened.open(info) as inner:
                    while part := inner.read(self._size):
                        size += len(part)
                        if size > limit:  # because the size in the archive's directory cannot be trusted
                            raise too_large(self._path, limit)
                        self.done = info.compress_size * size // max(size, info.file_size)
                        yield part
        except KeyError as error:
            raise UsageError(f"reading {self._path}: the file is not in the archive") from error
        except DAMAGE as error:
            raise archive_failed(self._path, error) from error

    def _inflated(self, file: IO[bytes], limit: int) -> Iterator[bytes]:
        """Yield the parts of all members of a gzip file."""
        room = limit
        gunzip = Gunzip(self._size, partial(gzip_failed, self._path))
        while data := self._packed(file):
            for part in gunzip.feed(data):
                room -= len(part)
                if room < 0:
                    raise too_large(self._path, limit)
                yield part
        gunzip.finish()

    def _packed(self, file: IO[bytes]) -> bytes:
        data = file.read(_PACKED_SIZE)
        self.done += len(data)
        return data
