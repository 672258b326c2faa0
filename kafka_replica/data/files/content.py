"""The decompressed content of files: as a whole, its beginning, as a stream, or on disk for readers that seek in it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import IO, Any, cast

from kafka_replica.common.wording import reason_of
from kafka_replica.data.files.content_parts import Content, ContentParts, copy_parts, is_packed, place_of
from kafka_replica.errors import UsageError


def read_content(path: str | Path, content: Content | None = None) -> bytes:
    """Return the decompressed content of a file, whose first bytes show how it is compressed.

    Args:
        path: the file; see :class:`~kafka_replica.data.files.content_parts.ContentParts`.
        content: the content of the file, if the caller has it already.

    Raises:
        UsageError, DatasetError: see :class:`~kafka_replica.data.files.content_parts.ContentParts`.
    """
    with streamed_content(path, content) as file:
        return file.read()


def beginning_of(
    path: str, size: int, content: Content | None = None, archive: zipfile.ZipFile | None = None
) -> bytes:  # fmt: skip
    """Return the first ``size`` bytes of a file's decompressed content, or fewer if the file is shorter.

    No more is decompressed. The other arguments and errors are those of :func:`read_content`.

    Args:
        path: the file.
        size: the number of bytes.
        content: the content of the file, if the caller has it already.
        archive: the archive that the path names, if the caller has opened it already.
    """
    found = b""
    for part in ContentParts(path, content, size, archive=archive):
        found += part
        if len(found) >= size:
            break
    return found[:size]


@contextmanager
def streamed_content(path: str | Path, content: Content | None = None) -> Iterator[IO[bytes]]:
    """Open the decompressed content of a file, to be read once from its beginning to its end.

    The arguments and errors are those of :func:`read_content`; the file that is yielded also raises these errors.
    """
    where = str(path)
    if isinstance(content, bytes):
        yield io.BytesIO(content)
    elif is_packed(where, content):
        # Closing the file ends the decompression.
        with io.BufferedReader(_PartsFile(iter(ContentParts(where, content)))) as file:
            yield cast("IO[bytes]", file)
    else:
        with _opened(where, content) as plain:
            yield plain


@contextmanager
def seekable_content(
    path: str | Path, content: Content | None = None, folder: Path | None = None
) -> Iterator[IO[bytes]]:
    """Open the decompressed content of a file for reading at any place.

    Compressed content is decompressed part by part to a temporary file, which is removed at the end. Other files are
    opened themselves.

    Args:
        path: the file; see :class:`~kafka_replica.data.files.content_parts.ContentParts`.
        content: the content of the file, if the caller has it already.
        folder: an existing folder for temporary files; None means the system's.

    Raises:
        UsageError, DatasetError: see :class:`~kafka_replica.data.files.content_parts.ContentParts`.
    """
    where = str(path)
    if isinstance(content, bytes):
        yield io.BytesIO(content)
    elif is_packed(where, content):
        with TemporaryFile(dir=folder) as copy:
            copy_parts(ContentParts(where, content, folder=folder), copy, where)
            copy.seek(0)
            yield copy
    else:
        with _opened(where, content) as plain:
            yield plain


def content_on_disk(path: str | Path, content: Content | None, folder: Path) -> Path:
    """Return a file with the decompressed content of a file, for libraries that open a path.

    Compressed content is decompressed part by part to a new file in ``folder``, which the caller removes with the
    folder. For other files, the result is the file itself. The arguments and errors are those of
    :func:`seekable_content`.
    """
    where = str(path)
    if not (isinstance(content, bytes) or is_packed(where, content)):
        return place_of(where, content)
    with NamedTemporaryFile(dir=folder, delete=False) as copy:
        copy_parts(ContentParts(where, content, folder=folder), cast("IO[bytes]", copy), where)
        return Path(copy.name)


@contextmanager
def _opened(where: str, content: Path | None) -> Iterator[IO[bytes]]:
    try:
        file = place_of(where, content).open("rb")
    except OSError as error:
        raise UsageError(f"reading {where}: {reason_of(error)}") from error
    with file:
        yield file


class _PartsFile(io.RawIOBase):
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
