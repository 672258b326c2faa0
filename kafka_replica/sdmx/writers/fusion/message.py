"""Complete messages of Fusion-JSON: a list for each class, with the name of the class."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.message import Header
from kafka_replica.sdmx.message_format import Format
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.writers.fusion import constraints, schemes, structures, vtl
from kafka_replica.sdmx.writers.json_parts import Json, obj

_WRITERS: Final[dict[str, Callable[[Any], Json]]] = {
    **dict.fromkeys(
        ("AgencyScheme", "DataProviderScheme", "DataConsumerScheme", "MetadataProviderScheme",
         "OrganisationUnitScheme"), schemes.organisation_scheme,
    ),
    "Codelist": schemes.codelist,
    "ValueList": schemes.value_list,
    "ConceptScheme": schemes.concept_scheme,
    "CategoryScheme": schemes.category_scheme,
    "Categorisation": schemes.categorisation,
    "ProvisionAgreement": schemes.provision_agreement,
    "MetadataProvisionAgreement": schemes.metadata_provision_agreement,
    **dict.fromkeys(
        ("TransformationScheme", "RulesetScheme", "UserDefinedOperatorScheme", "CustomTypeScheme",
         "NamePersonalisationScheme"), vtl.definition_scheme,
    ),
    "VtlMappingScheme": vtl.mapping_scheme,
    "DataStructure": structures.data_structure,
    "Dataflow": structures.dataflow,
    "MetadataStructure": structures.metadata_structure,
    "Metadataflow": structures.metadataflow,
    "Hierarchy": structures.hierarchy,
    "HierarchyAssociation": structures.hierarchy_association,
    "RepresentationMap": structures.representation_map,
    "DataConstraint": constraints.data_constraint,
    "StructureMap": constraints.structure_map,
}  # fmt: skip


def element_of(artefact: Artefact, format_: Format) -> tuple[str, Json]:
    """Return the list that holds an artefact, and its JSON. Raises UnwritableError."""
    kind = artefact.urn.cls
    if kind not in _WRITERS:
        raise UnwritableError(f"how {format_.title} writes a {kind} is not known")
    return kind, _WRITERS[kind](artefact)


def message_of(elements: Iterable[tuple[str, Json]], header: Header, _: Format) -> bytes:
    """Return the message of these artefacts."""
    found: dict[str, list[Json]] = {}
    for kind, element in elements:
        found.setdefault(kind, []).append(element)
    sender = None if header.sender is None else {"id": header.sender}
    meta = obj(id=header.id, test=header.test, prepared=header.prepared, sender=sender)
    try:
        return msgspec.json.encode({"meta": meta} | found)
    except UnicodeEncodeError:
        raise UnwritableError("a text in it holds half of a surrogate pair, which UTF-8 has no place for") from None
