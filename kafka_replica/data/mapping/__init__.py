"""The mapping of data from one structure to another, compiled from the maps of one version.

::

    plan = compile_map(Structures(snapshot), "KR_DEMO:LABOUR_TO_PANEL(1.0)")
    plan.targets  # the components that get a value
    inverse(plan)  # the opposite direction, if the map loses no information

:mod:`kafka_replica.data.polars` runs plans on polars, :mod:`kafka_replica_spark` on Spark; both give the same rows.
Reports are built in the same way as for validation: see ``data.validation.report_building``.
"""

from __future__ import annotations

from kafka_replica.data.mapping.catalogue import MAP_RULES, MapRule
from kafka_replica.data.mapping.compiler import compile_map
from kafka_replica.data.mapping.inverse import inverse
from kafka_replica.data.mapping.model import SOURCE, MapPlan

__all__ = ["MAP_RULES", "SOURCE", "MapPlan", "MapRule", "compile_map", "inverse"]
