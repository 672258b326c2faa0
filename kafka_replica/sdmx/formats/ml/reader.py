"""Read a structure message of SDMX-ML 2.1, 3.0 or 3.1 into the model, or split it by artefact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from lxml import etree

from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.formats.ml.categories import read_categorisation, read_category_scheme, read_reporting_taxonomy
from kafka_replica.sdmx.formats.ml.codelists import read_codelist, read_value_list
from kafka_replica.sdmx.formats.ml.concepts import read_concept_scheme
from kafka_replica.sdmx.formats.ml.constraints import read_availability_constraint, read_constraint
from kafka_replica.sdmx.formats.ml.data_structures.reading import read_data_structure, read_dataflow
from kafka_replica.sdmx.formats.ml.hierarchies import (
    read_hierarchical_codelist,
    read_hierarchy,
    read_hierarchy_association,
)
from kafka_replica.sdmx.formats.ml.maps import read_representation_map, read_scheme_map, read_structure_map
from kafka_replica.sdmx.formats.ml.metadata import read_metadata_structure, read_metadataflow
from kafka_replica.sdmx.formats.ml.metadata_sets import read_metadata_set, read_metadata_set_of_reports
from kafka_replica.sdmx.formats.ml.organisations import read_organisation_scheme
from kafka_replica.sdmx.formats.ml.processes import read_process
from kafka_replica.sdmx.formats.ml.provisions import read_metadata_provision_agreement, read_provision_agreement
from kafka_replica.sdmx.formats.ml.reading.foreign_namespaces import ForeignElements, is_part, refuse
from kafka_replica.sdmx.formats.ml.reading.metadata_header import MetadataHeader, is_of_3
from kafka_replica.sdmx.formats.ml.reading.parsing import ParsedDocument
from kafka_replica.sdmx.formats.ml.reading.plain_tags import NotPlainError
from kafka_replica.sdmx.formats.ml.reading.repeated_elements import refuse_repeated, refuse_repeated_outside
from kafka_replica.sdmx.formats.ml.reading.splitting import SingleArtefactBuilder
from kafka_replica.sdmx.formats.ml.reading.tree import (
    Names,
    availability_of,
    header_of,
    names_of,
    opened,
    unreadable_element,
    urn_of,
)
from kafka_replica.sdmx.formats.ml.reading.values import Item, boolean, text_of
from kafka_replica.sdmx.formats.ml.registrations import Identify, artefacts_in, beside, read_registration
from kafka_replica.sdmx.formats.ml.structure_sets import read_structure_set
from kafka_replica.sdmx.formats.ml.transformations import (
    read_custom_type_scheme,
    read_name_personalisation_scheme,
    read_ruleset_scheme,
    read_transformation_scheme,
    read_user_defined_operator_scheme,
    read_vtl_mapping_scheme,
)
from kafka_replica.sdmx.formats.shared.reading.error_collector import STRICT, ErrorCollector
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Header, Message
from kafka_replica.sdmx.model import Artefact, AvailabilityConstraint, OpaqueArtefact
from kafka_replica.sdmx.urns.urn import Urn

_READERS: Final[dict[str, Callable[[Item], Artefact]]] = {
    "AgencyScheme": read_organisation_scheme,
    "AttachmentConstraint": read_constraint,
    "Categorisation": read_categorisation,
    "CategoryScheme": read_category_scheme,
    "CategorySchemeMap": read_scheme_map,
    "Codelist": read_codelist,
    "ConceptScheme": read_concept_scheme,
    "ConceptSchemeMap": read_scheme_map,
    "ContentConstraint": read_constraint,
    "CustomTypeScheme": read_custom_type_scheme,
    "DataConstraint": read_constraint,
    "DataConsumerScheme": read_organisation_scheme,
    "DataProviderScheme": read_organisation_scheme,
    "DataStructure": read_data_structure,
    "Dataflow": read_dataflow,
    "GeoGridCodelist": read_codelist,
    "GeographicCodelist": read_codelist,
    "HierarchicalCodelist": read_hierarchical_codelist,
    "Hierarchy": read_hierarchy,
    "HierarchyAssociation": read_hierarchy_association,
    "MetadataConstraint": read_constraint,
    "MetadataProviderScheme": read_organisation_scheme,
    "MetadataProvisionAgreement": read_metadata_provision_agreement,
    "MetadataSet": read_metadata_set,
    "MetadataStructure": read_metadata_structure,
    "Metadataflow": read_metadataflow,
    "NamePersonalisationScheme": read_name_personalisation_scheme,
    "OrganisationSchemeMap": read_scheme_map,
    "OrganisationUnitScheme": read_organisation_scheme,
    "Process": read_process,
    "ProvisionAgreement": read_provision_agreement,
    "Registration": read_registration,
    "ReportingTaxonomy": read_reporting_taxonomy,
    "ReportingTaxonomyMap": read_scheme_map,
    "RepresentationMap": read_representation_map,
    "RulesetScheme": read_ruleset_scheme,
    "StructureMap": read_structure_map,
    "StructureSet": read_structure_set,
    "TransformationScheme": read_transformation_scheme,
    "UserDefinedOperatorScheme": read_user_defined_operator_scheme,
    "ValueList": read_value_list,
    "VtlMappingScheme": read_vtl_mapping_scheme,
}


def read_tree(document: ParsedDocument, collector: ErrorCollector = STRICT) -> Message:
    """Return the message of a parsed document. Raises MessageError."""
    format_, root = document.format, document.root
    names = names_of(format_)
    builder = SingleArtefactBuilder(names, document.size)
    plain = opened(root, names)
    about_sets: MetadataHeader | None = None
    identify: Identify
    if plain is not None:
        head, elements = plain
        identify = partial(_urn, names)
    else:
        head, about_sets = header_of(root, names), MetadataHeader(root, names)
        identify, found = artefacts_in(root, names)
        elements = list(found)
    has_repeated = refuse_repeated_outside(root, elements, names, format_, collector)
    unnamed = [] if plain is not None or format_ is not Format.SDMX_ML_3_1 else availability_of(root, names)
    foreign = ForeignElements(document, names)

    def read(element: etree._Element) -> Artefact:
        _refuse_foreign(element, names, foreign)
        if has_repeated:
            refuse_repeated(element, names, format_)
        return _artefact(identify(element), element, names, builder, format_, about_sets)

    artefacts = collector.read_all(elements, read, unreadable_element)

    def read_available(element: etree._Element) -> AvailabilityConstraint:
        if not names[element.tag]:
            refuse(element)
        foreign.refuse_in(element)
        return read_availability_constraint(element, names)

    available = [
        constraint
        for element in unnamed
        if (constraint := collector.attempt(partial(read_available, element), partial(unreadable_element, element)))
    ]
    return Message(format_, _header(head, names), artefacts, available, collector.errors)


_IN_ANY_NAMESPACE: Final = ("DataProvider", "Report")


def _refuse_foreign(element: etree._Element, names: Names, foreign: ForeignElements) -> None:
    """Raise MessageError if an artefact has parts in namespaces that are not of SDMX."""
    if names[element.tag] != "MetadataSet" or is_of_3(element):
        foreign.refuse_in(element)
        return
    # The reports of sets of 2.1 have elements of namespaces of their own.
    for child in element:
        if names[child.tag] == "Annotations":
            foreign.refuse_in(child)
        elif not names[child.tag] and is_part(child) and child.tag.rpartition("}")[2] not in _IN_ANY_NAMESPACE:
            refuse(child)


_OF_LIBXML2: Final = frozenset({"MetadataSet", "Registration"})
"""Artefacts that contain markup, or come in their own kind of message."""


def read_plain(format_: Format, root: etree._Element) -> Message:
    """Return the message of a document that was parsed by ``plain_xml``.

    Raises NotPlainError if the document has to be parsed by libxml2.
    """
    names = names_of(format_)
    refuse_repeated(root, names, format_)
    plain = opened(root, names)
    if plain is None:
        raise NotPlainError("not a structure message as registries send it")
    head, elements = plain
    artefacts = [_artefact(_urn(names, element), element, names, None, format_) for element in elements]
    return Message(format_, _header(head, names), artefacts)


def _urn(names: Names, element: etree._Element) -> Urn:
    """Return the result of ``urn_of``, faster; on any error ``urn_of`` itself reports it."""
    kind = names[element.tag]
    agency, id_, version = element.get("agencyID"), element.get("id"), element.get("version", DEFAULT_VERSION)
    if agency and id_:
        try:
            return Urn.of(kind, agency.strip(), id_.strip(), version.strip())
        except UrnError:
            pass
    return urn_of(element)


_TEXTS: Final = {
    "validFrom": "valid_from",
    "validTo": "valid_to",
    "serviceURL": "service_url",
    "structureURL": "structure_url",
}
_FLAGS: Final = {
    "isFinal": "is_final",
    "isPartial": "is_partial",
    "isPartialLanguage": "is_partial_language",
    "isExternalReference": "is_external_reference",
}


def _artefact(
    urn: Urn, element: etree._Element, names: Names, builder: SingleArtefactBuilder | None, format_: Format,
    about_sets: MetadataHeader | None = None,
) -> Artefact:  # fmt: skip
    item = Item(element, urn, names)
    arguments = item.arguments
    arguments["is_external_reference"] = False
    for name, value in element.items():
        if name in _FLAGS:
            if value != "false":
                arguments[_FLAGS[str(name)]] = boolean(element, str(name)) or False
        elif name in _TEXTS:
            arguments[_TEXTS[str(name)]] = value.strip()
    read = _READERS.get(urn.cls)
    if builder is None:
        if read is None or not names[element.tag] or urn.cls in _OF_LIBXML2:
            raise NotPlainError(urn.cls)
        return read(item)
    if read is None or not names[element.tag]:
        return OpaqueArtefact(urn=urn, content=builder.message_of(element), content_type=format_, **item.arguments)
    if about_sets is not None and urn.cls == "MetadataSet" and not is_of_3(element):
        return read_metadata_set_of_reports(item, about_sets)
    return read(item)


_STATED: Final = frozenset({"ID", "Prepared", "Test", "Sender"})


def _header(element: etree._Element | None, names: Names) -> Header:
    if element is None:
        return Header()
    # If a part is repeated, the first one counts.
    stated: dict[str, str | None] = {}
    for child in element:
        kind = names[child.tag]
        if kind in _STATED and kind not in stated:
            stated[kind] = child.get("id") if kind == "Sender" else text_of(child).strip()
    return Header(
        id=stated.get("ID"),
        sender=stated.get("Sender"),
        prepared=stated.get("Prepared"),
        test=stated.get("Test") in {"true", "1"},
    )


def split_tree(document: ParsedDocument, collector: ErrorCollector) -> tuple[Format, Iterator[tuple[Urn, bytes]]]:
    """Return the format, and the URN and message of each artefact. Raises MessageError."""
    names = names_of(document.format)
    builder = SingleArtefactBuilder(names, document.size)
    identify, elements = artefacts_in(document.root, names)
    foreign = ForeignElements(document, names)

    def identified(element: etree._Element) -> tuple[Urn, list[etree._Element]]:
        _refuse_foreign(element, names, foreign)
        return identify(element), beside(element, names)

    def parts() -> Iterator[tuple[Urn, bytes]]:
        for element in elements:
            found = collector.attempt(partial(identified, element), partial(unreadable_element, element))
            if found is not None:
                urn, constraints = found
                yield urn, builder.message_of(element, *constraints)

    return document.format, parts()
