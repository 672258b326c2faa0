"""Choose the log reader of a replica and the matching boundary detector."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from kafka_replica.broker.connection.security import connection_settings
from kafka_replica.broker.connection.settings import reader_settings
from kafka_replica.broker.reading.consumer import ConsumerReader, check_names
from kafka_replica.broker.reading.contract import LogReader
from kafka_replica.broker.reading.markers import MarkerReader
from kafka_replica.broker.wire.connection import TooOldError
from kafka_replica.errors import ConfigurationError
from kafka_replica.transactions import BoundaryDetector, MarkerDetector, QuiescenceDetector

__all__ = ["Boundaries", "TooOldError", "check_settings", "make_reader"]

_log = logging.getLogger("kafka_replica")


class Boundaries(StrEnum):
    """The way to find out where transactions end."""

    AUTO = "auto"
    """Markers, or quiescence where markers are not available."""
    MARKERS = "markers"
    """Markers in the log's own batches: exact, with a version per transaction."""
    QUIESCENCE = "quiescence"
    """Moments at which no transaction is open, observed with the confluent-kafka consumer."""


def check_settings(config: Mapping[str, Any], boundaries: Boundaries) -> None:
    """Reject early the settings that a reader would reject later.

    Raises:
        ConfigurationError: a property is impossible, would break a guarantee, or does not fit these boundaries.
    """
    reader_settings(config)
    if boundaries is Boundaries.MARKERS:
        connection_settings(config)


def make_reader(
    config: Mapping[str, Any], topics: Iterable[str], boundaries: Boundaries
) -> tuple[LogReader, BoundaryDetector]:
    """Return a reader and its boundary detector.

    Raises:
        ConfigurationError: a property is impossible, or is not supported with this kind of boundaries.
    """
    if boundaries is not Boundaries.QUIESCENCE:
        check_names(config)
        try:
            return MarkerReader(config, topics), MarkerDetector()
        except ConfigurationError as error:
            if boundaries is Boundaries.MARKERS:
                raise
            _log.info("reading with the confluent-kafka consumer, by quiescence: %s", error)
    return ConsumerReader(config, topics), QuiescenceDetector()
