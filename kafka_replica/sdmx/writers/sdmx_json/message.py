"""Complete messages of SDMX-JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.message import Header
from kafka_replica.sdmx.message_format import Format
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.writers.json_parts import Json, obj
from kafka_replica.sdmx.writers.sdmx_json import (
    constraints,
    hierarchies,
    items,
    maps,
    metadata,
    metadata_sets,
    organisations,
    processes,
    structure_sets,
    structures,
    transformations,
)
from kafka_replica.sdmx.writers.sdmx_json.values import Edition

_METADATA_SETS: Final = "metadataSets"
_BOTH: Final[dict[str, tuple[str, Callable[[Any, Edition], Json]]]] = {
    "DataStructure": ("dataStructures", structures.data_structure),
    "MetadataStructure": ("metadataStructures", metadata.metadata_structure),
    "CategoryScheme": ("categorySchemes", organisations.category_scheme),
    "ConceptScheme": ("conceptSchemes", items.concept_scheme),
    "Codelist": ("codelists", items.codelist),
    "AgencyScheme": ("agencySchemes", organisations.organisation_scheme),
    "DataProviderScheme": ("dataProviderSchemes", organisations.organisation_scheme),
    "DataConsumerScheme": ("dataConsumerSchemes", organisations.organisation_scheme),
    "OrganisationUnitScheme": ("organisationUnitSchemes", organisations.organisation_scheme),
    "Dataflow": ("dataflows", structures.dataflow),
    "Metadataflow": ("metadataflows", metadata.metadataflow),
    "ReportingTaxonomy": ("reportingTaxonomies", organisations.reporting_taxonomy),
    "ProvisionAgreement": ("provisionAgreements", organisations.provision_agreement),
    "Process": ("processes", processes.process),
    "Categorisation": ("categorisations", organisations.categorisation),
}
_SINCE_2: Final[dict[str, tuple[str, Callable[[Any, Edition], Json]]]] = {
    "GeographicCodelist": ("geographicCodelists", items.codelist),
    "GeoGridCodelist": ("geoGridCodelists", items.codelist),
    "ValueList": ("valueLists", items.value_list),
    "Hierarchy": ("hierarchies", hierarchies.hierarchy),
    "HierarchyAssociation": ("hierarchyAssociations", hierarchies.hierarchy_association),
    "MetadataProviderScheme": ("metadataProviderSchemes", organisations.organisation_scheme),
    "MetadataProvisionAgreement": ("metadataProvisionAgreements", organisations.metadata_provision_agreement),
    "StructureMap": ("structureMaps", maps.structure_map),
    "RepresentationMap": ("representationMaps", maps.representation_map),
    "ConceptSchemeMap": ("conceptSchemeMaps", maps.scheme_map),
    "CategorySchemeMap": ("categorySchemeMaps", maps.scheme_map),
    "OrganisationSchemeMap": ("organisationSchemeMaps", maps.scheme_map),
    "ReportingTaxonomyMap": ("reportingTaxonomyMaps", maps.scheme_map),
    "MetadataSet": (_METADATA_SETS, metadata_sets.metadata_set),
    "DataConstraint": ("dataConstraints", constraints.constraint),
    "MetadataConstraint": ("metadataConstraints", constraints.constraint),
    "CustomTypeScheme": ("customTypeSchemes", transformations.definition_scheme),
    "VtlMappingScheme": ("vtlMappingSchemes", transformations.mapping_scheme),
    "NamePersonalisationScheme": ("namePersonalisationSchemes", transformations.definition_scheme),
    "RulesetScheme": ("rulesetSchemes", transformations.definition_scheme),
    "TransformationScheme": ("transformationSchemes", transformations.definition_scheme),
    "UserDefinedOperatorScheme": ("userDefinedOperatorSchemes", transformations.definition_scheme),
}
_ONLY_1: Final[dict[str, tuple[str, Callable[[Any, Edition], Json]]]] = {
    "HierarchicalCodelist": ("hierarchicalCodelists", hierarchies.hierarchical_codelist),
    "StructureSet": ("structureSets", structure_sets.structure_set),
    "AttachmentConstraint": ("attachmentConstraints", constraints.constraint),
    "ContentConstraint": ("contentConstraints", constraints.constraint),
}
_SCHEMAS: Final = {Format.SDMX_JSON_1_0: "1.0", Format.SDMX_JSON_2_0: "2.0.0", Format.SDMX_JSON_2_1: "2.1"}
_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")


def element_of(artefact: Artefact, format_: Format) -> tuple[str, Json]:
    """Return the list that holds an artefact, and its JSON. Raises UnwritableError."""
    edition = Edition(format_)
    writers = _BOTH | (_ONLY_1 if edition.is_10 else _SINCE_2)
    if artefact.urn.cls not in writers:
        raise UnwritableError(f"{format_.title} has no class {artefact.urn.cls}")
    name, write = writers[artefact.urn.cls]
    return name, write(artefact, edition)


def message_of(elements: Iterable[tuple[str, Json]], header: Header, format_: Format) -> bytes:
    """Return the message of these artefacts."""
    data: dict[str, list[Json]] = {}
    for name, element in elements:
        data.setdefault(name, []).append(element)
    kind = "structure"
    if _METADATA_SETS in data:
        kind = "metadata"
        if len(data) > 1:
            raise UnwritableError("metadata sets stand in messages of their own; write the other structures apart")
    schema = (
        f"https://raw.githubusercontent.com/sdmx-twg/sdmx-json/master/{kind}-message/tools/schemas/"
        f"{_SCHEMAS[format_]}/sdmx-json-{kind}-schema.json"
    )
    meta = obj(
        schema=schema,
        id=header.id,
        test=header.test,
        prepared=header.prepared,
        sender=None if header.sender is None else {"id": header.sender},
    )
    try:
        return _ENCODER.encode({"meta": meta, "data": data})
    except UnicodeEncodeError:
        raise UnwritableError("a text in it holds half of a surrogate pair, which UTF-8 has no place for") from None
