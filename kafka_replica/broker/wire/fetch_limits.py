"""Derive the fetch limits of a reader of raw batches from librdkafka's properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_replica.broker.connection.fetch_defaults import OF_MARKER_READER
from kafka_replica.broker.wire.messages import FetchLimits
from kafka_replica.errors import ConfigurationError


def fetch_limits(config: Mapping[str, Any]) -> FetchLimits:
    """Return the size and time limits of fetches, from librdkafka's properties or the defaults.

    Raises:
        ConfigurationError: a property is not a number.
    """

    def number(name: str, alias: str = "") -> int:
        given = alias if alias in config else name
        value = config.get(given, OF_MARKER_READER[name])
        try:
            return int(value)
        except (TypeError, ValueError) as error:
            raise ConfigurationError(f"{given}={value!r} is not a number") from error

    return FetchLimits(
        wait_ms=number("fetch.wait.max.ms"),
        min_bytes=number("fetch.min.bytes"),
        max_bytes=number("fetch.max.bytes"),
        partition_bytes=number("fetch.message.max.bytes", "max.partition.fetch.bytes"),
    )
