"""Reading a structure message of SDMX-ML 2.1, 3.0 or 3.1 into the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from lxml import etree

from kafka_replica.sdmx.formats import Format
from kafka_replica.sdmx.message import Header, Message
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica.sdmx.readers.ml.categories import categorisation, category_scheme, reporting_taxonomy
from kafka_replica.sdmx.readers.ml.constraints import availability_constraint, constraint
from kafka_replica.sdmx.readers.ml.cut import Cutter
from kafka_replica.sdmx.readers.ml.hierarchies import hierarchical_codelist, hierarchy, hierarchy_association
from kafka_replica.sdmx.readers.ml.items import codelist, concept_scheme, value_list
from kafka_replica.sdmx.readers.ml.mappings import representation_map, scheme_map, structure_map
from kafka_replica.sdmx.readers.ml.metadata import metadata_set, metadata_structure, metadataflow
from kafka_replica.sdmx.readers.ml.organisations import organisation_scheme
from kafka_replica.sdmx.readers.ml.processes import process
from kafka_replica.sdmx.readers.ml.provisions import metadata_provision_agreement, provision_agreement
from kafka_replica.sdmx.readers.ml.registrations import artefacts_in, registration
from kafka_replica.sdmx.readers.ml.structures import data_structure, dataflow
from kafka_replica.sdmx.readers.ml.structuresets import structure_set
from kafka_replica.sdmx.readers.ml.transformations import (
    custom_type_scheme,
    name_personalisation_scheme,
    ruleset_scheme,
    transformation_scheme,
    user_defined_operator_scheme,
    vtl_mapping_scheme,
)
from kafka_replica.sdmx.readers.ml.tree import Names, availability_of, header_of, names_of
from kafka_replica.sdmx.readers.ml.values import Item, boolean, text_of
from kafka_replica.sdmx.urn import Urn

_READERS: Final[dict[str, Callable[[Item], Artefact]]] = {
    "AgencyScheme": organisation_scheme,
    "AttachmentConstraint": constraint,
    "Categorisation": categorisation,
    "CategoryScheme": category_scheme,
    "CategorySchemeMap": scheme_map,
    "Codelist": codelist,
    "ConceptScheme": concept_scheme,
    "ConceptSchemeMap": scheme_map,
    "ContentConstraint": constraint,
    "CustomTypeScheme": custom_type_scheme,
    "DataConstraint": constraint,
    "DataConsumerScheme": organisation_scheme,
    "DataProviderScheme": organisation_scheme,
    "DataStructure": data_structure,
    "Dataflow": dataflow,
    "GeoGridCodelist": codelist,
    "GeographicCodelist": codelist,
    "HierarchicalCodelist": hierarchical_codelist,
    "Hierarchy": hierarchy,
    "HierarchyAssociation": hierarchy_association,
    "MetadataConstraint": constraint,
    "MetadataProviderScheme": organisation_scheme,
    "MetadataProvisionAgreement": metadata_provision_agreement,
    "MetadataSet": metadata_set,
    "MetadataStructure": metadata_structure,
    "Metadataflow": metadataflow,
    "NamePersonalisationScheme": name_personalisation_scheme,
    "OrganisationSchemeMap": scheme_map,
    "OrganisationUnitScheme": organisation_scheme,
    "Process": process,
    "ProvisionAgreement": provision_agreement,
    "Registration": registration,
    "ReportingTaxonomy": reporting_taxonomy,
    "ReportingTaxonomyMap": scheme_map,
    "RepresentationMap": representation_map,
    "RulesetScheme": ruleset_scheme,
    "StructureMap": structure_map,
    "StructureSet": structure_set,
    "TransformationScheme": transformation_scheme,
    "UserDefinedOperatorScheme": user_defined_operator_scheme,
    "ValueList": value_list,
    "VtlMappingScheme": vtl_mapping_scheme,
}


def read_tree(format_: Format, root: etree._Element, size: int) -> Message:
    """The message of a parsed document of this many bytes. Raises MessageError."""
    names = names_of(format_)
    cutter = Cutter(names, size)
    artefacts = [_artefact(urn, element, names, cutter, format_) for urn, element in artefacts_in(root, names)]
    header = _header(header_of(root, names), names)
    if format_ is not Format.SDMX_ML_3_1:
        return Message(format_, header, artefacts)
    available = [availability_constraint(element, names) for element in availability_of(root, names)]
    return Message(format_, header, artefacts, available)


def _artefact(urn: Urn, element: etree._Element, names: Names, cutter: Cutter, format_: Format) -> Artefact:
    item = Item(element, urn, names)
    item.arguments.update(
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
        is_final=boolean(element, "isFinal") or False,
        is_partial=boolean(element, "isPartial") or False,
        is_partial_language=boolean(element, "isPartialLanguage") or False,
        is_external_reference=boolean(element, "isExternalReference") or False,
        service_url=element.get("serviceURL"),
        structure_url=element.get("structureURL"),
    )
    read = _READERS.get(urn.cls)
    if read is None or not names[element.tag]:
        return OpaqueArtefact(urn=urn, content=cutter.message_of(element), content_type=format_, **item.arguments)
    return read(item)


def _header(element: etree._Element | None, names: Names) -> Header:
    if element is None:
        return Header()
    # Of a part that comes twice the first counts.
    parts = {names[child.tag]: child for child in reversed(element)}
    texts = {kind: text_of(parts[kind]).strip() for kind in ("ID", "Prepared", "Test") if kind in parts}
    sender = parts.get("Sender")
    return Header(
        id=texts.get("ID"),
        sender=sender.get("id") if sender is not None else None,
        prepared=texts.get("Prepared"),
        test=texts.get("Test") in {"true", "1"},
    )
