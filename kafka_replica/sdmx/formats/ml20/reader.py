"""Read a structure message of SDMX-ML 1.0 or 2.0 into the model, or split it into messages of one artefact each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from lxml import etree

from kafka_replica.sdmx.formats.ml.reading.cut import SingleArtefactBuilder
from kafka_replica.sdmx.formats.ml.reading.foreign import ForeignParts
from kafka_replica.sdmx.formats.ml.reading.repeated import refuse_repeated, refuse_repeated_outside
from kafka_replica.sdmx.formats.ml.reading.values import text_of
from kafka_replica.sdmx.formats.ml20.categories import read_category_scheme, read_reporting_taxonomy
from kafka_replica.sdmx.formats.ml20.codelists import read_codelist
from kafka_replica.sdmx.formats.ml20.concepts import read_concept_scheme
from kafka_replica.sdmx.formats.ml20.data_structures import read_dataflow, read_key_family
from kafka_replica.sdmx.formats.ml20.hierarchies import read_hierarchical_codelist
from kafka_replica.sdmx.formats.ml20.metadata import read_metadata_structure, read_metadataflow
from kafka_replica.sdmx.formats.ml20.metadata_sets import read_metadata_set
from kafka_replica.sdmx.formats.ml20.organisations import read_organisations
from kafka_replica.sdmx.formats.ml20.processes import read_process
from kafka_replica.sdmx.formats.ml20.provisions import read_provision_agreement
from kafka_replica.sdmx.formats.ml20.reading.edition import Edition, Source
from kafka_replica.sdmx.formats.ml20.reading.places import CONTAINERS, ArtefactElements, organisation_schemes, places
from kafka_replica.sdmx.formats.ml20.reading.qualifying import qualify
from kafka_replica.sdmx.formats.ml20.reading.text_formats import text_format_10, text_format_20
from kafka_replica.sdmx.formats.ml20.reading.values import read_maintained
from kafka_replica.sdmx.formats.ml20.structure_sets import read_structure_set
from kafka_replica.sdmx.formats.shared.reading.collecting import ErrorCollector
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Header, Message
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica.sdmx.urns.urn import Urn

_READERS: Final[dict[str, Callable[[Urn, list[etree._Element], Source], Artefact]]] = {
    "AgencyScheme": read_organisations,
    "CategoryScheme": read_category_scheme,
    "Codelist": read_codelist,
    "ConceptScheme": read_concept_scheme,
    "DataConsumerScheme": read_organisations,
    "DataProviderScheme": read_organisations,
    "DataStructure": read_key_family,
    "Dataflow": read_dataflow,
    "HierarchicalCodelist": read_hierarchical_codelist,
    "MetadataSet": read_metadata_set,
    "MetadataStructure": read_metadata_structure,
    "Metadataflow": read_metadataflow,
    "Process": read_process,
    "ProvisionAgreement": read_provision_agreement,
    "ReportingTaxonomy": read_reporting_taxonomy,
    "StructureSet": read_structure_set,
}


_EDITIONS: Final = {
    Format.SDMX_ML_2_0: Edition(
        Format.SDMX_ML_2_0, frozenset(CONTAINERS) - {"Agencies"}, "agencyID", "conceptRef", text_format_20
    ),
    # Other names for two attributes, other text formats, and standalone agencies.
    Format.SDMX_ML_1_0: Edition(
        Format.SDMX_ML_1_0, frozenset({"Agencies", "CodeLists", "Concepts", "KeyFamilies"}), "agency", "concept",
        text_format_10,
    ),
}  # fmt: skip


def read_tree(format_: Format, root: etree._Element, data: bytes, collector: ErrorCollector) -> Message:
    """Return the message of a document and its parsed tree. Raises MessageError."""
    source = Source(root, _EDITIONS[format_], collector)
    qualify(root, source)
    cutter = SingleArtefactBuilder(source.names, len(data))
    found = places(root, source)
    elements = (element for place in found for element in place.elements)
    foreign = ForeignParts(root, data, source.names)
    has_repeated = refuse_repeated_outside(root, elements, source.names, format_, collector)

    def read_one(place: ArtefactElements) -> Artefact:
        foreign.refuse_in(*place.elements, *organisation_schemes(place, source))
        for element in place.elements if has_repeated else ():
            refuse_repeated(element, source.names, format_)
        return _artefact(place, source, cutter)

    artefacts = collector.read_all(found, read_one, ArtefactElements.unreadable)
    return Message(format_, _header(source), artefacts, errors=collector.errors)


def _artefact(place: ArtefactElements, source: Source, cutter: SingleArtefactBuilder) -> Artefact:
    read_one = _READERS.get(place.urn.cls)
    if read_one is not None:
        return read_one(place.urn, place.elements, source)
    base, _ = read_maintained(place.elements[0], source)
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


def cut_tree(
    format_: Format, root: etree._Element, data: bytes, collector: ErrorCollector
) -> tuple[Format, Iterator[tuple[Urn, bytes]]]:
    """Return the format, and the URN and message of each artefact. Raises MessageError."""
    source = Source(root, _EDITIONS[format_], collector)
    qualify(root, source)
    cutter = SingleArtefactBuilder(source.names, len(data))
    found = places(root, source)
    foreign = ForeignParts(root, data, source.names)

    def checked(place: ArtefactElements) -> ArtefactElements:
        foreign.refuse_in(*place.elements, *organisation_schemes(place, source))
        return place

    def parts() -> Iterator[tuple[Urn, bytes]]:
        for place in found:
            if collector.attempt(partial(checked, place), place.unreadable) is not None:
                yield place.urn, cutter.message_of(*place.elements)

    return format_, parts()
