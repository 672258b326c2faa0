"""Open a log with the reader and detector that were requested, or with those that the broker allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka_replica.broker.reading.contract import LogReader, StartOffsets
from kafka_replica.broker.reading.readers import Boundaries, choose_reader
from kafka_replica.replication.broker_retry import BrokerRetry
from kafka_replica.replication.options import ReplicaOptions
from kafka_replica.transactions import BoundaryDetector

MakeReader = Callable[[Mapping[str, Any], Iterable[str], Boundaries], tuple[LogReader, BoundaryDetector]]
"""A function that returns a reader of topics, and the boundary detector that suits the reader."""


def open_log(
    options: ReplicaOptions, make_reader: MakeReader, retry: BrokerRetry, open_: Callable[[LogReader], StartOffsets]
) -> tuple[LogReader, BoundaryDetector, StartOffsets]:
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
    return choose_reader(
        options.boundaries, lambda boundaries: _open_by(boundaries, options, make_reader, retry, open_)
    )


def _open_by(
    boundaries: Boundaries,
    options: ReplicaOptions,
    make_reader: MakeReader,
    retry: BrokerRetry,
    open_: Callable[[LogReader], StartOffsets],
) -> tuple[LogReader, BoundaryDetector, StartOffsets]:
    reader, detector = make_reader(options.config, options.topics, boundaries)
    try:
        return reader, detector, retry.call(reader, lambda: open_(reader))
    except BaseException:
        reader.close()
        raise
