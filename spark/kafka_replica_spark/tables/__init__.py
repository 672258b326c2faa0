"""The Arrow tables of the structures of one version, for views and the data source.

Each subject has a module; ``VIEWS`` has the views by name. A table is built artefact by artefact, so that a long
codelist is never in memory twice. Artefacts that cannot be read are reported, and never left out silently.
"""

from __future__ import annotations

from typing import Final

from kafka_replica_spark.tables.constraints import CONSTRAINTS
from kafka_replica_spark.tables.items import CODES, CONCEPTS, HIERARCHIES
from kafka_replica_spark.tables.mappings import MAPPINGS
from kafka_replica_spark.tables.reading import OmittedArtefact, Selection, ViewTables
from kafka_replica_spark.tables.references import REFERENCES
from kafka_replica_spark.tables.structures import COMPONENTS, STRUCTURES
from kafka_replica_spark.tables.view import View

__all__ = ["VIEWS", "OmittedArtefact", "Selection", "View", "ViewTables"]

VIEWS: Final[dict[str, View]] = {
    view.name: view
    for view in (STRUCTURES, CODES, CONCEPTS, COMPONENTS, CONSTRAINTS, MAPPINGS, HIERARCHIES, REFERENCES)
}
"""The views by name."""
