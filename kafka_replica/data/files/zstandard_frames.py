"""Decompress zstd data (RFC 8878)."""

from __future__ import annotations

from typing import Final

from kafka_replica.common.codecs import MoreBytesError, decompressed
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.decompression_limit import too_large

ZSTD: Final = b"\x28\xb5\x2f\xfd"


def unpacked_zstd(data: bytes, limit: int, where: str) -> bytes:
    """Return zstd data decompressed, without ever allocating a buffer of more than ``limit`` bytes.

    Raises:
        DatasetError: the data is damaged, or has more than ``limit`` bytes.
    """
    try:
        return decompressed("zstd", data, limit)
    except MoreBytesError as error:
        raise too_large(where, limit) from error
    except ValueError as error:
        raise DatasetError(f"reading {where}: the zstd data is damaged: {error}") from error
