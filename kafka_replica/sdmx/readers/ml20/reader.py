"""Read a structure message of SDMX-ML 1.0 or 2.0 into the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from lxml import etree

from kafka_replica.sdmx.formats.ml.reading.cut import Cutter
from kafka_replica.sdmx.formats.ml.reading.repeated import refuse_repeated, refuse_repeated_outside
from kafka_replica.sdmx.formats.ml.reading.values import text_of
from kafka_replica.sdmx.formats.shared.reading.collecting import ErrorCollector
from kafka_replica.sdmx.message import Header, Message
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica.sdmx.readers.ml20.categories import category_scheme, reporting_taxonomy
from kafka_replica.sdmx.readers.ml20.edition import Edition, Source
from kafka_replica.sdmx.readers.ml20.flows import dataflow, metadataflow
from kafka_replica.sdmx.readers.ml20.hierarchies import hierarchical_codelist
from kafka_replica.sdmx.readers.ml20.items import codelist, concept_scheme
from kafka_replica.sdmx.readers.ml20.key_family import key_family
from kafka_replica.sdmx.readers.ml20.metadata import metadata_structure
from kafka_replica.sdmx.readers.ml20.metadata_sets import metadata_set
from kafka_replica.sdmx.readers.ml20.organisations import organisations
from kafka_replica.sdmx.readers.ml20.places import Place, places
from kafka_replica.sdmx.readers.ml20.processes import process
from kafka_replica.sdmx.readers.ml20.provisions import provision_agreement
from kafka_replica.sdmx.readers.ml20.qualifying import qualify
from kafka_replica.sdmx.readers.ml20.structuresets import structure_set
from kafka_replica.sdmx.readers.ml20.values import maintained
from kafka_replica.sdmx.urn import Urn

_READERS: Final[dict[str, Callable[[Urn, list[etree._Element], Source], Artefact]]] = {
    "AgencyScheme": organisations,
    "CategoryScheme": category_scheme,
    "Codelist": codelist,
    "ConceptScheme": concept_scheme,
    "DataConsumerScheme": organisations,
    "DataProviderScheme": organisations,
    "DataStructure": key_family,
    "Dataflow": dataflow,
    "HierarchicalCodelist": hierarchical_codelist,
    "MetadataSet": metadata_set,
    "MetadataStructure": metadata_structure,
    "Metadataflow": metadataflow,
    "Process": process,
    "ProvisionAgreement": provision_agreement,
    "ReportingTaxonomy": reporting_taxonomy,
    "StructureSet": structure_set,
}


def read(root: etree._Element, size: int, edition: Edition, collector: ErrorCollector) -> Message:
    """Return the message of a parsed document of this many bytes. Raises MessageError."""
    source = Source(root, edition, collector)
    qualify(root, source)
    cutter = Cutter(source.names, size)
    found = places(root, source)
    elements = (element for place in found for element in place.elements)
    has_repeated = refuse_repeated_outside(root, elements, source.names, edition.format, collector)

    def read_one(place: Place) -> Artefact:
        for element in place.elements if has_repeated else ():
            refuse_repeated(element, source.names, edition.format)
        return _artefact(place, source, cutter)

    artefacts = collector.read_all(found, read_one, Place.unreadable)
    return Message(edition.format, _header(source), artefacts, errors=collector.errors)


def _artefact(place: Place, source: Source, cutter: Cutter) -> Artefact:
    read_one = _READERS.get(place.urn.cls)
    if read_one is not None:
        return read_one(place.urn, place.elements, source)
    base, _ = maintained(place.elements[0], source)
    return OpaqueArtefact(
        urn=place.urn, content=cutter.message_of(*place.elements), content_type=source.edition.format, **base
    )


def _header(source: Source) -> Header:
    if source.header is None:
        return Header()
    found = {source.names[child.tag]: child for child in reversed(source.header)}
    texts = {kind: text_of(child).strip() for kind, child in found.items() if kind in {"ID", "Prepared", "Test"}}
    return Header(
        id=texts.get("ID"),
        sender=source.sender,
        prepared=texts.get("Prepared"),
        test=texts.get("Test") in {"true", "1"},
    )
