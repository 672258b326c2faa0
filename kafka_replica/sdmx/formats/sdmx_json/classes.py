"""For each class of SDMX-JSON: the struct it is decoded into, and the functions that read and write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec

from kafka_replica.common.json_decoders import json_decoder
from kafka_replica.sdmx.formats.json_shared.values import Json
from kafka_replica.sdmx.formats.sdmx_json import (
    categories,
    codelists,
    concepts,
    hierarchies,
    metadata,
    metadata_sets,
    organisations,
    processes,
    provisions,
    structure_sets,
    transformations,
)
from kafka_replica.sdmx.formats.sdmx_json.constraints.reading import read_constraint
from kafka_replica.sdmx.formats.sdmx_json.constraints.wire import WireConstraint
from kafka_replica.sdmx.formats.sdmx_json.constraints.writing import write_constraint
from kafka_replica.sdmx.formats.sdmx_json.data_structures.reading import read_data_structure, read_dataflow
from kafka_replica.sdmx.formats.sdmx_json.data_structures.wire import WireDataflow, WireDataStructure
from kafka_replica.sdmx.formats.sdmx_json.data_structures.writing import write_data_structure, write_dataflow
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.maps.reading import (
    read_representation_map,
    read_scheme_map,
    read_structure_map,
)
from kafka_replica.sdmx.formats.sdmx_json.maps.wire import WireRepresentationMap, WireSchemeMap, WireStructureMap
from kafka_replica.sdmx.formats.sdmx_json.maps.writing import (
    write_representation_map,
    write_scheme_map,
    write_structure_map,
)
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.formats.sdmx_json.values.wire import WireMaintainable
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.urns.urn import Urn

Reader: TypeAlias = Callable[[Urn, Any, Context], Artefact]
Writer: TypeAlias = Callable[[Any, Edition], Json]
_Class: TypeAlias = tuple[type[WireMaintainable], Reader, Writer]

_CODELIST: Final[_Class] = (codelists.WireCodelist, codelists.read_codelist, codelists.write_codelist)
_CONSTRAINT: Final[_Class] = (WireConstraint, read_constraint, write_constraint)
_ORGANISATIONS: Final[_Class] = (
    organisations.WireOrganisationScheme,
    organisations.read_organisation_scheme,
    organisations.write_organisation_scheme,
)
_SCHEME_MAP: Final[_Class] = (WireSchemeMap, read_scheme_map, write_scheme_map)
_VTL: Final[_Class] = (
    transformations.WireVtlScheme,
    transformations.read_definition_scheme,
    transformations.write_definition_scheme,
)

_IN_ALL: Final[dict[str, _Class]] = {
    "AgencyScheme": _ORGANISATIONS,
    "Categorisation": (
        categories.WireCategorisation, categories.read_categorisation, categories.write_categorisation
    ),
    "CategoryScheme": (
        categories.WireCategoryScheme, categories.read_category_scheme, categories.write_category_scheme
    ),
    "Codelist": _CODELIST,
    "ConceptScheme": (concepts.WireConceptScheme, concepts.read_concept_scheme, concepts.write_concept_scheme),
    "DataConsumerScheme": _ORGANISATIONS,
    "DataProviderScheme": _ORGANISATIONS,
    "DataStructure": (WireDataStructure, read_data_structure, write_data_structure),
    "Dataflow": (WireDataflow, read_dataflow, write_dataflow),
    "MetadataStructure": (
        metadata.WireMetadataStructure, metadata.read_metadata_structure, metadata.write_metadata_structure
    ),
    "Metadataflow": (metadata.WireMetadataflow, metadata.read_metadataflow, metadata.write_metadataflow),
    "OrganisationUnitScheme": _ORGANISATIONS,
    "Process": (processes.WireProcess, processes.read_process, processes.write_process),
    "ProvisionAgreement": (
        provisions.WireProvisionAgreement, provisions.read_provision_agreement, provisions.write_provision_agreement
    ),
    "ReportingTaxonomy": (
        categories.WireReportingTaxonomy, categories.read_reporting_taxonomy, categories.write_reporting_taxonomy
    ),
}  # fmt: skip
_IN_1_0: Final[dict[str, _Class]] = {
    "AttachmentConstraint": _CONSTRAINT,
    "ContentConstraint": _CONSTRAINT,
    "HierarchicalCodelist": (
        hierarchies.WireHierarchicalCodelist,
        hierarchies.read_hierarchical_codelist,
        hierarchies.write_hierarchical_codelist,
    ),
    "StructureSet": (
        structure_sets.WireStructureSet,
        structure_sets.read_structure_set,
        structure_sets.write_structure_set,
    ),
}
_IN_2: Final[dict[str, _Class]] = {
    "CategorySchemeMap": _SCHEME_MAP,
    "ConceptSchemeMap": _SCHEME_MAP,
    "CustomTypeScheme": _VTL,
    "DataConstraint": _CONSTRAINT,
    "GeoGridCodelist": _CODELIST,
    "GeographicCodelist": _CODELIST,
    "Hierarchy": (hierarchies.WireHierarchy, hierarchies.read_hierarchy, hierarchies.write_hierarchy),
    "HierarchyAssociation": (
        hierarchies.WireHierarchyAssociation,
        hierarchies.read_hierarchy_association,
        hierarchies.write_hierarchy_association,
    ),
    "MetadataConstraint": _CONSTRAINT,
    "MetadataProviderScheme": _ORGANISATIONS,
    "MetadataProvisionAgreement": (
        provisions.WireMetadataProvisionAgreement,
        provisions.read_metadata_provision_agreement,
        provisions.write_metadata_provision_agreement,
    ),
    "MetadataSet": (metadata_sets.WireMetadataSet, metadata_sets.read_metadata_set, metadata_sets.write_metadata_set),
    "NamePersonalisationScheme": _VTL,
    "OrganisationSchemeMap": _SCHEME_MAP,
    "ReportingTaxonomyMap": _SCHEME_MAP,
    "RepresentationMap": (WireRepresentationMap, read_representation_map, write_representation_map),
    "RulesetScheme": _VTL,
    "StructureMap": (WireStructureMap, read_structure_map, write_structure_map),
    "TransformationScheme": _VTL,
    "UserDefinedOperatorScheme": _VTL,
    "ValueList": (codelists.WireValueList, codelists.read_value_list, codelists.write_value_list),
    "VtlMappingScheme": (
        transformations.WireVtlScheme,
        transformations.read_mapping_scheme,
        transformations.write_mapping_scheme,
    ),
}
CLASSES: Final = _IN_ALL | _IN_1_0 | _IN_2
"""All classes; the reader takes any of them in any edition, because registries mix them."""


def decoder_of(wire: Any) -> msgspec.json.Decoder[Any]:
    """Return a decoder that also takes numbers and booleans written as texts, because some registries do so."""
    return json_decoder(wire, strict=False)


READERS: Final = {name: (decoder_of(wire), read) for name, (wire, read, _) in CLASSES.items()}


def writer_of(class_: str, edition: Edition) -> Writer | None:
    """Return the function that writes a class, or None if the edition has no such class."""
    found = _IN_ALL.get(class_) or (_IN_1_0 if edition.is_10 else _IN_2).get(class_)
    return None if found is None else found[2]
