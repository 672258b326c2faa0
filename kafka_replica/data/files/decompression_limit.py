"""The error for content that is far larger than the file that contains it."""

from __future__ import annotations

from kafka_replica.errors import UsageError


def too_large(where: str, limit: int) -> UsageError:
    """Return the error for content of more than ``limit`` bytes."""
    return UsageError(
        f"reading {where}: decompressed, it has more than {limit:,} bytes, far more than usual; if this is not an "
        "attack, decompress it first"
    )
