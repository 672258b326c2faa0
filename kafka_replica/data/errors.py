"""Errors of data files and maps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kafka_replica.errors import ConfigurationError, DataError, KafkaReplicaError, MissingExtraError, UsageError
from kafka_replica.sdmx.errors import SdmxError

__all__ = [
    "DatasetError",
    "EngineEndedError",
    "MapError",
    "NotInvertibleError",
]


class NotInvertibleError(UsageError):
    """A structure map that loses information cannot be inverted; the message names the lost information."""


class DatasetError(DataError):
    """A data set violates its format; the message names the file, and the column if the error is in one column."""


class EngineEndedError(KafkaReplicaError):
    """The process that runs an engine, such as Spark's Java, ended during a job; the message names the likely cause."""


class MapError(SdmxError):
    """A structure map, or a map that it refers to, cannot be applied."""


@contextmanager
def data_errors() -> Iterator[None]:
    """Report the usage errors of a job as errors in the data, since the command or request itself is correct.

    Raises:
        DatasetError: a file cannot be read as it is.
    """
    try:
        yield
    except (ConfigurationError, MissingExtraError):
        raise
    except UsageError as error:
        raise DatasetError(str(error)) from error
