"""An uploaded data file: decompressed and counted while it is written, and named by the kind of its content."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kafka_replica.data.errors import DatasetError
from kafka_replica.server.data.gunzip import MAGIC, Gunzip

_SPACE: Final = b"\xef\xbb\xbf \t\r\n"
_SUFFIXES: Final = {b"<": ".xml", b"{": ".json"}
_REFUSED: Final = {
    MAGIC: "data that was compressed twice", b"PK\x03\x04": "a ZIP archive or XLSX", b"PAR1": "Parquet",
    b"ARROW1": "Arrow IPC", b"UNA:": "SDMX-EDI", b"UNB+": "SDMX-EDI",
}  # fmt: skip
FORMATS: Final = "SDMX-CSV, SDMX-JSON, SDMX-ML and plain CSV, as they are or compressed with gzip"


class TooLargeError(Exception):
    """Uploaded data is larger than the limit."""


class UploadedFile:
    """A file that is being received.

    Args:
        folder: the folder of the file, which nothing else uses.
        limit: the size that is possible, after decompression.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self._path = folder / "data"
        self._left = limit
        self._first: bytes | None = b""  # until there are enough bytes to recognize gzip
        self._gunzip: Gunzip | None = None
        self._file = self._path.open("wb")

    def write(self, data: bytes) -> None:
        """Add data.

        Raises:
            DatasetError: its compression is damaged.
            TooLargeError: it is too large.
        """
        if self._first is not None:
            data = self._first + data
            self._first = data if len(data) < len(MAGIC) else None
            if self._first is not None:
                return
            self._gunzip = Gunzip() if data.startswith(MAGIC) else None
        for piece in (data,) if self._gunzip is None else self._gunzip.feed(data):
            self._left -= len(piece)
            if self._left < 0:
                raise TooLargeError
            self._file.write(piece)

    def close(self) -> None:
        """Close the file, which is complete or given up. Idempotent."""
        self._file.close()

    def finish(self) -> Path:
        """Close the complete file; return its path, whose suffix tells the kind of the data.

        Raises:
            DatasetError: it is empty, damaged, or of a kind that is not read.
        """
        if self._first:
            self._file.write(self._first)
        self.close()
        if self._gunzip is not None:
            self._gunzip.finish()
        with self._path.open("rb") as opened:
            head = opened.read(1024).lstrip(_SPACE)
        if not head:
            raise DatasetError(f"the request has no data; send {FORMATS}")
        refused = next((what for magic, what in _REFUSED.items() if head.startswith(magic)), None)
        if refused is not None:
            raise DatasetError(f"this is {refused}, which is not accepted; send {FORMATS}")
        return self._path.rename(self._path.with_suffix(_SUFFIXES.get(head[:1], ".csv")))
