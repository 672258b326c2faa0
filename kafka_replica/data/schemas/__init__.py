"""Generate XML schemas of structure-specific data messages, from a data structure and what applies to it.

::

    resolved = structures.resolve(urn)
    schema = data_schema(resolved, version="3.0")  # bytes of an XML schema document

This package may import ``kafka_replica.sdmx`` and ``kafka_replica.data.validation``. Read ``data_schema`` first.
"""

from __future__ import annotations

from kafka_replica.data.schemas.data_schema import data_schema
from kafka_replica.data.schemas.document import SchemaVersion

__all__ = ["SchemaVersion", "data_schema"]
