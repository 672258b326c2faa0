"""Write a structure message of SDMX-ML 2.1, 3.0 or 3.1.

Source: the schemas SDMXStructure*.xsd, SDMXCommon.xsd and SDMXMessage.xsd of the three editions; each function follows
their order of elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.categories import (
    write_categorisation,
    write_category_scheme,
    write_reporting_taxonomy,
)
from kafka_replica.sdmx.formats.ml.codelists import write_codelist, write_value_list
from kafka_replica.sdmx.formats.ml.concepts import write_concept_scheme
from kafka_replica.sdmx.formats.ml.constraints import write_constraint
from kafka_replica.sdmx.formats.ml.data_structures.writing import write_data_structure, write_dataflow
from kafka_replica.sdmx.formats.ml.hierarchies import (
    write_hierarchical_codelist,
    write_hierarchy,
    write_hierarchy_association,
)
from kafka_replica.sdmx.formats.ml.maps import write_representation_map, write_scheme_map, write_structure_map
from kafka_replica.sdmx.formats.ml.metadata import write_metadata_structure, write_metadataflow
from kafka_replica.sdmx.formats.ml.metadata_sets import write_metadata_set
from kafka_replica.sdmx.formats.ml.organisations import write_organisation_scheme
from kafka_replica.sdmx.formats.ml.processes import write_process
from kafka_replica.sdmx.formats.ml.provisions import write_metadata_provision_agreement, write_provision_agreement
from kafka_replica.sdmx.formats.ml.registrations import write_answer, write_registration
from kafka_replica.sdmx.formats.ml.structure_sets import write_structure_set
from kafka_replica.sdmx.formats.ml.transformations import write_definition_scheme, write_vtl_mapping_scheme
from kafka_replica.sdmx.formats.ml.writing.edition import EDITIONS, Edition
from kafka_replica.sdmx.formats.ml.writing.xml import el, flag, leaf
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Header
from kafka_replica.sdmx.model import Artefact, MetadataSet, Registration

_WRITERS: Final[dict[str, Callable[[Any, Edition], str]]] = {
    **dict.fromkeys(
        ("AgencyScheme", "DataConsumerScheme", "DataProviderScheme", "MetadataProviderScheme",
         "OrganisationUnitScheme"), write_organisation_scheme,
    ),
    **dict.fromkeys(("Codelist", "GeographicCodelist", "GeoGridCodelist"), write_codelist),
    "ValueList": write_value_list,
    "ConceptScheme": write_concept_scheme,
    "CategoryScheme": write_category_scheme,
    "Categorisation": write_categorisation,
    "ReportingTaxonomy": write_reporting_taxonomy,
    "ProvisionAgreement": write_provision_agreement,
    "MetadataProvisionAgreement": write_metadata_provision_agreement,
    "DataStructure": write_data_structure,
    "Dataflow": write_dataflow,
    "MetadataStructure": write_metadata_structure,
    "Metadataflow": write_metadataflow,
    "MetadataSet": write_metadata_set,
    **dict.fromkeys(
        ("AttachmentConstraint", "ContentConstraint", "DataConstraint", "MetadataConstraint"), write_constraint
    ),
    "Hierarchy": write_hierarchy,
    "HierarchicalCodelist": write_hierarchical_codelist,
    "HierarchyAssociation": write_hierarchy_association,
    "StructureMap": write_structure_map,
    "RepresentationMap": write_representation_map,
    **dict.fromkeys(
        ("CategorySchemeMap", "ConceptSchemeMap", "OrganisationSchemeMap", "ReportingTaxonomyMap"), write_scheme_map
    ),
    "StructureSet": write_structure_set,
    "Process": write_process,
    **dict.fromkeys(
        ("TransformationScheme", "RulesetScheme", "UserDefinedOperatorScheme", "CustomTypeScheme",
         "NamePersonalisationScheme"), write_definition_scheme,
    ),
    "VtlMappingScheme": write_vtl_mapping_scheme,
}  # fmt: skip

# 2.1 fixes the order of the containers; 3.x has one for each class, in any order.
_CONTAINERS_21: Final = {
    "AgencyScheme": "OrganisationSchemes", "DataConsumerScheme": "OrganisationSchemes",
    "DataProviderScheme": "OrganisationSchemes", "OrganisationUnitScheme": "OrganisationSchemes",
    "Dataflow": "Dataflows", "Metadataflow": "Metadataflows", "CategoryScheme": "CategorySchemes",
    "Categorisation": "Categorisations", "Codelist": "Codelists", "HierarchicalCodelist": "HierarchicalCodelists",
    "ConceptScheme": "Concepts", "MetadataStructure": "MetadataStructures", "DataStructure": "DataStructures",
    "StructureSet": "StructureSets", "ReportingTaxonomy": "ReportingTaxonomies", "Process": "Processes",
    "AttachmentConstraint": "Constraints", "ContentConstraint": "Constraints",
    "ProvisionAgreement": "ProvisionAgreements", "CustomTypeScheme": "CustomTypes", "VtlMappingScheme": "VtlMappings",
    "NamePersonalisationScheme": "NamePersonalisations", "RulesetScheme": "Rulesets",
    "TransformationScheme": "Transformations", "UserDefinedOperatorScheme": "UserDefinedOperators",
}  # fmt: skip
_IRREGULAR: Final = {"Hierarchy": "Hierarchies", "Process": "Processes", "ReportingTaxonomy": "ReportingTaxonomies"}
_NOT_3X: Final = {"AttachmentConstraint", "ContentConstraint", "HierarchicalCodelist", "MetadataSet", "StructureSet"}
_CONTAINERS_3X: Final = {name: _IRREGULAR.get(name, f"{name}s") for name in sorted(_WRITERS) if name not in _NOT_3X}

_METADATA: Final = "GenericMetadata"
_REGISTRY: Final = "RegistryInterface"
"""The names of the other kinds of messages, used in place of a container."""

_RECEIVER: Final = el("mes:Receiver", id="ALL")
"""The receiver, which messages of registries must name."""


class Element(NamedTuple):
    """An artefact as XML, and its container; ``about`` is what the header states about it."""

    container: str
    xml: str
    about: str = ""


def encode_element(element: Element) -> tuple[Element, int]:
    """Return an element as ``message_of`` takes it, and its size in characters."""
    return element, len(element.xml)


def element_of(artefact: Artefact, format_: Format) -> Element:
    """Return the container and the XML of an artefact. Raises UnwritableError."""
    edition = EDITIONS[format_]
    containers = _CONTAINERS_21 if edition.is_21 else _CONTAINERS_3X
    kind = artefact.urn.cls
    if isinstance(artefact, MetadataSet) and not edition.is_21:
        return Element(_METADATA, write_metadata_set(artefact, edition), _about(artefact))
    if isinstance(artefact, Registration):
        return Element(_REGISTRY, write_registration(artefact, edition), _RECEIVER)
    if kind not in containers or kind not in _WRITERS:
        raise UnwritableError(f"{format_.title} has no class {kind}")
    return Element(containers[kind], _WRITERS[kind](artefact, edition))


def _about(metadata_set: MetadataSet) -> str:
    if metadata_set.metadataflow is not None:
        return leaf("com:StructureUsage", str(metadata_set.metadataflow))
    agreement = metadata_set.metadata_provision_agreement
    if agreement is None:
        return ""
    # The schema has a place for an agreement, but its pattern only knows the class of agreements about data.
    return leaf("com:ProvisionAgreement", str(replace(agreement, cls="ProvisionAgreement")))


def message_of(elements: Iterable[Element], header: Header, format_: Format) -> bytes:
    """Return the message of these artefacts. Raises UnwritableError if they need several kinds of messages."""
    edition = EDITIONS[format_]
    by_container: dict[str, list[str]] = {}
    about: dict[str, None] = {}
    for element in elements:
        by_container.setdefault(element.container, []).append(element.xml)
        about[element.about] = None
    kind, body = _body(by_container, edition)
    root = f'<?xml version="1.0" encoding="UTF-8"?>\n<mes:{kind}{edition.namespaces}>'
    return f"{root}{_header(header, _stated(kind, about))}{body}</mes:{kind}>".encode()


def _stated(kind: str, about: Iterable[str]) -> str:
    """Return the header's elements about the artefacts of a message of this kind."""
    if kind != _METADATA:
        return "".join(about)
    # An id of a set may begin with a digit, the id of its structure may not.
    stated = [inside for inside in about if inside]
    return "".join([el("mes:Structure", one, structureID=f"S{number}") for number, one in enumerate(stated, start=1)])


def _body(by_container: dict[str, list[str]], edition: Edition) -> tuple[str, str]:
    """Return the kind of the message, and the text after its header."""
    apart = [kind for kind in (_METADATA, _REGISTRY) if kind in by_container]
    if apart and len(by_container) > 1:
        raise UnwritableError(
            "metadata sets and registrations need separate messages; write the other structures separately"
        )
    if apart == [_METADATA]:
        return _METADATA, "".join(by_container[_METADATA])
    if apart == [_REGISTRY]:
        return _REGISTRY, write_answer(by_container[_REGISTRY])
    known = dict.fromkeys(_CONTAINERS_21.values() if edition.is_21 else _CONTAINERS_3X.values())
    return "Structure", el(
        "mes:Structures", *[el(f"str:{name}", *by_container[name]) for name in known if name in by_container]
    )


def _header(header: Header, about: str) -> str:
    return el(
        "mes:Header",
        leaf("mes:ID", header.id),
        leaf("mes:Test", flag(header.test)),
        leaf("mes:Prepared", header.prepared),
        "" if header.sender is None else el("mes:Sender", id=header.sender),
        about,
    )
