"""The limit for decompressed content, beyond which a file is treated as an attack."""

from __future__ import annotations

from typing import Final

from kafka_replica.data.errors import DatasetError

_MAX_RATIO: Final = 200
_ALWAYS_ALLOWED: Final = 256 << 20


def decompression_limit(packed: int) -> int:
    """Return the limit in bytes for decompressed content: 256 MiB, or 200 times the compressed size if that is more.

    Statistical data is seldom compressed to less than a hundredth of its size.
    """
    return max(_ALWAYS_ALLOWED, _MAX_RATIO * packed)


def content_too_large(where: str, limit: int) -> DatasetError:
    """Return the error for content of more than ``limit`` bytes."""
    return DatasetError(
        f"reading {where}: decompressed, it has more than {limit:,} bytes, far more than usual; if this is not an "
        "attack, decompress it first"
    )
