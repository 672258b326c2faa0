"""Which reader a replica reads with, and the rule that goes with its evidence."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from kafka_replica.broker.consumer import ConsumerReader, check_names
from kafka_replica.broker.markers import MarkerReader
from kafka_replica.broker.security import connection_settings
from kafka_replica.broker.settings import reader_settings
from kafka_replica.broker.wire.link import TooOldError
from kafka_replica.cuts import Markers, QuietPoints, Rule
from kafka_replica.errors import ConfigurationError
from kafka_replica.source import Source

__all__ = ["Evidence", "TooOldError", "check_settings", "make_source"]

_log = logging.getLogger("kafka_replica")


class Evidence(StrEnum):
    """What tells where transactions end."""

    AUTO = "auto"
    """Markers, or quiet points where markers cannot be had."""
    MARKERS = "markers"
    """The log's own batches: exact, a version a transaction."""
    QUIET_POINTS = "quiet points"
    """Moments at which no transaction is open, seen with the confluent-kafka consumer."""


def check_settings(config: Mapping[str, Any], evidence: Evidence) -> None:
    """Refuses early what a reader would refuse later.

    Raises:
        ConfigurationError: a property is impossible, would break a promise, or cannot be had with this evidence.
    """
    reader_settings(config)
    if evidence is Evidence.MARKERS:
        connection_settings(config)


def make_source(config: Mapping[str, Any], topics: Iterable[str], evidence: Evidence) -> tuple[Source, Rule]:
    """A reader and its rule.

    Raises:
        ConfigurationError: a property is impossible, or cannot be had with this evidence.
    """
    if evidence is not Evidence.QUIET_POINTS:
        check_names(config)
        try:
            return MarkerReader(config, topics), Markers()
        except ConfigurationError as error:
            if evidence is Evidence.MARKERS:
                raise
            _log.info("reading with the confluent-kafka consumer, by quiet points: %s", error)
    return ConsumerReader(config, topics), QuietPoints()
