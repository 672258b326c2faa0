"""Validation and mapping with the engine that fits the frame: the same call on a laptop and on a cluster.

::

    checked = validate(frame, "KR_DEMO:LABOUR(1.0)", snapshot)  # polars for a table, Spark for a Spark frame
    mapped = transform(frame, "KR_DEMO:LABOUR_TO_PANEL(1.0)", snapshot)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from kafka_replica.errors import ConfigurationError, UsageError

if TYPE_CHECKING:  # importing one part of ``data`` does not import the others
    from kafka_replica.data.mapping import MapPlan
    from kafka_replica.data.validation.model import Rules
    from kafka_replica.sdmx import Snapshot, Urn


def validate(
    frame: Any,
    reference: Urn | str | Rules,
    snapshot: Snapshot | None = None,
    *,
    engine: Literal["local", "spark"] | None = None,
    **options: Any,
) -> Any:
    """Return the frame with a column ``_errors``; see :func:`kafka_replica.data.polars.validate` and Spark's.

    Args:
        frame: a polars, pandas, Arrow or Spark frame, or a list of dictionaries.
        reference: the URN of a data structure, dataflow or provision agreement, a short reference to one, or rules.
        snapshot: the version to validate against; None with rules.
        engine: ``local`` returns a polars frame, after collecting a frame of Spark; ``spark`` needs a Spark frame. None
            selects Spark for a Spark frame and polars for any other.
        options: ``rules``, ``action``, ``as_of``; see the engines.

    Raises:
        MissingExtraError: the engine's packages are not installed.
        ConfigurationError: the engine is unknown.
        UsageError: Spark is requested, and the frame is not a Spark frame.
        SdmxError: see the engines.
    """
    return _engine_for(frame, engine, "validating").validate(frame, reference, snapshot, **options)


def transform(
    frame: Any,
    reference: Urn | str | MapPlan,
    snapshot: Snapshot | None = None,
    *,
    engine: Literal["local", "spark"] | None = None,
    **options: Any,
) -> Any:
    """Return the frame mapped to another structure; see :func:`kafka_replica.data.polars.transform` and Spark's.

    Args:
        frame: a polars, pandas, Arrow or Spark frame, or a list of dictionaries.
        reference: the URN of a structure map, which may be in a structure set, a short reference to it, or a plan.
        snapshot: the version to take the map from; None with a plan.
        engine: ``local`` returns a polars frame, after collecting a frame of Spark; ``spark`` needs a Spark frame. None
            selects Spark for a Spark frame and polars for any other.
        options: ``rules``, ``reverse``, ``as_of``; see the engines.

    Raises:
        MissingExtraError: the engine's packages are not installed.
        ConfigurationError: the engine is unknown.
        UsageError: Spark is requested, and the frame is not a Spark frame.
        SdmxError: see the engines.
    """
    return _engine_for(frame, engine, "mapping").transform(frame, reference, snapshot, **options)


def _engine_for(frame: Any, engine: str | None, doing: str) -> Any:
    """Return the package of the requested engine, or of the one that fits a frame; error messages contain ``doing``."""
    is_sparks = type(frame).__module__.startswith("pyspark.")
    if engine not in {None, "local", "spark"}:
        raise ConfigurationError(f"{doing} with engine={engine!r}: use local or spark")
    if engine == "spark" and not is_sparks:
        raise UsageError(
            f"{doing} a {type(frame).__name__} on Spark: convert it to a Spark frame first, with "
            "spark.createDataFrame(...)"
        )
    # Imported by name: the Spark package depends on this one, and neither engine has to be installed.
    return import_module("kafka_replica_spark" if is_sparks and engine != "local" else "kafka_replica.data.polars")
