"""For each class of Fusion-JSON: the struct it is decoded into, and the functions that read and write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec

from kafka_replica.common.json_decoders import json_decoder
from kafka_replica.sdmx.formats.fusion import (
    categories,
    codelists,
    concepts,
    constraints,
    data_structures,
    hierarchies,
    maps,
    metadata,
    metadata_sets,
    organisations,
    provisions,
    transformations,
)
from kafka_replica.sdmx.formats.fusion.values import WireMaintainable
from kafka_replica.sdmx.formats.json_shared.values import Json
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.urns.urn import Urn

Reader: TypeAlias = Callable[[Urn, Any], Artefact]
_Class: TypeAlias = tuple[type[WireMaintainable], Reader, Callable[[Any], Json] | None]

_ORGANISATIONS: Final[_Class] = (
    organisations.WireOrganisationScheme,
    organisations.read_organisation_scheme,
    organisations.write_organisation_scheme,
)
CLASSES: Final[dict[str, _Class]] = {
    "AgencyScheme": _ORGANISATIONS,
    "Categorisation": (
        categories.WireCategorisation, categories.read_categorisation, categories.write_categorisation
    ),
    "CategoryScheme": (
        categories.WireCategoryScheme, categories.read_category_scheme, categories.write_category_scheme
    ),
    "Codelist": (codelists.WireCodelist, codelists.read_codelist, codelists.write_codelist),
    "ConceptScheme": (concepts.WireConceptScheme, concepts.read_concept_scheme, concepts.write_concept_scheme),
    "DataConstraint": (constraints.WireConstraint, constraints.read_data_constraint, constraints.write_data_constraint),
    "DataConsumerScheme": _ORGANISATIONS,
    "DataProviderScheme": _ORGANISATIONS,
    "DataStructure": (
        data_structures.WireDataStructure, data_structures.read_data_structure, data_structures.write_data_structure
    ),
    "Dataflow": (data_structures.WireDataflow, data_structures.read_dataflow, data_structures.write_dataflow),
    "Hierarchy": (hierarchies.WireHierarchy, hierarchies.read_hierarchy, hierarchies.write_hierarchy),
    "HierarchyAssociation": (
        hierarchies.WireHierarchyAssociation,
        hierarchies.read_hierarchy_association,
        hierarchies.write_hierarchy_association,
    ),
    "MetadataProviderScheme": _ORGANISATIONS,
    "MetadataProvisionAgreement": (
        provisions.WireMetadataProvision,
        provisions.read_metadata_provision_agreement,
        provisions.write_metadata_provision_agreement,
    ),
    "MetadataSet": (metadata_sets.WireMetadataSet, metadata_sets.read_metadata_set, None),
    "MetadataStructure": (
        metadata.WireMetadataStructure, metadata.read_metadata_structure, metadata.write_metadata_structure
    ),
    "Metadataflow": (metadata.WireMetadataflow, metadata.read_metadataflow, metadata.write_metadataflow),
    "OrganisationUnitScheme": _ORGANISATIONS,
    "ProvisionAgreement": (
        provisions.WireProvision, provisions.read_provision_agreement, provisions.write_provision_agreement
    ),
    "RepresentationMap": (maps.WireRepresentationMap, maps.read_representation_map, maps.write_representation_map),
    "StructureMap": (maps.WireStructureMap, maps.read_structure_map, maps.write_structure_map),
    "ValueList": (codelists.WireValueList, codelists.read_value_list, codelists.write_value_list),
    "VtlMappingScheme": (
        transformations.WireVtlScheme, transformations.read_mapping_scheme, transformations.write_mapping_scheme
    ),
    **dict.fromkeys(
        (
            "CustomTypeScheme", "NamePersonalisationScheme", "RulesetScheme", "TransformationScheme",
            "UserDefinedOperatorScheme",
        ),
        (
            transformations.WireVtlScheme,
            transformations.read_definition_scheme,
            transformations.write_definition_scheme,
        ),
    ),
}  # fmt: skip

READERS: Final[dict[str, tuple[msgspec.json.Decoder[Any], Reader]]] = {
    name: (json_decoder(wire, strict=False), read) for name, (wire, read, _) in CLASSES.items()
}
WRITERS: Final = {name: write for name, (_, _, write) in CLASSES.items() if write is not None}
