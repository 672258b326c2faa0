"""Read and decompress files in gzip, zip and zstd, with a limit against decompression bombs."""

from __future__ import annotations

import io
import zipfile
import zlib
from functools import partial
from pathlib import Path
from typing import Final

from kafka_replica.common.wording import counted, reason_of
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.decompression_limit import largest, too_large
from kafka_replica.data.files.zstandard_frames import ZSTD, unpacked_zstd
from kafka_replica.data.gunzip import MAGIC as GZIP
from kafka_replica.data.gunzip import Gunzip
from kafka_replica.errors import UsageError

BETWEEN: Final = "!/"
"""The text between the path of a zip archive and the name of a file in it, as in Java's URLs."""
ZIP: Final = b"PK\x03\x04"
_CONTENT_TYPES: Final = "[Content_Types].xml"
DAMAGE: Final = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError,
)  # fmt: skip
"""The exceptions of ``zipfile`` for archives that are damaged, encrypted or of an unsupported kind."""


def read_content(path: str | Path) -> bytes:
    """Return the decompressed content of a file; its first bytes determine the format, not its name.

    A gzip or zstd file may consist of several members or frames. If an archive has several files, the path must name
    one of them, as in ``data.zip!/data.csv``. The files in an archive may themselves be compressed with gzip or zstd.

    Raises:
        UsageError: the file cannot be opened, or it is an archive of several files and the path names none of them.
        DatasetError: the file is damaged, is an archive within an archive, or its decompressed content would be larger
            than :func:`largest` allows.
    """
    where = str(path)
    archive, _, name = where.partition(BETWEEN)
    try:
        data = Path(archive).read_bytes()
    except OSError as error:
        raise UsageError(f"reading {where}: {reason_of(error)}") from error
    return unpacked(_unzipped(data, where, name) if name else data, where)


def beginning_of(path: str, size: int) -> bytes:
    """Return the first ``size`` bytes of a file's decompressed content, or fewer if the file is shorter.

    Only the first 64 KiB of a file are read if it is uncompressed or gzip; other files are read as a whole.

    Raises:
        UsageError, DatasetError: see :func:`read_content`.
    """
    if BETWEEN in path:
        return read_content(path)[:size]
    try:
        with Path(path).open("rb") as opened:
            head = opened.read(1 << 16)
    except OSError as error:
        raise UsageError(f"reading {path}: {reason_of(error)}") from error
    if head.startswith(GZIP):
        try:
            return zlib.decompressobj(wbits=31).decompress(head, size)
        except zlib.error as error:
            raise gzip_failed(path, error) from error
    return read_content(path)[:size] if head.startswith((ZSTD, ZIP)) else head[:size]


def is_packed_otherwise(path: str) -> bool:
    """Return whether a file is a zip archive, lies in one, or is zstd, and so cannot be read as a stream.

    Raises:
        UsageError: the file cannot be opened.
    """
    if BETWEEN in path:
        return True
    try:
        with Path(path).open("rb") as opened:
            return opened.read(4).startswith((ZSTD, ZIP))
    except OSError as error:
        raise UsageError(f"reading {path}: {reason_of(error)}") from error


def unpacked(data: bytes, where: str) -> bytes:
    """Return bytes decompressed, if their first bytes show that they are compressed, and unchanged otherwise.

    Args:
        data: the bytes.
        where: the file, for errors.

    Raises:
        UsageError: the bytes are an archive of several files.
        DatasetError: the bytes are damaged, are an archive within an archive, or would be larger than :func:`largest`
            allows.
    """
    if data.startswith(ZIP) and not is_workbook(data):
        data = _unzipped(data, where)
    if data.startswith(GZIP):
        return _gunzipped(data, where)
    return unpacked_zstd(data, largest(len(data)), where) if data.startswith(ZSTD) else data


def is_workbook(data: bytes) -> bool:
    """Return whether a zip archive is an office document (.xlsx), and not an archive of data files."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            return _CONTENT_TYPES in opened.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def is_hidden(path: Path) -> bool:
    """Return whether a part of a path begins with ``.`` or ``_``, so that the file is not data."""
    return any(part.startswith((".", "_")) for part in path.parts)


def files_in(archive: Path) -> list[str]:
    """Return the names of the files in a zip archive, without those whose path has a part that begins with . or _.

    Raises:
        UsageError: the archive cannot be opened.
        DatasetError: the archive is damaged, or contains an archive.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            names = [one.filename for one in _files(opened)]
    except OSError as error:
        raise UsageError(f"reading {archive}: {reason_of(error)}") from error
    except DAMAGE as error:
        raise archive_failed(str(archive), error) from error
    for name in names:
        if name.lower().endswith(".zip"):
            raise _archive_in_archive(f"{archive}{BETWEEN}{name}")
    return names


def archive_failed(where: str, error: Exception) -> DatasetError:
    """Return the error for an archive that cannot be read; ``error`` is the library's."""
    return DatasetError(f"reading {where}: the archive is damaged, or of an unsupported kind: {error}")


def _archive_in_archive(where: str) -> DatasetError:
    return DatasetError(f"reading {where}: it is an archive within an archive; unpack it first")


def gzip_failed(where: str, error: Exception | None) -> DatasetError:
    """Return the error for damaged gzip data; ``error`` is the library's, or None if the data ends too early."""
    reason = "is truncated" if error is None else f"is damaged: {error}"
    return DatasetError(f"reading {where}: the gzip data {reason}")


def _gunzipped(data: bytes, where: str) -> bytes:
    limit = room = largest(len(data))
    gunzip = Gunzip(room + 1, partial(gzip_failed, where))
    done: list[bytes] = []
    for piece in gunzip.feed(data):
        done.append(piece)
        room -= len(piece)
        if room < 0:
            raise too_large(where, limit)
    gunzip.finish()
    return done[0] if len(done) == 1 else b"".join(done)


def _unzipped(data: bytes, where: str, name: str = "") -> bytes:
    """Return the content of a file in a zip archive; without a name, the archive must have only one file."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            info = opened.getinfo(name) if name else _only_one(_files(opened), where)
            # The size in the archive's directory cannot be trusted, so the limit applies to the bytes that are read.
            limit = largest(info.compress_size)
            with opened.open(info) as file:
                found = file.read(limit + 1)
    except KeyError as error:
        raise UsageError(f"reading {where}: the file is not in the archive") from error
    except DAMAGE as error:
        raise archive_failed(where, error) from error
    if len(found) > limit:
        raise too_large(where, limit)
    if found.startswith(ZIP) and not is_workbook(found):
        raise _archive_in_archive(where)
    return found


def _only_one(files: list[zipfile.ZipInfo], where: str) -> zipfile.ZipInfo:
    if len(files) != 1:
        named = files[0].filename if files else "data.csv"
        raise UsageError(
            f"reading {where}: the archive has {counted(len(files), 'file')}; name one, as in {where}{BETWEEN}{named}"
        )
    return files[0]


def _files(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [
        one for one in archive.infolist()
        if not one.is_dir() and not is_hidden(Path(one.filename))
    ]  # fmt: skip
