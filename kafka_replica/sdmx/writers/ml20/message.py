"""Complete messages of SDMX-ML 2.0 and 1.0."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.message import Header
from kafka_replica.sdmx.message_format import Format
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.writers.ml.xml import el, flag, leaf
from kafka_replica.sdmx.writers.ml20 import hierarchies, items, key_family, metadata, processes
from kafka_replica.sdmx.writers.ml20.values import EDITIONS, Edition

# In the order of the schema of 2.0; 1.0 has those without a star, in an order of its own.
_WRITERS: Final[dict[str, tuple[str, Callable[[Any, Edition], str]]]] = {
    "AgencyScheme": ("OrganisationSchemes", items.agencies),
    "DataProviderScheme": ("OrganisationSchemes", items.providers),
    "DataConsumerScheme": ("OrganisationSchemes", items.providers),
    "Dataflow": ("Dataflows", items.dataflow),
    "Metadataflow": ("Metadataflows", items.dataflow),
    "CategoryScheme": ("CategorySchemes", items.category_scheme),
    "Codelist": ("CodeLists", items.codelist),
    "HierarchicalCodelist": ("HierarchicalCodelists", hierarchies.hierarchical_codelist),
    "ConceptScheme": ("Concepts", items.concept_scheme),
    "MetadataStructure": ("MetadataStructureDefinitions", metadata.metadata_structure),
    "DataStructure": ("KeyFamilies", key_family.key_family),
    "StructureSet": ("StructureSets", processes.structure_set),
    "ReportingTaxonomy": ("ReportingTaxonomies", items.reporting_taxonomy),
    "Process": ("Processes", processes.process),
}
_IN_10: Final = {"AgencyScheme", "Codelist", "ConceptScheme", "DataStructure"}
_CONTAINERS_20: Final = tuple(dict.fromkeys(container for container, _ in _WRITERS.values()))
_CONTAINERS_10: Final = ("Agencies", "CodeLists", "Concepts", "KeyFamilies")


def element_of(artefact: Artefact, format_: Format) -> tuple[str, str]:
    """Return the container and the XML of an artefact. Raises UnwritableError."""
    edition, kind = EDITIONS[format_], artefact.urn.cls
    if kind not in _WRITERS or (edition.is_10 and kind not in _IN_10):
        raise UnwritableError(f"{format_.title} has no class {kind}, or it is not written")
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
    for one in by_container.values():
        one.sort(key=lambda element: element.startswith("<str:ConceptScheme"))
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
