"""Rules on polars: data below cluster scale checked in this process, with the findings that Spark would give.

::

    from kafka_replica.data.polars import split, validate

    good, bad = split(validate(frame, "KR_DEMO:LABOUR(1.0)", snapshot))
"""

from __future__ import annotations

from kafka_replica.errors import MissingExtraError

try:
    # Only to tell early, and well, that it is missing.
    import polars  # noqa: F401, ICN001
except ImportError as error:
    raise MissingExtraError("validating without Spark", "polars") from error

from kafka_replica.data.polars.mapping import transform
from kafka_replica.data.polars.reports import dataset_findings, report
from kafka_replica.data.polars.validation import Split, split, validate

__all__ = ["Split", "dataset_findings", "report", "split", "transform", "validate"]
