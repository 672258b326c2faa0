"""An uploaded data file: decompressed and measured while it is written, and named after the format of its content."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.gzip_decompressor import MAGIC, GzipDecompressor
from kafka_replica.server.data import archive

_SPACE: Final = b"\xef\xbb\xbf \t\r\n"
_SUFFIXES: Final = {b"<": ".xml", b"{": ".json", b"UNA:": ".edi", b"UNB+": ".edi"}
_REFUSED: Final = {
    MAGIC: "data that was compressed twice", archive.MAGIC: "an archive in an archive", b"PAR1": "Parquet",
    b"ARROW1": "Arrow IPC",
}  # fmt: skip
"""Formats that are not accepted, by their first bytes; a small Parquet or Arrow file may have any number of rows."""
FORMATS: Final = "SDMX-CSV, SDMX-JSON, SDMX-ML, SDMX-EDI or plain CSV, with gzip or a ZIP archive too, or a workbook"


class TooLargeError(Exception):
    """Uploaded data is larger than the limit."""


class UploadedFile:
    """A file that is being received.

    Args:
        folder: the folder of the file; nothing else may use it.
        limit: the maximum size in bytes, after decompression.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self._path = folder / "data"
        self._limit = self._left = limit
        self._first: bytes | None = b""  # the first bytes, until there are enough to recognize gzip; then None
        self._gunzip: GzipDecompressor | None = None
        self._file = self._path.open("wb")

    def write(self, data: bytes) -> None:
        """Append data.

        Raises:
            DatasetError: the compressed data is damaged.
            TooLargeError: the file exceeds the limit.
        """
        if self._first is not None:
            data = self._first + data
            self._first = data if len(data) < len(MAGIC) else None
            if self._first is not None:
                return
            self._gunzip = GzipDecompressor() if data.startswith(MAGIC) else None
        for piece in (data,) if self._gunzip is None else self._gunzip.feed(data):
            self._left -= len(piece)
            if self._left < 0:
                raise TooLargeError
            self._file.write(piece)

    def close(self) -> None:
        """Close the file, whether it is complete or not. Idempotent."""
        self._file.close()

    def finish(self) -> Path:
        """Close the complete file; return its path, whose suffix shows the format of the data.

        Raises:
            DatasetError: the file is empty, damaged or of an unsupported format.
            TooLargeError: the file in an archive, or the content of a workbook, exceeds the limit.
        """
        if self._first:
            self._file.write(self._first)
        self.close()
        if self._gunzip is not None:
            self._gunzip.finish()
        head = self._head()
        if head.startswith(archive.MAGIC):
            size = archive.workbook_bytes(self._path)
            if size is not None:
                if size > self._limit:
                    raise TooLargeError
                return self._path.rename(self._path.with_suffix(".xlsx"))
            self._unpack()
            head = self._head()
        if not head:
            raise DatasetError(f"the request has no data; send {FORMATS}")
        refused = next((what for magic, what in _REFUSED.items() if head.startswith(magic)), None)
        if refused is not None:
            raise DatasetError(f"this is {refused}, which is not accepted; send {FORMATS}")
        suffix = next((suffix for magic, suffix in _SUFFIXES.items() if head.startswith(magic)), ".csv")
        return self._path.rename(self._path.with_suffix(suffix))

    def _head(self) -> bytes:
        with self._path.open("rb") as opened:
            return opened.read(1024).lstrip(_SPACE)

    def _unpack(self) -> None:
        """Replace an archive by the file that it contains."""
        unpacked, left = self._path.with_name("unpacked"), self._limit
        with unpacked.open("wb") as opened:
            for piece in archive.file_of_archive(self._path):
                left -= len(piece)
                if left < 0:
                    raise TooLargeError
                opened.write(piece)
        unpacked.replace(self._path)
