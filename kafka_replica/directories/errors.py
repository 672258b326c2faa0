"""The errors of directories."""

from __future__ import annotations

from kafka_replica.errors import DataError

__all__ = ["DuplicateValueError"]


class DuplicateValueError(DataError, LookupError):
    """Several records have a value that a key or a unique index expects once."""
