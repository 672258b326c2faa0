"""Validate data in Structured Streaming, each micro-batch against the newest version at its start.

::

    def write(checked: DataFrame, batch: Batch) -> None:
        good, bad = split(checked)
        good.write.mode("append").parquet("good")
        bad.write.mode("append").parquet("bad")

    query = validate_stream(stream, "KR_DEMO:LABOUR(1.0)", replica, write, checkpoint="checkpoint").start()
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import date
from typing import NamedTuple, TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from kafka_replica import Replica, Snapshot, State
from kafka_replica.data.validation.actions import Action
from kafka_replica.errors import BrokerError, NotReadyError, ReplicaClosedError, UsageError
from kafka_replica.sdmx import Urn
from kafka_replica_spark.batches import BatchRecord, BatchStart
from kafka_replica_spark.connect import refuse_connect
from kafka_replica_spark.stamps import position_json
from kafka_replica_spark.validation import validate

_log = logging.getLogger("kafka_replica")


class Batch(NamedTuple):
    """A micro-batch, and the version with which all of its rows are processed."""

    number: int
    """Spark's number of the batch, which is the same when the batch is repeated."""
    snapshot: Snapshot
    """The version."""
    repeats: BatchStart | None
    """The version with which the batch began earlier, if this is a repetition and the version is known; else None."""

    @property
    def version(self) -> int:
        """The number of the version."""
        return self.snapshot.version

    @property
    def position(self) -> str:
        """The position of the version as JSON, which is the same in every replica of the topic, unlike its number."""
        return position_json(self.snapshot)


Prepare: TypeAlias = Callable[[DataFrame, Snapshot], DataFrame]
"""A function from the rows of a batch and a version to the rows to write, such as ``validate``."""
Write: TypeAlias = Callable[[DataFrame, Batch], object]
"""A function that writes the prepared rows of a batch."""


def validate_stream(
    stream: DataFrame,
    reference: Urn | str,
    replica: Replica,
    write: Write,
    *,
    checkpoint: str,
    rules: Mapping[str, str] | None = None,
    action: Action = "information",
    as_of: date | None = None,
    timeout_s: float = 60.0,
) -> DataStreamWriter:
    """Return a query that validates each micro-batch; the caller adds ``trigger()``, ``queryName()`` and ``start()``.

    Rows are stamped with the version (``_version``, ``_position``). Rules that compare rows compare only rows of the
    same batch.

    Args:
        stream: a streaming frame of observations.
        reference: the artefact to validate against; see ``validate`` for this argument, ``rules`` and ``action``.
        replica: a started replica in this process.
        write: writes the validated rows of a batch. Spark repeats a batch that was not completed, so writing must be
            repeatable, for example to a folder named by ``batch.number``.
        checkpoint: the checkpoint location of the query.
        rules: rule code to severity or ``off``.
        action: the action of rows without one.
        as_of: the date on which constraints must be valid; None means the day of each batch.
        timeout_s: the time that the first batch waits for the replica to be ready, in seconds.

    Raises:
        UsageError: the frame is not streaming, or is of Spark Connect, whose driver is another process.
    """

    def prepare(rows: DataFrame, snapshot: Snapshot) -> DataFrame:
        return validate(rows, reference, snapshot, rules=rules, action=action, as_of=as_of, stamp=True)

    return write_stream(stream, replica, prepare, write, checkpoint=checkpoint, timeout_s=timeout_s)


def write_stream(
    stream: DataFrame,
    replica: Replica,
    prepare: Prepare,
    write: Write,
    *,
    checkpoint: str,
    timeout_s: float = 60.0,
) -> DataStreamWriter:
    """Return a query with any preparation of rows, such as mapping, joins with views, or several such steps.

    ::

        def prepare(rows: DataFrame, snapshot: Snapshot) -> DataFrame:
            return validate(rows.join(views(spark, snapshot).codes(), ...), "KR_DEMO:LABOUR(1.0)", snapshot)

    The other arguments and the errors are those of :func:`validate_stream`.
    """
    if not stream.isStreaming:
        raise UsageError("checking micro-batches: the frame is not streaming; use validate()")
    refuse_connect(
        stream,
        "checking micro-batches against a replica",
        "the function of foreachBatch runs in the server, which does not have this process's replica; run the query "
        "in a "
        "separate session, or read format('kafka_replica') within the function",
    )
    record = BatchRecord(stream.sparkSession, checkpoint)
    call = foreach_batch(replica, prepare, write, record=record, timeout_s=timeout_s)
    return stream.writeStream.foreachBatch(call).option("checkpointLocation", checkpoint)


def foreach_batch(
    replica: Replica,
    prepare: Prepare,
    write: Write,
    *,
    record: BatchRecord | None = None,
    timeout_s: float = 60.0,
) -> Callable[[DataFrame, int], None]:
    """Return a function for ``DataStreamWriter.foreachBatch`` that uses the newest version at the start of each batch.

    The returned function raises these errors, which end the query: ``ReplicaClosedError`` if the replica was closed,
    ``NotReadyError`` if it was not started, ``WaitTimeoutError`` if it is not ready in time, and ``BrokerError`` if it
    failed, so that it would never have a newer version.

    Args:
        replica: a started replica in this process.
        prepare: returns the rows to write.
        write: writes the rows.
        record: records the version of each batch; without it, repetitions of a batch cannot be detected.
        timeout_s: the time that a batch waits for the replica to be ready, in seconds.
    """

    def call(rows: DataFrame, number: int) -> None:
        snapshot = _newest(replica, timeout_s)
        batch = Batch(number, snapshot, None if record is None else record.earlier_start(number))
        _log_version(batch, replica.state)
        if record is not None:
            record.record_start(number, BatchStart(batch.version, batch.position))
        write(prepare(rows, snapshot), batch)

    return call


def _newest(replica: Replica, timeout_s: float) -> Snapshot:
    state = replica.state
    if state is State.STOPPED:
        raise ReplicaClosedError(f"checking a micro-batch: the replica of {replica.topic} is closed; keep it open")
    if state is State.NEW:
        raise NotReadyError(f"checking a micro-batch: the replica of {replica.topic} was not started; call start()")
    if state is State.FAILED:
        raise BrokerError(
            f"checking a micro-batch: the replica of {replica.topic} failed, so its version can no longer advance: "
            f"{replica.status().last_error}; correct that, and restart replica and query"
        )
    return replica.wait_ready(timeout_s)


def _log_version(batch: Batch, state: State) -> None:
    what = f"checking micro-batch {batch.number} against version {batch.version} of {batch.position}"
    if batch.repeats is not None:
        _log.warning(
            "%s; this is a repetition of the batch, which was started before with version %d of %s",
            what,
            batch.repeats.version,
            batch.repeats.position,
        )
    elif state is not State.LIVE:
        _log.warning("%s; the replica is %s, so a newer version may exist", what, state)
    else:
        _log.info("%s", what)
