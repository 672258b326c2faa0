"""Opening a log with the reader and detector that were requested, or with those that the broker allows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka_replica.broker.reading.contract import LogReader, Opened
from kafka_replica.broker.reading.readers import Boundaries, TooOldError
from kafka_replica.replication.options import ReplicaOptions
from kafka_replica.replication.retry import BrokerRetry
from kafka_replica.transactions import BoundaryDetector

_log = logging.getLogger("kafka_replica")

MakeReader = Callable[[Mapping[str, Any], Iterable[str], Boundaries], tuple[LogReader, BoundaryDetector]]
"""A function that makes a reader of topics, and the boundary detector that fits the reader."""


def open_log(
    options: ReplicaOptions, make_reader: MakeReader, retry: BrokerRetry, open_: Callable[[LogReader], Opened]
) -> tuple[LogReader, BoundaryDetector, Opened]:
    """Open a log; return the reader, its boundary detector, and the state of the log at the opening.

    Args:
        options: the topics to read, and how to read them.
        make_reader: makes the reader.
        retry: waits for a broker that does not answer yet.
        open_: opens a reader.

    Raises:
        KafkaReplicaError: the log cannot be opened; the reader is closed again.
        ClosedMeanwhileError: the replica is being closed.
    """
    try:
        return _open_by(options.boundaries, options, make_reader, retry, open_)
    except TooOldError as error:
        if options.boundaries is not Boundaries.AUTO:
            raise
        _log.info("reading with the confluent-kafka consumer, by quiescence: %s", error)
        return _open_by(Boundaries.QUIESCENCE, options, make_reader, retry, open_)


def _open_by(
    boundaries: Boundaries,
    options: ReplicaOptions,
    make_reader: MakeReader,
    retry: BrokerRetry,
    open_: Callable[[LogReader], Opened],
) -> tuple[LogReader, BoundaryDetector, Opened]:
    reader, detector = make_reader(options.config, options.topics, boundaries)
    try:
        return reader, detector, retry.call(reader, lambda: open_(reader))
    except BaseException:
        reader.close()
        raise
