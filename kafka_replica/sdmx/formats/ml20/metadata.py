"""Metadata structures and metadataflows of SDMX-ML 2.0.

Source: SDMXStructure.xsd 2.0, MetadataStructureDefinitionType. The target identifiers of 2.0 (a full identifier, and
partial identifiers of its parts) are the metadata targets of 2.1; their components are the objects in these targets.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.containers import Items, items_of
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.reading.child_elements import first, known, pick, text
from kafka_replica.sdmx.formats.ml.reading.tree import fail
from kafka_replica.sdmx.formats.ml.reading.values import Item, text_of
from kafka_replica.sdmx.formats.ml.writing.values import write_texts
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf
from kafka_replica.sdmx.formats.ml20.data_structures import categories_of_flow, concept_of, structure_of_flow
from kafka_replica.sdmx.formats.ml20.reading.message_context import MessageContext, stated
from kafka_replica.sdmx.formats.ml20.reading.references import concept, made
from kafka_replica.sdmx.formats.ml20.reading.values import id_of, item_urn, read_maintained
from kafka_replica.sdmx.formats.ml20.writing.values import (
    Edition,
    annotated,
    write_annotations,
    write_maintained,
    write_representation,
)
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.model import (
    MetadataAttribute,
    Metadataflow,
    MetadataStructure,
    MetadataTarget,
    ReportStructure,
    TargetObject,
)
from kafka_replica.sdmx.model.base import Identifiable
from kafka_replica.sdmx.model.earlier_editions import (
    CategorisedMetadataflow,
    ExternalScheme,
    NamedMetadataTarget,
    NamedReportStructure,
    NamedTargetObject,
)
from kafka_replica.sdmx.model.representation import Representation
from kafka_replica.sdmx.urns.urn import Urn

# Reading

_OBJECT_CLASSES: Final = {
    "KeyFamily": "DataStructure",
    "KeyDescriptor": "DimensionDescriptor",
    "GroupKeyDescriptor": "GroupDimensionDescriptor",
    "Attribute": "DataAttribute",
    "DataFlow": "Dataflow",
    "MetadataFlow": "Metadataflow",
}
"""Classes of 2.0 with other names since 2.1."""

_SCHEMES: Final = {
    "Codelist": "Codelist",
    "Concept": "ConceptScheme",
    "Category": "CategoryScheme",
    "Organisation": "OrganisationScheme",
}


def read_metadata_structure(urn: Urn, elements: list[etree._Element], context: MessageContext) -> MetadataStructure:
    """Read a <MetadataStructureDefinition>."""
    base, rest = read_maintained(elements[0], context)
    targets: dict[str, MetadataTarget] = {}
    for identifiers in pick(rest, "TargetIdentifiers"):
        _targets(urn, identifiers, context, targets)
    reports: dict[str, ReportStructure] = {}
    for element in pick(rest, "ReportStructure"):
        id_ = id_of(element, reports)
        item = Item(element, item_urn(urn, "ReportStructure", element, id_), context.names)
        target = stated(element, "target")
        reports[id_] = NamedReportStructure(
            urn=item.urn,
            metadata_attributes=_attributes(pick(item.rest, "MetadataAttribute"), item.urn, context),
            metadata_targets=(target,) if target else (),
            **item.arguments,
        )
    is_stub = base["is_external_reference"] and not targets and not reports
    return MetadataStructure(
        urn=urn,
        metadata_attributes=items_of(urn, {}, is_stub=is_stub),
        metadata_targets=items_of(urn, targets, is_stub=is_stub),
        report_structures=items_of(urn, reports, is_stub=is_stub),
        **base,
    )


def _targets(
    urn: Urn, identifiers: etree._Element, context: MessageContext, targets: dict[str, MetadataTarget]
) -> None:
    components: dict[str, etree._Element] = {}
    for kind, element in known(identifiers, context.names):
        if kind not in {"FullTargetIdentifier", "PartialTargetIdentifier"}:
            continue
        id_ = id_of(element, targets)
        item = Item(element, item_urn(urn, "MetadataTarget", element, id_), context.names)
        if kind == "FullTargetIdentifier":
            used = []
            for component in pick(item.rest, "IdentifierComponent"):
                used.append(id_of(component, components))
                components[used[-1]] = component
        else:
            used = [
                text_of(identifier_component_ref).strip()
                for identifier_component_ref in pick(item.rest, "IdentifierComponentRef")
            ]
        objects: dict[str, TargetObject] = {}
        for name in used:
            if name not in components:
                fail(element, f"it refers to the identifier component {name[:80]!r}, which does not exist")
            objects[name] = _object(item.urn, name, components[name], context)
        targets[id_] = NamedMetadataTarget(urn=item.urn, target_objects=Items(objects), **item.arguments)


def _object(target: Urn, id_: str, element: etree._Element, context: MessageContext) -> TargetObject:
    own = item_urn(target, "IdentifiableObjectTarget", element, f"{target.item}.{id_}")
    item = Item(element, own, context.names)
    class_ = (text(item.rest, "TargetObjectClass") or "").strip()
    scheme = first(item.rest, "RepresentationScheme")
    enumeration = external = None
    if scheme is not None:
        kind, name = (
            _SCHEMES.get(stated(scheme, "representationSchemeType") or ""),
            stated(scheme, "representationScheme"),
        )
        enumeration = _scheme(scheme, kind, target.agency) if kind else None
        if not kind and name:
            agency = stated(scheme, "representationSchemeAgency") or target.agency
            external = ExternalScheme(agency=agency, id=name)
    return NamedTargetObject(
        external_scheme=external,
        urn=own,
        representation=Representation(enumeration=enumeration) if enumeration else None,
        object_type=_OBJECT_CLASSES.get(class_, class_) or None,
        **item.arguments,
    )


def _scheme(element: etree._Element, class_: str, agency: str) -> Urn | None:
    id_ = stated(element, "representationScheme")
    if not id_:
        return None
    version = stated(element, "representationSchemeVersion") or DEFAULT_VERSION
    return made(element, class_, stated(element, "representationSchemeAgency") or agency, id_, version)


def _attributes(elements: Iterable[etree._Element], above: Urn, context: MessageContext) -> Items[MetadataAttribute]:
    found: dict[str, MetadataAttribute] = {}
    for element in elements:
        own = concept(element, context, above.agency)
        id_ = own.item or ""
        if id_ in found:
            fail(element, f"the attribute {id_[:80]!r} is duplicated")
        urn = item_urn(above, "MetadataAttribute", element, f"{above.item}.{id_}")
        item = Item(element, urn, context.names)
        found[id_] = MetadataAttribute(
            urn=urn,
            concept=own,
            representation=_representation(item, context),
            metadata_attributes=_attributes(pick(item.rest, "MetadataAttribute"), urn, context),
            **_occurrences(element),
            **item.identified,
        )
    return Items(found)


def _representation(item: Item, context: MessageContext) -> Representation | None:
    enumeration = _scheme(item.element, "Codelist", item.urn.agency)
    written = first(item.rest, "TextFormat")
    if enumeration is None and written is None:
        return None
    format_ = None if written is None else context.edition.text_format(written, context.names)
    return Representation(enumeration=enumeration, format=format_)


def _occurrences(element: etree._Element) -> dict[str, Any]:
    """Return minOccurs: 1 for Mandatory. 2.0 does not state how often a conditional attribute may occur."""
    return {"min_occurs": 1 if element.get("usageStatus", "").strip() == "Mandatory" else 0}


def read_metadataflow(urn: Urn, elements: list[etree._Element], context: MessageContext) -> Metadataflow:
    """Read a <Metadataflow>."""
    base, rest = read_maintained(elements[0], context)
    used = structure_of_flow(urn, rest, context, "MetadataStructure")
    categories = categories_of_flow(urn, rest, context)
    if categories:
        return CategorisedMetadataflow(urn=urn, structure_reference=used, categories=categories, **base)
    return Metadataflow(urn=urn, structure_reference=used, **base)


# Writing

_CLASSES: Final = {
    "DataStructure": "KeyFamily", "DimensionDescriptor": "KeyDescriptor", "DataAttribute": "Attribute",
    "Dataflow": "DataFlow", "Metadataflow": "MetadataFlow", "GroupDimensionDescriptor": "GroupKeyDescriptor",
}  # fmt: skip
_TYPE_OF_SCHEME: Final = {class_: type_ for type_, class_ in _SCHEMES.items()}


def write_metadata_structure(metadata_structure: MetadataStructure, edition: Edition) -> str:
    """Write a <MetadataStructureDefinition>."""
    if metadata_structure.metadata_attributes.is_stub:
        return write_maintained("str:MetadataStructureDefinition", metadata_structure, edition)
    targets = ""
    if metadata_structure.metadata_targets:
        full, *partial = metadata_structure.metadata_targets.values()
        targets = el("str:TargetIdentifiers", _full(full), *[_partial(each) for each in partial])
    reports = [_report(each, edition) for each in metadata_structure.report_structures.values()]
    return write_maintained("str:MetadataStructureDefinition", metadata_structure, edition, targets, *reports)


def _named(identifiable: Identifiable) -> str:
    if not isinstance(identifiable, (NamedMetadataTarget, NamedTargetObject, NamedReportStructure)):
        raise UnwritableError(f"SDMX-ML 2.0 requires a name for {identifiable.urn}")
    return write_texts("str:Name", identifiable.names) + write_texts("str:Description", identifiable.descriptions)


def _full(metadata_target: MetadataTarget) -> str:
    parts = [_component(each) for each in metadata_target.target_objects.values()]
    return _target_identifier("str:FullTargetIdentifier", metadata_target, parts)


def _partial(metadata_target: MetadataTarget) -> str:
    parts = [leaf("str:IdentifierComponentRef", id_) for id_ in metadata_target.target_objects]
    return _target_identifier("str:PartialTargetIdentifier", metadata_target, parts)


def _target_identifier(tag: str, metadata_target: MetadataTarget, parts: Iterable[str]) -> str:
    return el(
        tag,
        _named(metadata_target),
        *parts,
        annotated(metadata_target),
        id=metadata_target.id,
        uri=metadata_target.uri,
    )


def _component(target_object: TargetObject) -> str:
    scheme = None if target_object.representation is None else target_object.representation.enumeration
    external = target_object.external_scheme if isinstance(target_object, NamedTargetObject) else None
    inside = ""
    if external is not None:
        inside = el(
            "str:RepresentationScheme",
            representationScheme=external.id,
            representationSchemeAgency=external.agency,
            representationSchemeType="External",
        )
    elif scheme is not None:
        if scheme.cls not in _TYPE_OF_SCHEME:
            raise UnwritableError(f"SDMX-ML 2.0 cannot represent a representation by {scheme}")
        inside = el(
            "str:RepresentationScheme",
            representationScheme=scheme.id,
            representationSchemeAgency=scheme.agency,
            representationSchemeType=_TYPE_OF_SCHEME[scheme.cls],
        )
    class_ = leaf("str:TargetObjectClass", _CLASSES.get(target_object.object_type or "", target_object.object_type))
    return el(
        "str:IdentifierComponent",
        _named(target_object),
        class_,
        inside,
        annotated(target_object),
        id=target_object.id,
        uri=target_object.uri,
    )


def _report(report_structure: ReportStructure, edition: Edition) -> str:
    if len(report_structure.metadata_targets) > 1:
        raise UnwritableError(f"SDMX-ML 2.0 has a place for one target of {report_structure.urn}")
    found = [_attribute(each, edition) for each in report_structure.metadata_attributes.values()]
    target = report_structure.metadata_targets[0] if report_structure.metadata_targets else None
    return el(
        "str:ReportStructure",
        _named(report_structure),
        *found,
        annotated(report_structure),
        id=report_structure.id,
        uri=report_structure.uri,
        target=target,
    )


def _attribute(metadata_attribute: MetadataAttribute, edition: Edition) -> str:
    own = metadata_attribute.representation
    _, format_ = write_representation(own, edition)
    lists: dict[str, str | None] = {}
    if own is not None and own.enumeration is not None:
        lists = {"representationScheme": own.enumeration.id, "representationSchemeAgency": own.enumeration.agency}
    return el(
        "str:MetadataAttribute",
        *[_attribute(each, edition) for each in metadata_attribute.metadata_attributes.values()],
        format_,
        write_annotations(metadata_attribute.annotations),
        **concept_of(metadata_attribute.concept, edition),
        **lists,
        usageStatus="Mandatory" if metadata_attribute.min_occurs == 1 else "Conditional",
    )
