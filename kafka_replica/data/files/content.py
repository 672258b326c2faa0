"""The content of files, decompressed: gzip, zip with one member, and zstd, with a limit against decompression bombs."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import Final

from kafka_replica.common.wording import counted, reason_of
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.zstandard_frames import ZSTD, unpacked_zstd
from kafka_replica.errors import UsageError

BETWEEN: Final = "!/"
"""The text between the path of a zip archive and the name of a member, as in Java's URLs."""
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"
_MAX_RATIO: Final = 200
_ALWAYS_ALLOWED: Final = 256 << 20


def read_content(path: str | Path) -> bytes:
    """Return the content of a file, decompressed; the content decides how, not the name.

    gzip may have several parts. Of a zip archive with several files one must be named: ``data.zip!/data.csv``. A member
    that is compressed itself is decompressed, too.

    Raises:
        UsageError: the file cannot be opened, or is damaged; it is an archive of several files; or it would be larger
            than :func:`largest` allows.
    """
    where = str(path)
    with _opened(where) as opened:
        if BETWEEN not in where:
            return unpacked(opened.read(), where)
        data = opened.read(_LARGEST_MEMBER + 1)
    if len(data) > _LARGEST_MEMBER:
        raise too_large(where, _LARGEST_MEMBER)
    return unpacked(data, where)


def beginning_of(path: str, size: int) -> bytes:
    """Return the first bytes of a file, decompressed, at least ``size`` of them unless it is shorter.

    Raises:
        UsageError: as :func:`read_content`.
    """
    with _opened(path) as opened:
        head = opened.read(_LOOKED_AT)
    if head.startswith(_GZIP):
        try:
            return zlib.decompressobj(wbits=31).decompress(head, size)
        except zlib.error as error:
            raise UsageError(f"reading {path}: the gzip data is damaged: {error}") from error
    return read_content(path)[:size] if head.startswith((ZSTD, _ZIP)) else head[:size]


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file, or a file in an archive, without decompressing its content."""
    archive, _, member = path.partition(BETWEEN)
    try:
        if not member:
            with Path(path).open("rb") as opened:
                yield opened
            return
        with zipfile.ZipFile(archive) as files, files.open(member) as opened:
            yield opened
    except KeyError as error:
        raise UsageError(f"reading {path}: the archive has no such file") from error
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise UsageError(f"reading {path}: {reason_of(error)}") from error


def unpacked(data: bytes, where: str) -> bytes:
    """Return bytes without compression, which is found by their first bytes.

    Raises:
        UsageError: they are damaged, an archive of several files, or would be larger than :func:`largest` allows.
    """
    if data.startswith(_GZIP):
        return _gunzipped(data, where)
    if data.startswith(ZSTD):
        return unpacked_zstd(data, largest(len(data)), where)
    if data.startswith(_ZIP):
        return _unzipped(data, where)
    return data


def largest(packed: int) -> int:
    """Return the largest size that so many packed bytes may have unpacked: 256 MiB, or 200 times as much if larger.

    Statistical data is seldom compressed to less than a hundredth.
    """
    return max(_ALWAYS_ALLOWED, _MAX_RATIO * packed)


def members_of(path: Path) -> list[str]:
    """Return the names of the files in a zip archive, without hidden ones.

    Raises:
        UsageError: the archive cannot be opened, or is damaged.
    """
    try:
        with zipfile.ZipFile(path) as opened:
            return [one.filename for one in _files(opened)]
    except (OSError, zipfile.BadZipFile) as error:
        raise UsageError(f"reading {path}: {reason_of(error)}") from error


def too_large(where: str, limit: int) -> UsageError:
    """Return the error for content that is larger than allowed."""
    return UsageError(
        f"reading {where}: unpacked it has more than {limit:,} bytes, which is far more than data is compressed; if it "
        "is not an attack, unpack it first"
    )


def _gunzipped(data: bytes, where: str) -> bytes:
    done: list[bytes] = []
    limit = room = largest(len(data))
    while data:
        inflater = zlib.decompressobj(wbits=31)
        try:
            done.append(inflater.decompress(data, room + 1))
        except zlib.error as error:
            raise UsageError(f"reading {where}: the gzip data is damaged: {error}") from error
        room -= len(done[-1])
        if room < 0:
            raise too_large(where, limit)
        if not inflater.eof:
            raise UsageError(f"reading {where}: the gzip data is cut off")
        data = inflater.unused_data.lstrip(b"\0")  # padding, as gzip(1) allows
    return done[0] if len(done) == 1 else b"".join(done)


def _unzipped(data: bytes, where: str) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            files = _files(opened)
            if len(files) != 1:
                raise UsageError(
                    f"reading {where}: the archive has {counted(len(files), 'file')}; name one, as in "
                    f"{where}{BETWEEN}{files[0].filename if files else 'data.csv'}"
                )
            return unpacked(_member(opened, files[0], where), where)
    except zipfile.BadZipFile as error:
        raise UsageError(f"reading {where}: {error}") from error


def _files(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [
        one for one in archive.infolist()
        if not one.is_dir() and not any(part.startswith((".", "_")) for part in Path(one.filename).parts)
    ]  # fmt: skip


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, where: str) -> bytes:
    """Return a file of an archive, read in parts, because the size in the archive's directory may be false."""
    limit = largest(info.compress_size)
    try:
        with archive.open(info) as opened:
            data = opened.read(limit + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise UsageError(f"reading {where}: {info.filename} cannot be unpacked: {error}") from error
    if len(data) > limit:
        raise too_large(where, limit)
    if data.startswith(_ZIP):
        raise DatasetError(f"reading {where}: {info.filename} is an archive within an archive; unpack it first")
    return data
