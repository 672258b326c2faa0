"""Decompress gzip, lz4 frames and zstd (RFC 8878): into buffers of a limited size, or into a pipe."""

from __future__ import annotations

from mmap import mmap
from types import ModuleType
from typing import Final

import cramjam

CODECS: Final[dict[str, ModuleType]] = {"gzip": cramjam.gzip, "lz4": cramjam.lz4, "zstd": cramjam.zstd}
_TOO_SMALL: Final = "failed to write whole buffer"
_FEWEST_BYTES: Final = 1_024
_FIRST_GUESS: Final = 4  # the compression ratio that is tried first
_GROWTH: Final = 4


class MoreBytesError(ValueError):
    """The data has more bytes than the buffer."""


def decompressed(codec: str, data: bytes, most_bytes: int) -> bytes:
    """Return data of an unknown size decompressed, without ever allocating a buffer of more than ``most_bytes``.

    Raises:
        MoreBytesError: decompressed, the data has more than ``most_bytes``.
        ValueError: the data is damaged.
    """
    size = min(max(_FEWEST_BYTES, _FIRST_GUESS * len(data)), most_bytes)
    while True:
        try:
            return decompressed_into(codec, data, size)
        except MoreBytesError:
            if size == most_bytes:
                raise
        size = min(_GROWTH * size, most_bytes)


def decompressed_into(codec: str, data: bytes, size: int) -> bytes:
    """Return data decompressed with a buffer of ``size`` bytes.

    Raises:
        MoreBytesError: decompressed, the data has more bytes.
        ValueError: the data is damaged.
    """
    buffer = memoryview(bytearray(size))
    return bytes(buffer[: decompress_to_buffer(codec, data, buffer)])


def decompress_to_buffer(codec: str, data: bytes, buffer: memoryview) -> int:
    """Write data decompressed to the beginning of a buffer; return its size.

    Raises:
        MoreBytesError: decompressed, the data has more bytes than the buffer.
        ValueError: the data is damaged.
    """
    try:
        return int(CODECS[codec].decompress_into(data, buffer))
    except cramjam.DecompressionError as error:
        if str(error) == _TOO_SMALL:
            raise MoreBytesError(f"it has more than {len(buffer):,} bytes uncompressed") from error
        raise ValueError(str(error)) from error


def decompress_to_path(codec: str, data: bytes | mmap, path: str) -> None:
    """Decompress data to a path that exists, such as that of a pipe, without holding the result in memory.

    Raises:
        ValueError: the data is damaged.
        OSError: the path cannot be opened, or the pipe was closed.
    """
    file = cramjam.File(path, read=False, write=True, truncate=False)
    try:
        CODECS[codec].decompress_into(data, file)
    except cramjam.DecompressionError as error:
        raise ValueError(str(error)) from error
    finally:
        del file  # closes it; the traceback of an exception would keep it open, and who reads a pipe would wait
