"""Spark on a replica: its codelists as DataFrames, and data frames validated against its data structures.

::

    from kafka_replica_spark import session, split, validate, views

    spark = session("checks")
    snapshot = replica.wait_ready(timeout_s=60)
    codes = views(spark, snapshot).codes()
    good, bad = split(validate(frame, "KR_DEMO:LABOUR(1.0)", snapshot))

The replica runs in the driver; its content is sent to executors inside a plan or as a frame, always from one version.
This package may import all of ``kafka_replica``, which never imports this package. Read ``validation`` first.
"""

from __future__ import annotations

from kafka_replica.errors import MissingExtraError

try:
    # Imported here only to raise a clear error early if they are missing.
    import pyarrow  # noqa: F401, ICN001
    import pyspark  # noqa: F401
except ImportError as error:
    raise MissingExtraError("Spark on a replica", "spark") from error

from kafka_replica_spark.broadcasts import BroadcastCodelists, broadcast
from kafka_replica_spark.datasource import register_data_source
from kafka_replica_spark.frames import OmittedArtefact, Views, views
from kafka_replica_spark.mapping import transform, transform_stream
from kafka_replica_spark.reports import dataset_findings, report
from kafka_replica_spark.sessions import session
from kafka_replica_spark.streaming import Batch, foreach_batch, validate_stream, write_stream
from kafka_replica_spark.validation import SplitRows, split, validate

__all__ = [
    "Batch",
    "BroadcastCodelists",
    "OmittedArtefact",
    "SplitRows",
    "Views",
    "broadcast",
    "dataset_findings",
    "foreach_batch",
    "register_data_source",
    "report",
    "session",
    "split",
    "transform",
    "transform_stream",
    "validate",
    "validate_stream",
    "views",
    "write_stream",
]
