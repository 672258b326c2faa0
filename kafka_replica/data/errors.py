"""Errors of data files and maps."""

from __future__ import annotations

from kafka_replica.errors import DataError, UsageError
from kafka_replica.sdmx.errors import SdmxError

__all__ = [
    "DatasetError",
    "MapError",
    "NotInvertibleError",
]


class NotInvertibleError(UsageError):
    """A structure map that loses information cannot be inverted; the message names what it loses."""


class DatasetError(DataError):
    """A data set violates its format; the message names the file, and the column if the error is in one column."""


class MapError(SdmxError):
    """A structure map, or a map that it refers to, cannot be applied."""
