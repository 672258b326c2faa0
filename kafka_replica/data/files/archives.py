"""Zip archives of data files: their names, and their files opened for reading."""

from __future__ import annotations

import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Final

from kafka_replica.common.wording import counted, reason_of
from kafka_replica.data.errors import DatasetError
from kafka_replica.errors import UsageError
from kafka_replica.sdmx.formats.xlsx import zip_methods

BETWEEN: Final = "!/"
"""The text between the path of a zip archive and the name of a file in it, as in Java's URLs."""
ZIP: Final = b"PK\x03\x04"
_MOST_ENTRIES: Final = 10_000
"""The maximum number of files in an archive: a job opens the archive, and reads its directory, for each of them."""
_CONTENT_TYPES: Final = "[Content_Types].xml"
_DAMAGE: Final = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError,
)  # fmt: skip
"""The exceptions of ``zipfile`` for archives that are damaged, encrypted or of an unsupported kind."""


def is_workbook(file: IO[bytes]) -> bool:
    """Return whether a zip archive is an office document (.xlsx), and not an archive of data files."""
    try:
        with zipfile.ZipFile(file) as opened:
            return _CONTENT_TYPES in opened.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def is_hidden(path: Path) -> bool:
    """Return whether a part of a path begins with ``.`` or ``_``, so that the file is not data."""
    return any(part.startswith((".", "_")) for part in path.parts)


def open_archive(archive: Path) -> zipfile.ZipFile:
    """Open a zip archive.

    Raises:
        UsageError: the archive cannot be opened.
        DatasetError: the archive is damaged.
    """
    try:
        return zipfile.ZipFile(archive)
    except OSError as error:
        raise UsageError(f"reading {archive}: {reason_of(error)}") from error
    except _DAMAGE as error:
        raise _archive_failed(str(archive), error) from error


def files_in_archive(archive: zipfile.ZipFile, where: str) -> list[str]:
    """Return the names of the files in a zip archive, without hidden ones; see :func:`is_hidden`.

    Args:
        archive: the archive.
        where: its path, for errors.

    Raises:
        DatasetError: the archive contains an archive, two files of the same name, or very many files.
    """
    if len(archive.infolist()) > _MOST_ENTRIES:
        raise DatasetError(f"reading {where}: it has more than {_MOST_ENTRIES:,} files; unpack it, and name the folder")
    names = [file.filename for file in _files(archive)]
    for name, count in Counter(names).items():
        if name.lower().endswith(".zip"):
            raise nested_archive_error(f"{where}{BETWEEN}{name}")
        if count > 1:
            raise DatasetError(f"reading {where}: it has {counted(count, 'file')} called {name}; compress it again")
    return names


@contextmanager
def open_member(
    archive: IO[bytes] | zipfile.ZipFile, name: str, where: str
) -> Iterator[tuple[IO[bytes], zipfile.ZipInfo]]:
    """Open a file in a zip archive, and yield it with its entry in the archive's directory.

    Args:
        archive: the archive, opened as such or as a file; it stays open.
        name: the name of the file; empty selects the only file of the archive.
        where: the path of the file, for errors, including those of the caller's block.

    Raises:
        UsageError: the file is not in the archive, or the archive has several files, and none is named.
        DatasetError: the archive is damaged, or the file is compressed in a way that cannot be limited.
    """
    try:
        with nullcontext(archive) if isinstance(archive, zipfile.ZipFile) else zipfile.ZipFile(archive) as opened:
            info = opened.getinfo(name) if name else _only_one(_files(opened), where)
            if not zip_methods.is_usual(info):
                raise DatasetError(f"reading {where}: {zip_methods.ADVICE}")
            with opened.open(info) as file:
                yield file, info
    except KeyError as error:
        raise UsageError(f"reading {where}: the file is not in the archive") from error
    except _DAMAGE as error:
        raise _archive_failed(where, error) from error


def nested_archive_error(where: str) -> DatasetError:
    """Return the error for an archive in an archive."""
    return DatasetError(f"reading {where}: it is an archive within an archive; unpack it first")


def _archive_failed(where: str, error: Exception) -> DatasetError:
    return DatasetError(f"reading {where}: the archive is damaged, or of an unsupported kind: {error}")


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
