"""Decompression of gzip in pieces, with a limit. Source: RFC 1952."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

from kafka_replica.data.errors import DatasetError

_PIECE: Final = 1 << 18
_WITH_HEADER: Final = 16 + zlib.MAX_WBITS

MAGIC: Final = b"\x1f\x8b"
"""The first bytes of a file in gzip format. Source: RFC 1952, 2.3.1."""


class Gunzip:
    """A decompressor, which holds no more than a piece in memory."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_WITH_HEADER)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the decompressed pieces of some data; members may follow each other, and zeros may fill the end.

        Raises:
            DatasetError: the data is damaged.
        """
        while data:
            if self._member.eof:
                data = data.lstrip(b"\0")
                if not data:
                    return
                self._member = zlib.decompressobj(_WITH_HEADER)
            try:
                piece = self._member.decompress(data, _PIECE)
            except zlib.error as error:
                raise DatasetError(f"decompressing the data: {error}") from error
            data = self._member.unconsumed_tail or self._member.unused_data
            if piece:
                yield piece

    def finish(self) -> None:
        """Check that the data is complete.

        Raises:
            DatasetError: the data ends too early.
        """
        if not self._member.eof:
            raise DatasetError("decompressing the data: it ends before the end of its gzip format")
