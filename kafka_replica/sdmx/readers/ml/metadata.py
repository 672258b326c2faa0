"""Metadata structures, metadataflows and metadata sets of SDMX-ML."""

from __future__ import annotations

from typing import Final
from xml.sax.saxutils import escape

from lxml import etree

from kafka_replica.sdmx.containers import InternationalString, Items, items_of, parts_of
from kafka_replica.sdmx.model import (
    MetadataAttribute,
    Metadataflow,
    MetadataSet,
    MetadataStructure,
    MetadataTarget,
    ReportedAttribute,
    ReportStructure,
    TargetObject,
)
from kafka_replica.sdmx.readers.ml.items import item_urn
from kafka_replica.sdmx.readers.ml.parts import first, international, known, nested, pick, read_items, ref, texts
from kafka_replica.sdmx.readers.ml.structures import descriptor
from kafka_replica.sdmx.readers.ml.tree import Names, fail
from kafka_replica.sdmx.readers.ml.values import (
    Child,
    Item,
    annotations_of,
    boolean,
    language_of,
    local_id,
    occurs,
    representation,
    text_of,
    whole_number,
)

# element -> class in the URN, and the id that the schema fixes
_TARGETS: Final = {
    "KeyDescriptorValuesTarget": ("DimensionDescriptorValuesTarget", "DIMENSION_DESCRIPTOR_VALUES_TARGET"),
    "DataSetTarget": ("DataSetTarget", "DATA_SET_TARGET"),
    "ConstraintContentTarget": ("ConstraintTarget", "CONSTRAINT_CONTENT_TARGET"),
    "ReportPeriodTarget": ("ReportPeriodTarget", "REPORT_PERIOD_TARGET"),
    "IdentifiableObjectTarget": ("IdentifiableObjectTarget", None),
}
SET_ATTRIBUTES: Final = {
    "action": "action",
    "reportingBeginDate": "reporting_begin_date",
    "reportingEndDate": "reporting_end_date",
    "publicationYear": "publication_year",
    "publicationPeriod": "publication_period",
}


def metadataflow(item: Item) -> Metadataflow:
    """Read a <Metadataflow>."""
    urn, base, rest, names = item.parts
    return Metadataflow(
        urn=urn,
        structure_reference=ref(rest, "Structure", names, "MetadataStructure"),
        targets=parts_of(urn, texts(rest, "Target"), is_stub=base["is_external_reference"] and not rest),
        **base,
    )


def metadata_structure(item: Item) -> MetadataStructure:
    """Read a <MetadataStructure>."""
    urn, base, rest, names = item.parts
    parts = [child for element in pick(rest, "MetadataStructureComponents") for child in known(element, names)]
    lists = list(pick(parts, "MetadataAttributeList"))
    attributes = [one for element in lists for one in pick(known(element, names), "MetadataAttribute")]
    descriptors = [descriptor(urn, "MetadataAttributeDescriptor", element, names) for element in lists]
    is_stub = base["is_external_reference"] and not parts
    return MetadataStructure(
        urn=urn,
        metadata_attributes=items_of(
            urn, read_items(urn, "MetadataAttribute", attributes, names, _attribute), is_stub=is_stub
        ),
        metadata_targets=items_of(
            urn, read_items(urn, "MetadataTarget", pick(parts, "MetadataTarget"), names, _target), is_stub=is_stub
        ),
        report_structures=items_of(
            urn, read_items(urn, "ReportStructure", pick(parts, "ReportStructure"), names, _report), is_stub=is_stub
        ),
        descriptors=tuple(one for one in descriptors if one is not None),
        **base,
    )


def _attribute(item: Item) -> MetadataAttribute:
    local = first(item.rest, "LocalRepresentation")
    return MetadataAttribute(
        urn=item.urn,
        concept=ref(item.rest, "ConceptIdentity", item.names, "Concept"),
        representation=None if local is None else representation(local, item.names),
        min_occurs=whole_number(item.element, "minOccurs"),
        max_occurs=occurs(item.element, "maxOccurs"),
        is_presentational=boolean(item.element, "isPresentational") or False,
        metadata_attributes=nested(item, "MetadataAttribute", _attribute),
        **item.identified,
    )


def _report(item: Item) -> ReportStructure:
    return ReportStructure(
        urn=item.urn,
        metadata_attributes=nested(item, "MetadataAttribute", _attribute, "MetadataAttribute"),
        metadata_targets=tuple(local_id(one, item.names) for one in pick(item.rest, "MetadataTarget")),
        **item.identified,
    )


def _target(item: Item) -> MetadataTarget:
    found: dict[str, TargetObject] = {}
    for kind, element in item.rest:
        if kind in _TARGETS:
            class_, fixed = _TARGETS[kind]
            id_ = element.get("id") or fixed
            if id_ is None or id_ in found:
                fail(element, "it has no id" if id_ is None else f"the id {id_[:80]!r} comes twice")
            one = Item(element, item_urn(item.urn, class_, element, f"{item.urn.item}.{id_}"), item.names)
            local = first(one.rest, "LocalRepresentation")
            found[id_] = TargetObject(
                urn=one.urn,
                representation=None if local is None else representation(local, item.names),
                object_type=element.get("objectType"),
                **one.identified,
            )
    return MetadataTarget(urn=item.urn, target_objects=Items(found), **item.identified)


def metadata_set(item: Item) -> MetadataSet:
    """Read a <MetadataSet> of 3.x, which is part of a GenericMetadata message."""
    urn, base, rest, names = item.parts
    is_stub = base["is_external_reference"] and not rest
    return MetadataSet(
        urn=urn,
        metadataflow=ref(rest, "Metadataflow", names),
        metadata_provision_agreement=ref(rest, "MetadataProvisionAgreement", names),
        targets=parts_of(urn, texts(rest, "Target"), is_stub=is_stub),
        attributes=parts_of(urn, [_reported(one, names) for one in pick(rest, "Attribute")], is_stub=is_stub),
        **(base | {field: item.element.get(name) for name, field in SET_ATTRIBUTES.items()}),
    )


def _reported(element: etree._Element, names: Names) -> ReportedAttribute:
    rest = known(element, names)
    notes = first(rest, "Annotations")
    return ReportedAttribute(
        id=element.get("id") or fail(element, "it has no id"),
        values=tuple(text_of(one) for one in pick(rest, "Value")),
        texts=international(rest, "Text"),
        structured_texts=structured_texts(rest),
        attributes=tuple(_reported(one, names) for one in pick(rest, "Attribute")),
        annotations=() if notes is None else annotations_of(notes, names),
    )


def structured_texts(rest: list[Child]) -> InternationalString:
    """Return the XHTML of all <StructuredText>, as text by language."""
    return InternationalString([(language_of(one), _inside(one)) for one in pick(rest, "StructuredText")])


def _inside(element: etree._Element) -> str:
    # Exclusive canonical form: it omits namespaces of the message that the text does not use.
    parts = [escape(element.text or "")]
    for child in element:
        parts.append(etree.tostring(child, method="c14n", exclusive=True, with_tail=False).decode())
        parts.append(escape(child.tail or ""))
    return "".join(parts)
