"""Complete messages of SDMX-ML 2.1, 3.0 and 3.1."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.message import Header
from kafka_replica.sdmx.message_format import Format
from kafka_replica.sdmx.model import Artefact, MetadataSet, Registration
from kafka_replica.sdmx.writers.ml import (
    categories,
    constraints,
    hierarchies,
    items,
    mappings,
    metadata,
    processes,
    registrations,
    structures,
    structuresets,
    transformations,
)
from kafka_replica.sdmx.writers.ml.edition import EDITIONS, Edition
from kafka_replica.sdmx.writers.ml.xml import el, flag, leaf

_WRITERS: Final[dict[str, Callable[[Any, Edition], str]]] = {
    **dict.fromkeys(
        ("AgencyScheme", "DataConsumerScheme", "DataProviderScheme", "MetadataProviderScheme",
         "OrganisationUnitScheme"), items.organisation_scheme,
    ),
    **dict.fromkeys(("Codelist", "GeographicCodelist", "GeoGridCodelist"), items.codelist),
    "ValueList": items.value_list,
    "ConceptScheme": items.concept_scheme,
    "CategoryScheme": categories.category_scheme,
    "Categorisation": categories.categorisation,
    "ReportingTaxonomy": categories.reporting_taxonomy,
    "ProvisionAgreement": categories.provision_agreement,
    "MetadataProvisionAgreement": categories.metadata_provision_agreement,
    "DataStructure": structures.data_structure,
    "Dataflow": structures.dataflow,
    "MetadataStructure": metadata.metadata_structure,
    "Metadataflow": metadata.metadataflow,
    "MetadataSet": metadata.metadata_set,
    **dict.fromkeys(
        ("AttachmentConstraint", "ContentConstraint", "DataConstraint", "MetadataConstraint"), constraints.constraint
    ),
    "Hierarchy": hierarchies.hierarchy,
    "HierarchicalCodelist": hierarchies.hierarchical_codelist,
    "HierarchyAssociation": hierarchies.hierarchy_association,
    "StructureMap": mappings.structure_map,
    "RepresentationMap": mappings.representation_map,
    **dict.fromkeys(
        ("CategorySchemeMap", "ConceptSchemeMap", "OrganisationSchemeMap", "ReportingTaxonomyMap"), mappings.scheme_map
    ),
    "StructureSet": structuresets.structure_set,
    "Process": processes.process,
    **dict.fromkeys(
        ("TransformationScheme", "RulesetScheme", "UserDefinedOperatorScheme", "CustomTypeScheme",
         "NamePersonalisationScheme"), transformations.definition_scheme,
    ),
    "VtlMappingScheme": transformations.mapping_scheme,
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
    """An artefact as XML, and its container; ``about`` is the header's text about it."""

    container: str
    xml: str
    about: str = ""


def element_of(artefact: Artefact, format_: Format) -> Element:
    """Return the container and the XML of an artefact. Raises UnwritableError."""
    edition = EDITIONS[format_]
    containers = _CONTAINERS_21 if edition.is_21 else _CONTAINERS_3X
    kind = artefact.urn.cls
    if isinstance(artefact, MetadataSet) and not edition.is_21:
        return Element(_METADATA, metadata.metadata_set(artefact, edition), _about(artefact))
    if isinstance(artefact, Registration):
        return Element(_REGISTRY, registrations.registration(artefact, edition), _RECEIVER)
    if kind not in containers or kind not in _WRITERS:
        raise UnwritableError(f"{format_.title} has no class {kind}")
    return Element(containers[kind], _WRITERS[kind](artefact, edition))


def _about(one: MetadataSet) -> str:
    if one.metadataflow is not None:
        inside = leaf("com:StructureUsage", str(one.metadataflow))
    elif one.metadata_provision_agreement is not None:
        inside = leaf("com:ProvisionAgreement", str(one.metadata_provision_agreement))
    else:
        return ""
    return el("mes:Structure", inside, structureID=one.id)


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
    return f"{root}{_header(header, ''.join(about))}{body}</mes:{kind}>".encode()


def _body(by_container: dict[str, list[str]], edition: Edition) -> tuple[str, str]:
    """Return the kind of the message, and the text after its header."""
    apart = [kind for kind in (_METADATA, _REGISTRY) if kind in by_container]
    if apart and len(by_container) > 1:
        raise UnwritableError(
            "metadata sets and registrations stand in messages of their own; write the other structures apart"
        )
    if apart == [_METADATA]:
        return _METADATA, "".join(by_container[_METADATA])
    if apart == [_REGISTRY]:
        return _REGISTRY, registrations.answer(by_container[_REGISTRY])
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
