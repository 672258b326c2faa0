"""Validation and mapping of the data sets that structures describe, on one machine (polars) or on Spark.

``validation`` and ``mapping`` compile rules and plans, which are independent of an engine; ``files`` describes the
layout of data files, ``polars`` is the engine for one machine, ``jobs`` does the work of the commands. May import
``sdmx``. Read ``validation`` first.
"""

from __future__ import annotations

from kafka_replica.data.any_engine import transform, validate
from kafka_replica.data.errors import DatasetError, EngineEndedError, MapError, NotInvertibleError

__all__ = [
    "DatasetError",
    "EngineEndedError",
    "MapError",
    "NotInvertibleError",
    "transform",
    "validate",
]
