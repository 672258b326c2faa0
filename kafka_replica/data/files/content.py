"""Access to the decompressed content of files: all of it, its beginning, a stream, or a file in which readers seek."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import IO, Any, cast

from kafka_replica.common.wording import reason_of
from kafka_replica.data.files.decompression import (
    DecompressedContent,
    GivenContent,
    copy_parts,
    file_to_open,
    is_packed,
)
from kafka_replica.errors import UsageError


def read_content(path: str | Path, content: GivenContent | None = None) -> bytes:
    """Return the decompressed content of a file, whose first bytes show how it is compressed.

    Args:
        path: the file; see :class:`~kafka_replica.data.files.decompression.DecompressedContent`.
        content: the content of the file, if the caller has it already.

    Raises:
        UsageError, DatasetError: see :class:`~kafka_replica.data.files.decompression.DecompressedContent`.
    """
    with streamed_content(path, content) as file:
        return file.read()


def beginning_of(
    path: str, size: int, content: GivenContent | None = None, archive: zipfile.ZipFile | None = None
) -> bytes:  # fmt: skip
    """Return the first ``size`` bytes of a file's decompressed content, or fewer if the file is shorter.

    No more than that is decompressed. The other arguments and errors are those of :func:`read_content`.

    Args:
        path: the file.
        size: the number of bytes.
        content: the content of the file, if the caller has it already.
        archive: the archive that the path names, if the caller has opened it already.
    """
    found = b""
    for part in DecompressedContent(path, content, size, archive=archive):
        found += part
        if len(found) >= size:
            break
    return found[:size]


@contextmanager
def streamed_content(path: str | Path, content: GivenContent | None = None) -> Iterator[IO[bytes]]:
    """Open the decompressed content of a file, to be read once from its beginning to its end.

    The arguments and errors are those of :func:`read_content`; the file that is yielded also raises these errors.
    """
    where = str(path)
    if isinstance(content, bytes):
        yield io.BytesIO(content)
    elif is_packed(where, content):
        # Closing the file ends the decompression.
        with io.BufferedReader(_ChunkedFile(iter(DecompressedContent(where, content)))) as file:
            yield cast("IO[bytes]", file)
    else:
        with _opened(where, content) as plain:
            yield plain


@contextmanager
def seekable_content(
    path: str | Path, content: GivenContent | None = None, folder: Path | None = None
) -> Iterator[IO[bytes]]:
    """Open the decompressed content of a file for reading at any place.

    Compressed content is decompressed part by part to a temporary file, which is removed at the end. Other files are
    opened themselves.

    Args:
        path: the file; see :class:`~kafka_replica.data.files.decompression.DecompressedContent`.
        content: the content of the file, if the caller has it already.
        folder: an existing folder for temporary files; None means the system's.

    Raises:
        UsageError, DatasetError: see :class:`~kafka_replica.data.files.decompression.DecompressedContent`.
    """
    where = str(path)
    if isinstance(content, bytes):
        yield io.BytesIO(content)
    elif is_packed(where, content):
        with TemporaryFile(dir=folder) as copy:
            copy_parts(DecompressedContent(where, content, folder=folder), copy, where)
            copy.seek(0)
            yield copy
    else:
        with _opened(where, content) as plain:
            yield plain


def content_on_disk(path: str | Path, content: GivenContent | None, folder: Path) -> Path:
    """Return the path of a file with decompressed content, for libraries that open files by their paths.

    Compressed content is decompressed part by part to a new file in ``folder``, which the caller removes with the
    folder. If the content is not compressed, the result is the original file. The arguments and errors are those of
    :func:`seekable_content`.
    """
    where = str(path)
    if not (isinstance(content, bytes) or is_packed(where, content)):
        return file_to_open(where, content)
    with NamedTemporaryFile(dir=folder, delete=False) as copy:
        copy_parts(DecompressedContent(where, content, folder=folder), cast("IO[bytes]", copy), where)
        return Path(copy.name)


@contextmanager
def _opened(where: str, content: Path | None) -> Iterator[IO[bytes]]:
    try:
        file = file_to_open(where, content).open("rb")
    except OSError as error:
        raise UsageError(f"reading {where}: {reason_of(error)}") from error
    with file:
        yield file


class _ChunkedFile(io.RawIOBase):
    """A file that consists of parts, one after the other."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = cast("Generator[bytes]", parts)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._rest:
            self._rest = memoryview(next(self._parts, b""))
        target = memoryview(buffer)
        size = min(len(target), len(self._rest))
        target[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def close(self) -> None:
        self._parts.close()
        super().close()
