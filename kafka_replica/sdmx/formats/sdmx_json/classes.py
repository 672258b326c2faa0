"""For each class, the struct it is decoded into and the function that converts it to the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from kafka_replica.sdmx.formats.sdmx_json import (
    categories,
    constraints,
    hierarchies,
    items,
    maps,
    metadata_sets,
    metadata_structures,
    organisations,
    processes,
    provisions,
    structure_sets,
    structures,
    transformations,
)
from kafka_replica.sdmx.formats.sdmx_json.constraints_wire import WireAvailability, WireConstraint
from kafka_replica.sdmx.formats.sdmx_json.items_wire import WireCodelist, WireConceptScheme, WireValueList
from kafka_replica.sdmx.formats.sdmx_json.maps_wire import WireRepresentationMap, WireSchemeMap, WireStructureMap
from kafka_replica.sdmx.formats.sdmx_json.structures_wire import WireDataflow, WireDataStructure
from kafka_replica.sdmx.formats.sdmx_json.transformations_wire import WireVtlScheme
from kafka_replica.sdmx.formats.sdmx_json.values import Context
from kafka_replica.sdmx.formats.sdmx_json.wire import WireMaintainable, WireMeta
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.urn import Urn

_WIRES: Final[dict[str, tuple[type[Any], Callable[[Urn, Any, Context], Artefact]]]] = {
    "Codelist": (WireCodelist, items.codelist),
    "GeographicCodelist": (WireCodelist, items.codelist),
    "GeoGridCodelist": (WireCodelist, items.codelist),
    "ValueList": (WireValueList, items.value_list),
    "ConceptScheme": (WireConceptScheme, items.concept_scheme),
    "DataStructure": (WireDataStructure, structures.data_structure),
    "Dataflow": (WireDataflow, structures.dataflow),
    "CategoryScheme": (categories.WireCategoryScheme, categories.category_scheme),
    "Categorisation": (categories.WireCategorisation, categories.categorisation),
    "ReportingTaxonomy": (categories.WireReportingTaxonomy, categories.reporting_taxonomy),
    "Hierarchy": (hierarchies.WireHierarchy, hierarchies.hierarchy),
    "HierarchicalCodelist": (hierarchies.WireHierarchicalCodelist, hierarchies.hierarchical_codelist),
    "HierarchyAssociation": (hierarchies.WireHierarchyAssociation, hierarchies.hierarchy_association),
    "RepresentationMap": (WireRepresentationMap, maps.representation_map),
    "StructureMap": (WireStructureMap, maps.structure_map),
    "StructureSet": (structure_sets.WireStructureSet, structure_sets.structure_set),
    "ProvisionAgreement": (provisions.WireProvisionAgreement, provisions.provision_agreement),
    "MetadataProvisionAgreement": (
        provisions.WireMetadataProvisionAgreement,
        provisions.metadata_provision_agreement,
    ),
    "MetadataStructure": (metadata_structures.WireMetadataStructure, metadata_structures.metadata_structure),
    "Metadataflow": (metadata_structures.WireMetadataflow, metadata_structures.metadataflow),
    "MetadataSet": (metadata_sets.WireMetadataSet, metadata_sets.metadata_set),
    "VtlMappingScheme": (WireVtlScheme, transformations.mapping_scheme),
    "Process": (processes.WireProcess, processes.process),
}
for _name in (
    "TransformationScheme",
    "RulesetScheme",
    "UserDefinedOperatorScheme",
    "CustomTypeScheme",
    "NamePersonalisationScheme",
):
    _WIRES[_name] = (WireVtlScheme, transformations.definition_scheme)
for _name in (
    "AgencyScheme",
    "DataProviderScheme",
    "DataConsumerScheme",
    "MetadataProviderScheme",
    "OrganisationUnitScheme",
):
    _WIRES[_name] = (organisations.WireOrganisationScheme, organisations.organisation_scheme)
for _name in ("ConceptSchemeMap", "CategorySchemeMap", "OrganisationSchemeMap", "ReportingTaxonomyMap"):
    _WIRES[_name] = (WireSchemeMap, maps.scheme_map)
for _name in ("DataConstraint", "ContentConstraint", "MetadataConstraint", "AttachmentConstraint"):
    _WIRES[_name] = (WireConstraint, constraints.constraint)


def _decoder(wire: Any) -> msgspec.json.Decoder[Any]:
    # Not strict: some registries write numbers and booleans as texts.
    return msgspec.json.Decoder(wire, strict=False)


AVAILABILITY: Final = _decoder(list[WireAvailability] | None)
META: Final = _decoder(WireMeta)
OPAQUE: Final = _decoder(WireMaintainable)
READERS: Final = {name: (_decoder(wire), convert) for name, (wire, convert) in _WIRES.items()}
