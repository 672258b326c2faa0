"""Decompression of gzip in pieces. Source: RFC 1952."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Final

from kafka_replica.data.errors import DatasetError

_PIECE: Final = 1 << 18
_WITH_HEADER: Final = 16 + zlib.MAX_WBITS

MAGIC: Final = b"\x1f\x8b"
"""The first bytes of a file in gzip format. Source: RFC 1952, 2.3.1."""


def _failed(error: zlib.error | None) -> Exception:
    reason = "it ends before the end of its gzip format" if error is None else error
    return DatasetError(f"decompressing the data: {reason}")


class GzipDecompressor:
    """A decompressor of gzip data that holds at most one piece of its output in memory.

    Args:
        size: the largest size of a piece, in bytes.
        failed: creates the exception to raise, from zlib's error or, if the data ends too early, from None.
    """

    def __init__(self, size: int = _PIECE, failed: Callable[[zlib.error | None], Exception] = _failed) -> None:
        self._size, self._failed = size, failed
        self._member = zlib.decompressobj(_WITH_HEADER)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the decompressed pieces of the next data; members may follow each other, and zeros may pad the end.

        Raises:
            DatasetError: the data is damaged; ``failed`` may choose another exception.
        """
        while data:
            if self._member.eof:
                data = data.lstrip(b"\0")
                if not data:
                    return
                self._member = zlib.decompressobj(_WITH_HEADER)
            try:
                piece = self._member.decompress(data, self._size)
            except zlib.error as error:
                raise self._failed(error) from error
            data = self._member.unconsumed_tail or self._member.unused_data
            if piece:
                yield piece

    def finish(self) -> None:
        """Check that the data is complete.

        Raises:
            DatasetError: the data ends too early; ``failed`` may choose another exception.
        """
        if not self._member.eof:
            raise self._failed(None)
