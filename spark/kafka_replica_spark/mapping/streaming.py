"""Map data in Structured Streaming, each micro-batch by the newest version at its start.

::

    def write(mapped: DataFrame, batch: Batch) -> None:
        good, bad = split(mapped)
        good.write.mode("overwrite").parquet(f"mapped/batch={batch.number}")
        bad.write.mode("overwrite").parquet(f"unmapped/batch={batch.number}")

    query = transform_stream(stream, "KR_DEMO:LABOUR_TO_PANEL(1.0)", replica, write, checkpoint="checkpoint").start()
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from kafka_replica import Replica, Snapshot
from kafka_replica.sdmx import Urn
from kafka_replica_spark.mapping.transforming import transform
from kafka_replica_spark.streaming import Write, write_stream


def transform_stream(
    stream: DataFrame,
    reference: Urn | str,
    replica: Replica,
    write: Write,
    *,
    checkpoint: str,
    rules: Mapping[str, str] | None = None,
    reverse: bool = False,
    as_of: date | None = None,
    timeout_s: float = 60.0,
) -> DataStreamWriter:
    """Return a query that maps each micro-batch; the caller adds ``trigger()``, ``queryName()`` and ``start()``.

    Rows are stamped with the version (``_version``, ``_position``). Rows that are mapped to the same observation
    (``ambiguous-key``) are detected within a batch.

    Args:
        stream: a streaming frame of observations.
        reference: the map; see ``transform`` for this argument, ``rules`` and ``reverse``.
        replica: a started replica in this process.
        write: writes the mapped rows of a batch. Spark repeats a batch that was not completed, so writing must be
            repeatable, for example to a folder named by ``batch.number``.
        checkpoint: the checkpoint location of the query.
        rules: rule code to severity or ``off``.
        reverse: whether to map back.
        as_of: the date to which two-digit years are assumed to be close; None means the day of each batch.
        timeout_s: the time that the first batch waits for the replica to be ready, in seconds.

    Raises:
        UsageError: the frame is not streaming, or is of Spark Connect, whose driver is another process.
    """

    def prepare(rows: DataFrame, snapshot: Snapshot) -> DataFrame:
        return transform(rows, reference, snapshot, rules=rules, reverse=reverse, as_of=as_of, stamp=True)

    return write_stream(stream, replica, prepare, write, checkpoint=checkpoint, timeout_s=timeout_s)
