"""Mapping by whichever engine fits the frame: one call on a laptop and on a cluster.

::

    mapped = transform(frame, "KR_DEMO:LABOUR_TO_PANEL(1.0)", snapshot)  # polars for a table, Spark for a Spark frame
"""

from __future__ import annotations

from typing import Any, Literal

from kafka_replica.mapping import MapPlan
from kafka_replica.sdmx import Snapshot, Urn
from kafka_replica.validation import engine_for


def transform(
    frame: Any,
    reference: Urn | str | MapPlan,
    snapshot: Snapshot | None = None,
    *,
    engine: Literal["local", "spark"] | None = None,
    **options: Any,
) -> Any:
    """The frame mapped to another structure, as :func:`kafka_replica.local.transform` and Spark's do it.

    Args:
        frame: a polars, pandas, Arrow or Spark frame, or a list of dictionaries.
        reference: the URN of a structure map, or of one in a structure set, a short reference to one, or a plan.
        snapshot: the version to take the map from; None with a plan.
        engine: ``local`` gives a polars frame, also of a Spark one, which is then collected; ``spark`` needs a
            Spark frame. None takes Spark for a Spark frame and polars for anything else.
        options: ``rules``, ``reverse``, ``as_of``; see the engines.

    Raises:
        MissingExtraError: the engine's packages are not installed.
        ConfigurationError: there is no such engine.
        UsageError: Spark is asked for, and the frame is not Spark's.
        SdmxError: see the engines.
    """
    return engine_for(frame, engine, "mapping").transform(frame, reference, snapshot, **options)
