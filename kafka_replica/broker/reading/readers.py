"""Choose the log reader of a replica and the matching boundary detector."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from kafka_replica.broker.connection.security import connection_settings
from kafka_replica.broker.connection.settings import reader_settings
from kafka_replica.broker.reading.consumer import ConsumerReader, check_names
from kafka_replica.broker.reading.contract import LogReader
from kafka_replica.broker.reading.marker_reader import MarkerReader
from kafka_replica.broker.wire.connection import TooOldError
from kafka_replica.common.compiled import parser_name
from kafka_replica.errors import ConfigurationError
from kafka_replica.transactions import BoundaryDetector, MarkerDetector, QuiescenceDetector

__all__ = ["Boundaries", "check_settings", "choose_reader", "make_reader"]

T = TypeVar("T")

_log = logging.getLogger("kafka_replica")


class Boundaries(StrEnum):
    """The way to find out where transactions end."""

    AUTO = "auto"
    """Markers, or quiescence where markers are not available."""
    MARKERS = "markers"
    """Markers in the log's own batches: exact, in one partition with a version per transaction."""
    QUIESCENCE = "quiescence"
    """Moments at which no transaction is open, observed with the confluent-kafka consumer."""


class NotByMarkersError(ConfigurationError):
    """The properties do not allow reading the log's own batches; the confluent-kafka consumer may allow them."""


def check_settings(config: Mapping[str, Any], boundaries: Boundaries) -> None:
    """Reject immediately the settings that a reader would reject later.

    Raises:
        ConfigurationError: a property is impossible, would break a guarantee, or does not fit these boundaries.
    """
    reader_settings(config)
    if boundaries is Boundaries.MARKERS:
        connection_settings(config)


def make_reader(
    config: Mapping[str, Any], topics: Iterable[str], boundaries: Boundaries
) -> tuple[LogReader, BoundaryDetector]:
    """Return a reader and its boundary detector, by markers or by quiescence; see ``choose_reader``.

    Raises:
        NotByMarkersError: the properties do not allow reading by markers.
        ConfigurationError: a property is impossible.
    """
    if boundaries is Boundaries.QUIESCENCE:
        return ConsumerReader(config, topics), QuiescenceDetector()
    check_names(config)
    try:
        reader = MarkerReader(config, topics)
    except ConfigurationError as error:
        raise NotByMarkersError(str(error)) from error
    _log.info("reading by markers, with the %s parser of record batches", parser_name())
    return reader, MarkerDetector()


def choose_reader(boundaries: Boundaries, open_by: Callable[[Boundaries], T]) -> T:
    """Return what ``open_by`` returns for the requested kind of boundaries.

    ``AUTO`` means by markers, or by quiescence if the properties or the broker do not allow markers.
    """
    if boundaries is not Boundaries.AUTO:
        return open_by(boundaries)
    try:
        return open_by(Boundaries.MARKERS)
    except (NotByMarkersError, TooOldError) as error:
        _log.warning("reading with the confluent-kafka consumer, by quiescence, which may delay versions: %s", error)
        return open_by(Boundaries.QUIESCENCE)
