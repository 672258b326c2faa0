"""Validation by whichever engine fits the frame: one call on a laptop and on a cluster.

::

    checked = validate(frame, "KR_DEMO:LABOUR(1.0)", snapshot)  # polars for a table, Spark for a Spark frame
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

from kafka_replica.errors import ConfigurationError, UsageError
from kafka_replica.rules.model import Rules
from kafka_replica.sdmx import Snapshot, Urn


def validate(
    frame: Any,
    reference: Urn | str | Rules,
    snapshot: Snapshot | None = None,
    *,
    engine: Literal["local", "spark"] | None = None,
    **options: Any,
) -> Any:
    """The frame with a column ``_errors``, as :func:`kafka_replica.local.validate` and ``kafka_replica_spark`` give it.

    Args:
        frame: a polars, pandas, Arrow or Spark frame, or a list of dictionaries.
        reference: the URN of a data structure, dataflow or provision agreement, a short reference to one, or rules.
        snapshot: the version to validate against; None with rules.
        engine: ``local`` gives a polars frame, also of a Spark one, which is then collected; ``spark`` needs a
            Spark frame. None takes Spark for a Spark frame and polars for anything else.
        options: ``rules``, ``action``, ``as_of``; see the engines.

    Raises:
        MissingExtraError: the engine's packages are not installed.
        ConfigurationError: there is no such engine.
        UsageError: Spark is asked for, and the frame is not Spark's.
        SdmxError: see the engines.
    """
    return engine_for(frame, engine, "validating").validate(frame, reference, snapshot, **options)


def engine_for(frame: Any, engine: str | None, doing: str) -> Any:
    """The package of the engine that fits a frame, or that was asked for; ``doing`` is for messages."""
    is_sparks = type(frame).__module__.startswith("pyspark.")
    if engine not in {None, "local", "spark"}:
        raise ConfigurationError(f"{doing} with engine={engine!r}: give local or spark")
    if engine == "spark" and not is_sparks:
        raise UsageError(
            f"{doing} a {type(frame).__name__} on Spark: make a Spark frame of it first, spark.createDataFrame(...)"
        )
    # By name: the Spark room stands above this one, and neither engine need be installed.
    return import_module("kafka_replica_spark" if is_sparks and engine != "local" else "kafka_replica.local")
