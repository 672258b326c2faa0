"""Validate and map data with polars in this process, with the same findings as with Spark on a cluster.

::

    from kafka_replica.data.polars import split, validate

    good, bad = split(validate(frame, "KR_DEMO:LABOUR(1.0)", snapshot))
"""

from __future__ import annotations

from kafka_replica.errors import MissingExtraError

try:
    # Imported here only to raise a helpful error early if polars is missing.
    import polars  # noqa: F401, ICN001
except ImportError as error:
    raise MissingExtraError("validating without Spark", "polars") from error

from kafka_replica.data.polars.finding_files import write_findings
from kafka_replica.data.polars.mapping import transform
from kafka_replica.data.polars.reports import dataset_findings, finding_table, report
from kafka_replica.data.polars.validation import SplitRows, split, validate

__all__ = [
    "SplitRows",
    "dataset_findings",
    "finding_table",
    "report",
    "split",
    "transform",
    "validate",
    "write_findings",
]
