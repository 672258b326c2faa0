"""The artefact whose data or metadata a schema query is about.

Source: SDMX REST 1.5.0, docs/4_5_schema_queries.md: the flow of a provision agreement is a dataflow or a metadataflow.
"""

from __future__ import annotations

from kafka_replica.sdmx import SdmxError, Structures, Urn
from kafka_replica.sdmx.lookups.references import late_bound
from kafka_replica.sdmx.model import ProvisionAgreement
from kafka_replica.server.rest.matching_artefacts import matching_urns
from kafka_replica.server.rest.query import SchemaQuery, StructureQuery
from kafka_replica.server.rest.rejections import Rejection, not_found, semantic_error


def schema_context(query: SchemaQuery, structures: Structures) -> Urn | Rejection:
    """Return the artefact that a schema query names, or a rejection if it is missing.

    For a provision agreement of metadata (2.1), this is the metadataflow, which determines which metadata is valid.
    """
    wanted = StructureQuery(query.api, query.context, (query.agency,), (query.id,), (query.version,))
    found = matching_urns(wanted, structures)
    if not found:
        return not_found(f"version {structures.version} has no {query.context.name} that matches the query")
    try:
        return _metadataflow(found[0], structures) or found[0]
    except SdmxError as error:
        return incomplete(found[0], error)


def incomplete(urn: Urn, error: SdmxError) -> Rejection:
    """Return the rejection of a schema query for an artefact that needs others, which are missing or unusable."""
    return semantic_error(f"the structures of {urn} are incomplete: {error}")


def _metadataflow(urn: Urn, structures: Structures) -> Urn | None:
    """Return the metadataflow of a provision agreement; None for one of data, and for another artefact."""
    agreement = structures.get(urn) if urn.cls == "ProvisionAgreement" else None
    usage = agreement.structure_usage if isinstance(agreement, ProvisionAgreement) else None
    if usage is None or usage.cls != "Metadataflow":
        return None
    return structures.get(late_bound(usage, urn)).urn
