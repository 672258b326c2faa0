"""Metadata sets of SDMX-ML 2.0 (<GenericMetadata>).

Source: SDMXGenericMetadata.xsd 2.0. A set follows one report structure; each <AttributeValueSet> is a report about its
own target. The set's agency is its data provider, as since 3.0, or else that of the metadata structure.
"""

from __future__ import annotations

from typing import Final

from lxml import etree

from kafka_replica.sdmx.formats.ml.metadata_sets import SET_ATTRIBUTES, read_about
from kafka_replica.sdmx.formats.ml.reading.child_elements import first, international, known, pick, text
from kafka_replica.sdmx.formats.ml.reading.foreign_namespaces import is_lost, refuse
from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.formats.ml.reading.values import read_annotations, text_of
from kafka_replica.sdmx.formats.ml20.reading.message_context import MessageContext, stated
from kafka_replica.sdmx.formats.ml20.reading.references import made
from kafka_replica.sdmx.formats.ml20.reading.values import read_maintained
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION, FIXED_IDS, artefact_urn
from kafka_replica.sdmx.model import MetadataReport, MetadataSetOfReports, ReportedAttribute, TargetObjectValue
from kafka_replica.sdmx.model.earlier_editions import TimedReportedAttribute
from kafka_replica.sdmx.urns.urn import Urn

_VALID: Final = {"validFromDate": "valid_from", "validToDate": "valid_to"}


def sets_in(holder: etree._Element, context: MessageContext) -> list[etree._Element]:
    """Return the sets in a <GenericMetadata> or <MessageGroup>. Raises MessageError for data and metadata reports.

    Sets in another namespace are included: ``set_urn`` rejects them.
    """
    names = context.names
    found = [one for one in holder if names[one.tag] == "MetadataSet" or is_lost(one, names, "MetadataSet")]
    if not found and context.names[holder.tag] == "MessageGroup":
        fail(holder, "there is no <MetadataSet>, so this is neither a structure message nor one of metadata")
    for one in found:
        if str(one.tag).lower().endswith("/metadatareport}metadataset"):
            fail(one, "elements of a metadata report are only defined by its own schema; publish it as GenericMetadata")
    return found


def set_urn(element: etree._Element, context: MessageContext) -> Urn:
    """Return the URN of a set. Raises MessageError."""
    names = context.names
    if not names[element.tag]:
        refuse(element)
    if context.lost is not None:
        refuse(context.lost)
    rest = known(element, names)
    agency = stated(element, "dataProviderID") or (text(rest, "MetadataStructureAgencyRef") or "").strip()
    id_ = stated(element, "datasetID")
    holder = element.getparent()
    if not id_ and holder is not None and names[holder.tag] == "GenericMetadata":
        # Such a message has one set: the header may give the set's id, or else only the message's id.
        id_ = context.of_sets.get("DataSetID") or context.of_sets.get("ID")
    return artefact_urn("MetadataSet", agency or context.sender, id_, None, None, f"at line {element.sourceline}")


def read_metadata_set(urn: Urn, elements: list[etree._Element], context: MessageContext) -> MetadataSetOfReports:
    """Read a <MetadataSet>."""
    element, names = elements[0], context.names
    base, rest = read_maintained(element, context)
    report = (text(rest, "ReportRef") or "").strip() or None
    reports = tuple(
        _report(attribute_value_set, report, names) for attribute_value_set in pick(rest, "AttributeValueSet")
    )
    base |= {field: element.get(name) for name, field in (SET_ATTRIBUTES | _VALID).items()}
    base["action"] = base["action"] or context.of_sets.get("DataSetAction")
    base |= read_about(reports)
    structure = (text(rest, "MetadataStructureRef") or "").strip()
    agency = (text(rest, "MetadataStructureAgencyRef") or "").strip() or urn.agency
    flow = stated(element, "dataflowID")
    return MetadataSetOfReports(
        urn=urn,
        metadataflow=made(
            element, "Metadataflow", stated(element, "dataflowAgencyID") or agency, flow, DEFAULT_VERSION
        ) if flow else None,
        metadata_structure=made(element, "MetadataStructure", agency, structure, DEFAULT_VERSION)
        if structure
        else None,
        metadata_structure_url=element.get("metadataStructureURI"),
        data_provider=_provider(element, agency),
        reports=reports,
        **base,
    )  # fmt: skip


def _provider(element: etree._Element, agency: str) -> Urn | None:
    """Return the provider; since 2.1 an agency has one scheme of providers, with a fixed id."""
    id_ = stated(element, "dataProviderID")
    own = stated(element, "dataProviderSchemeAgencyId") or agency
    return made(element, "DataProvider", own, FIXED_IDS["DataProviderScheme"], DEFAULT_VERSION, id_) if id_ else None


def _report(element: etree._Element, report: str | None, names: Names) -> MetadataReport:
    rest = known(element, names)
    values = first(rest, "TargetValues")
    return MetadataReport(
        id=report,
        target=(text(rest, "TargetRef") or "").strip() or None,
        target_objects=tuple(
            TargetObjectValue(
                id=stated(component_value, "component"),
                object_type=component_value.get("object"),
                value=text_of(component_value).strip(),
            )
            for component_value in pick([] if values is None else known(values, names), "ComponentValue")
        ),
        attributes=tuple(
            _attribute(reported_attribute, names) for reported_attribute in pick(rest, "ReportedAttribute")
        ),
    )


def _attribute(element: etree._Element, names: Names) -> ReportedAttribute:
    rest = known(element, names)
    start, notes = text(rest, "StartTime"), first(rest, "Annotations")
    id_ = element.get("conceptID")  # the schema allows an empty one
    if id_ is None:
        fail(element, "it has no conceptID")
    id_ = id_.strip()
    texts = international(rest, "Value")
    below = tuple(_attribute(reported_attribute, names) for reported_attribute in pick(rest, "ReportedAttribute"))
    annotations = () if notes is None else read_annotations(notes, names)
    if start is None:
        return ReportedAttribute(id=id_, texts=texts, attributes=below, annotations=annotations)
    return TimedReportedAttribute(
        id=id_, texts=texts, attributes=below, annotations=annotations, start_time=start.strip()
    )
