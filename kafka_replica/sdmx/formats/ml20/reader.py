"""Read a structure message of SDMX-ML 1.0 or 2.0 into the model, or split it into messages of one artefact each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from lxml import etree

from kafka_replica.sdmx.formats.ml.reading.foreign_namespaces import ForeignElements
from kafka_replica.sdmx.formats.ml.reading.parsing import ParsedDocument
from kafka_replica.sdmx.formats.ml.reading.repeated_elements import refuse_repeated, refuse_repeated_outside
from kafka_replica.sdmx.formats.ml.reading.splitting import SingleArtefactBuilder
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
from kafka_replica.sdmx.formats.ml20.reading.artefact_elements import (
    CONTAINERS,
    ArtefactElements,
    artefact_elements,
    organisation_schemes,
)
from kafka_replica.sdmx.formats.ml20.reading.message_context import Edition, MessageContext
from kafka_replica.sdmx.formats.ml20.reading.qualified_references import qualify
from kafka_replica.sdmx.formats.ml20.reading.text_formats import text_format_10, text_format_20
from kafka_replica.sdmx.formats.ml20.reading.values import read_maintained
from kafka_replica.sdmx.formats.ml20.structure_sets import read_structure_set
from kafka_replica.sdmx.formats.shared.reading.error_collector import ErrorCollector
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Header, Message
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica.sdmx.urns.urn import Urn

_READERS: Final[dict[str, Callable[[Urn, list[etree._Element], MessageContext], Artefact]]] = {
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


def read_tree(document: ParsedDocument, collector: ErrorCollector) -> Message:
    """Return the message of a parsed document. Raises MessageError."""
    format_, root = document.format, document.root
    context = MessageContext(root, _EDITIONS[format_], collector)
    qualify(root, context)
    builder = SingleArtefactBuilder(context.names, document.size)
    found = artefact_elements(root, context)
    elements = (element for artefact in found for element in artefact.elements)
    foreign = ForeignElements(document, context.names)
    has_repeated = refuse_repeated_outside(root, elements, context.names, format_, collector)

    def read_one(artefact: ArtefactElements) -> Artefact:
        foreign.refuse_in(*artefact.elements, *organisation_schemes(artefact, context))
        for element in artefact.elements if has_repeated else ():
            refuse_repeated(element, context.names, format_)
        return _artefact(artefact, context, builder)

    artefacts = collector.read_all(found, read_one, ArtefactElements.unreadable)
    return Message(format_, _header(context), artefacts, errors=collector.errors)


def _artefact(artefact: ArtefactElements, context: MessageContext, builder: SingleArtefactBuilder) -> Artefact:
    read_one = _READERS.get(artefact.urn.cls)
    if read_one is not None:
        return read_one(artefact.urn, artefact.elements, context)
    base, _ = read_maintained(artefact.elements[0], context)
    return OpaqueArtefact(
        urn=artefact.urn, content=builder.message_of(*artefact.elements), content_type=context.edition.format, **base
    )


def _header(context: MessageContext) -> Header:
    if context.header is None:
        return Header()
    found = {context.names[child.tag]: child for child in reversed(context.header)}
    texts = {kind: text_of(child).strip() for kind, child in found.items() if kind in {"ID", "Prepared", "Test"}}
    return Header(
        id=texts.get("ID"),
        sender=context.sender,
        prepared=texts.get("Prepared"),
        test=texts.get("Test") in {"true", "1"},
    )


def split_tree(document: ParsedDocument, collector: ErrorCollector) -> tuple[Format, Iterator[tuple[Urn, bytes]]]:
    """Return the format, and the URN and message of each artefact. Raises MessageError."""
    format_, root = document.format, document.root
    context = MessageContext(root, _EDITIONS[format_], collector)
    qualify(root, context)
    builder = SingleArtefactBuilder(context.names, document.size)
    found = artefact_elements(root, context)
    foreign = ForeignElements(document, context.names)

    def checked(artefact: ArtefactElements) -> ArtefactElements:
        foreign.refuse_in(*artefact.elements, *organisation_schemes(artefact, context))
        return artefact

    def parts() -> Iterator[tuple[Urn, bytes]]:
        for artefact in found:
            if collector.attempt(partial(checked, artefact), artefact.unreadable) is not None:
                yield artefact.urn, builder.message_of(*artefact.elements)

    return format_, parts()
