"""Write a structure message of SDMX-ML 2.0 or 1.0."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.writing.xml import el, flag, leaf
from kafka_replica.sdmx.formats.ml20.categories import write_category_scheme, write_reporting_taxonomy
from kafka_replica.sdmx.formats.ml20.codelists import write_codelist
from kafka_replica.sdmx.formats.ml20.concepts import write_concept_scheme
from kafka_replica.sdmx.formats.ml20.data_structures import write_flow, write_key_family
from kafka_replica.sdmx.formats.ml20.hierarchies import write_hierarchical_codelist
from kafka_replica.sdmx.formats.ml20.metadata import write_metadata_structure
from kafka_replica.sdmx.formats.ml20.organisations import write_agencies, write_providers
from kafka_replica.sdmx.formats.ml20.processes import write_process
from kafka_replica.sdmx.formats.ml20.structure_sets import write_structure_set
from kafka_replica.sdmx.formats.ml20.writing.values import EDITIONS, Edition
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Header
from kafka_replica.sdmx.model import Artefact

# In the order of the schema of 2.0; 1.0 has the classes of _IN_10, in the order of _CONTAINERS_10.
_WRITERS: Final[dict[str, tuple[str, Callable[[Any, Edition], str]]]] = {
    "AgencyScheme": ("OrganisationSchemes", write_agencies),
    "DataProviderScheme": ("OrganisationSchemes", write_providers),
    "DataConsumerScheme": ("OrganisationSchemes", write_providers),
    "Dataflow": ("Dataflows", write_flow),
    "Metadataflow": ("Metadataflows", write_flow),
    "CategoryScheme": ("CategorySchemes", write_category_scheme),
    "Codelist": ("CodeLists", write_codelist),
    "HierarchicalCodelist": ("HierarchicalCodelists", write_hierarchical_codelist),
    "ConceptScheme": ("Concepts", write_concept_scheme),
    "MetadataStructure": ("MetadataStructureDefinitions", write_metadata_structure),
    "DataStructure": ("KeyFamilies", write_key_family),
    "StructureSet": ("StructureSets", write_structure_set),
    "ReportingTaxonomy": ("ReportingTaxonomies", write_reporting_taxonomy),
    "Process": ("Processes", write_process),
}
_IN_10: Final = {"AgencyScheme", "Codelist", "ConceptScheme", "DataStructure"}
_CONTAINERS_20: Final = tuple(dict.fromkeys(container for container, _ in _WRITERS.values()))
_CONTAINERS_10: Final = ("Agencies", "CodeLists", "Concepts", "KeyFamilies")


def element_of(artefact: Artefact, format_: Format) -> tuple[str, str]:
    """Return the container and the XML of an artefact. Raises UnwritableError."""
    edition, kind = EDITIONS[format_], artefact.urn.cls
    if kind not in _WRITERS or (edition.is_10 and kind not in _IN_10):
        raise UnwritableError(f"{format_.title} has no class {kind}, or cannot write it")
    container, write = _WRITERS[kind]
    return "Agencies" if edition.is_10 and kind == "AgencyScheme" else container, write(artefact, edition)


def message_of(elements: Iterable[tuple[str, str]], header: Header, format_: Format) -> bytes:
    """Return the message of these artefacts."""
    edition = EDITIONS[format_]
    by_container: dict[str, list[str]] = {}
    for container, element in elements:
        by_container.setdefault(container, []).append(element)
    known = _CONTAINERS_10 if edition.is_10 else _CONTAINERS_20
    # Standalone concepts come before concept schemes.
    for value in by_container.values():
        value.sort(key=lambda element: element.startswith("<str:ConceptScheme"))
    found = [el(f"mes:{name}", *by_container[name]) for name in known if name in by_container]
    head = el(
        "mes:Header",
        leaf("mes:ID", header.id),
        leaf("mes:Test", flag(header.test)),
        leaf("mes:Prepared", header.prepared),
        "" if header.sender is None else el("mes:Sender", id=header.sender),
    )
    root = f'<?xml version="1.0" encoding="UTF-8"?>\n<mes:Structure{edition.namespaces}>'
    return f"{root}{head}{''.join(found)}</mes:Structure>".encode()
