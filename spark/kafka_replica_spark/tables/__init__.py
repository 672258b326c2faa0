"""The tables that views, and the data source, show: Arrow tables of the structures of one version.

One module a subject; ``VIEWS`` has them by name. A table is made artefact by artefact, so that a long codelist is never
in memory twice; what cannot be read is listed, never left out in silence.
"""

from __future__ import annotations

from typing import Final

from kafka_replica_spark.tables.constraints import CONSTRAINTS
from kafka_replica_spark.tables.items import CODES, CONCEPTS, HIERARCHIES
from kafka_replica_spark.tables.mappings import MAPPINGS
from kafka_replica_spark.tables.reading import Selection, Unreadable, ViewTables
from kafka_replica_spark.tables.references import REFERENCES
from kafka_replica_spark.tables.structures import COMPONENTS, STRUCTURES
from kafka_replica_spark.tables.view import View

__all__ = ["VIEWS", "Selection", "Unreadable", "View", "ViewTables"]

VIEWS: Final[dict[str, View]] = {
    view.name: view
    for view in (STRUCTURES, CODES, CONCEPTS, COMPONENTS, CONSTRAINTS, MAPPINGS, HIERARCHIES, REFERENCES)
}
"""The views by name."""
