"""Schema queries for an XML schema, namely of the structure-specific messages of an artefact's data or metadata.

Source: SDMX REST 2.2.2, doc/schema.md; SDMX REST 1.5.0, docs/4_5_schema_queries.md.
"""

from __future__ import annotations

from datetime import date
from typing import Final

from kafka_replica.data.schemas import SchemaVersion, data_schema, metadata_schema
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Format, SdmxError, Structures, UnwritableError, Urn
from kafka_replica.server.rest.negotiation import OfferedFormat
from kafka_replica.server.rest.partial_schemes import RESOLVED
from kafka_replica.server.rest.query import SchemaQuery
from kafka_replica.server.rest.rejections import Rejection, not_acceptable, not_implemented, semantic_error
from kafka_replica.server.rest.schema_context import incomplete, schema_context

_VERSIONS: Final[dict[Format, SchemaVersion]] = {
    Format.SDMX_ML_2_1: "2.1",
    Format.SDMX_ML_3_0: "3.0",
    Format.SDMX_ML_3_1: "3.1",
}
_OF_METADATA: Final = frozenset({"MetadataStructure", "Metadataflow"})


def first_schema(
    query: SchemaQuery, accepted: tuple[OfferedFormat, ...], structures: Structures, day: date | None
) -> tuple[OfferedFormat, bytes] | Rejection:
    """Return the XML schema for the first accepted edition whose messages can represent the data, or a rejection.

    Args:
        query: the query.
        accepted: the accepted editions of SDMX-ML, at least one.
        structures: the version.
        day: the date on which constraints must be valid.
    """
    found = _artefact(query, structures)
    if isinstance(found, Rejection):
        return found
    reasons: list[Rejection] = []
    for offer in accepted:
        schema = _xml_schema(query, found, offer.format, structures, day)
        if not isinstance(schema, Rejection):
            return offer, schema
        reasons.append(schema)
    return reasons[0]


def _artefact(query: SchemaQuery, structures: Structures) -> Urn | Rejection:
    """Return the artefact of a query, or a rejection if no XML schema can be generated for it."""
    found = schema_context(query, structures)
    if not isinstance(found, Rejection) and found.cls not in {*RESOLVED, *_OF_METADATA}:
        return not_implemented(
            f"XML schemas of a {query.context.name} are not generated; request the structures instead"
        )
    return found


def _xml_schema(
    query: SchemaQuery, urn: Urn, messages: Format, structures: Structures, day: date | None
) -> bytes | Rejection:
    version = _VERSIONS[messages]
    if urn.cls in _OF_METADATA and version != "2.1":
        return not_implemented(
            f"SDMX-ML {version} has no structure-specific messages of metadata, and so no XML schemas of them; request "
            "the schema with version=2.1, or the structures instead"
        )
    try:
        if urn.cls in _OF_METADATA:
            return metadata_schema(structures, urn)
        return data_schema(
            structures.resolve(urn),
            version=version,
            dimension_at_observation=query.dimension_at_observation,
            deletion=query.deletion,
            explicit=query.explicit_measure,
            as_of=day,
        )
    except UnwritableError as error:
        return not_acceptable(str(error))
    except UsageError as error:
        return semantic_error(str(error))
    except SdmxError as error:
        return incomplete(urn, error)
