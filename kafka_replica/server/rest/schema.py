"""Schema queries: the structures that determine which data is valid, with the items that may be used.

Source: SDMX REST 2.2.2, doc/schema.md ("The structure formats are meant to be used for communication purposes").
JSON schemas are not offered.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Final

from kafka_replica.sdmx import SdmxError, Structures, Urn
from kafka_replica.sdmx.lookups.references import walk
from kafka_replica.sdmx.lookups.resolved_structure import constraints_in_force
from kafka_replica.sdmx.model import Artefact
from kafka_replica.server.rest.answer_artefacts import Contents
from kafka_replica.server.rest.grammar import Detail
from kafka_replica.server.rest.inherited_codes import read_artefacts
from kafka_replica.server.rest.partial_schemes import RESOLVED, reduced
from kafka_replica.server.rest.query import SchemaQuery
from kafka_replica.server.rest.references import agency_scheme_of
from kafka_replica.server.rest.rejections import Rejection
from kafka_replica.server.rest.schema_context import incomplete, schema_context

_LISTS: Final = {"Codelist", "GeographicCodelist", "GeoGridCodelist", "ValueList", "ConceptScheme"}

_USED_BY: Final = {"MetadataProvisionAgreement": {"Metadataflow"}, "Metadataflow": {"MetadataStructure"}}
"""The classes of artefacts that determine which metadata is valid; others use lists."""


def schema_contents(query: SchemaQuery, structures: Structures, day: date | None) -> Contents | Rejection:
    """Return the structures that answer a schema query, or a rejection.

    These are the data or metadata structure, the applicable constraints, the concept schemes and lists with the items
    that may be used on ``day``, and the agency schemes with the agencies of all these.
    """
    context = schema_context(query, structures)
    if isinstance(context, Rejection):
        return context
    try:
        matched, lists = (_of_data if context.cls in RESOLVED else _of_metadata)(context, structures)
    except SdmxError as error:
        return incomplete(context, error)
    schemes = {agency_scheme_of(agency, structures) for agency in {urn.agency for urn in (*matched, *lists)}}
    related = read_artefacts(sorted(scheme for scheme in schemes if scheme is not None), structures, Detail.FULL)
    return Contents(
        matched, reduced(matched, {**lists, **related.artefacts}, structures, (context,), day=day), related.errors
    )


def _of_data(context: Urn, structures: Structures) -> tuple[dict[Urn, Artefact], dict[Urn, Artefact]]:
    """Return the structures and constraints of data, and the lists and concept schemes that they use; both sorted."""
    resolved = structures.resolve(context)
    metadata = [] if resolved.metadata_structure is None else [resolved.metadata_structure]
    matched = _by_urn([resolved.data_structure, *metadata, *constraints_in_force(resolved.constraints)])
    components = (*resolved.components.values(), *resolved.metadata_attributes.values())
    lists = {
        component.enumeration.urn: component.enumeration
        for component in components
        if component.enumeration is not None
    }
    children = {child for one in (resolved.data_structure, *metadata) for child in structures.children(one.urn)}
    schemes = read_artefacts((urn for urn in children if urn.cls == "ConceptScheme"), structures, Detail.FULL)
    for error in schemes.errors.values():
        raise error
    return matched, _by_urn([*lists.values(), *schemes.artefacts.values()])


def _of_metadata(context: Urn, structures: Structures) -> tuple[dict[Urn, Artefact], dict[Urn, Artefact]]:
    """Return the metadata structures of an artefact, and the lists that it uses, even indirectly; both sorted."""

    def needed(urn: Urn) -> tuple[Urn, ...]:
        # The targets, which the metadata describes, are references of the flow and of the agreement, too.
        classes = _USED_BY.get(urn.cls, _LISTS)
        return tuple(child for child in structures.children(urn) if child.cls in classes)

    used = (context, *walk(context, needed))
    matched = read_artefacts((urn for urn in used if urn.cls == "MetadataStructure"), structures, Detail.FULL)
    lists = read_artefacts((urn for urn in used if urn.cls in _LISTS), structures, Detail.FULL)
    for error in (*matched.errors.values(), *lists.errors.values()):
        raise error
    return _by_urn(matched.artefacts.values()), _by_urn(lists.artefacts.values())


def _by_urn(artefacts: Iterable[Artefact]) -> dict[Urn, Artefact]:
    return {artefact.urn: artefact for artefact in sorted(artefacts, key=lambda artefact: artefact.urn)}
