"""Generate XML schemas of structure-specific messages of data, and of metadata in 2.1.

::

    resolved = structures.resolve(urn)
    schema = data_schema(resolved, version="3.0")  # bytes of an XML schema document
    schema = metadata_schema(structures, urn)  # of reports on a metadata structure or metadataflow

This package may import ``kafka_replica.sdmx`` and ``kafka_replica.data.validation``. Read ``data_schema`` first,
and ``metadata_schema`` for metadata.
"""

from __future__ import annotations

from kafka_replica.data.schemas.data_schema import data_schema
from kafka_replica.data.schemas.metadata_schema import metadata_schema
from kafka_replica.data.schemas.schema_document import SchemaVersion

__all__ = ["SchemaVersion", "data_schema", "metadata_schema"]
