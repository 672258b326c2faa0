"""Decompress zstd data (RFC 8878); no other module of ``kafka_replica.data`` uses its codec."""

from __future__ import annotations

from typing import Final

import cramjam

from kafka_replica.data.files.decompression_limit import too_large
from kafka_replica.errors import UsageError

ZSTD: Final = b"\x28\xb5\x2f\xfd"
_FIRST_GUESS: Final = 8  # the compression ratio that is tried first
_TOO_SMALL: Final = "failed to write whole buffer"


def unpacked_zstd(data: bytes, limit: int, where: str) -> bytes:
    """Return zstd data decompressed, without ever allocating a buffer of more than ``limit`` bytes.

    Raises:
        UsageError: the data is damaged, or has more than ``limit`` bytes.
    """
    size = min(max(1 << 16, _FIRST_GUESS * len(data)), limit)
    while True:
        buffer = bytearray(size)
        try:
            return bytes(memoryview(buffer)[: cramjam.zstd.decompress_into(data, buffer)])
        except cramjam.DecompressionError as error:
            if str(error) != _TOO_SMALL:
                raise UsageError(f"reading {where}: the zstd data is damaged: {error}") from error
            if size == limit:
                raise too_large(where, limit) from error
        size = min(4 * size, limit)
