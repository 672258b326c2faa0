"""From Fusion-JSON as written to the model."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final, Literal

from kafka_replica.errors import MessageError, UrnError
from kafka_replica.sdmx.containers import NO_TEXT, InternationalString, Items, StubItems
from kafka_replica.sdmx.fusion.wire import (
    Text,
    WireComponent,
    WireDataflow,
    WireDataStructure,
    WireFormat,
    WireGroup,
    WireIdentifiable,
    WireItem,
    WireMaintainable,
    WireNameable,
    WireRepresentation,
    WireScheme,
)
from kafka_replica.sdmx.model import (
    Annotation,
    Attribute,
    AttributeRelationship,
    Code,
    Codelist,
    Concept,
    ConceptScheme,
    Dataflow,
    DataStructure,
    Dimension,
    Group,
    Link,
    Measure,
    ValueItem,
    ValueList,
)
from kafka_replica.sdmx.representation import Representation, TextFormat
from kafka_replica.sdmx.urn import Urn

_LEVELS: Final[dict[str, Literal["dataset", "dimensions", "group", "observation"]]] = {
    "DATA_SET": "dataset",
    "DATASET": "dataset",
    "DIMENSION_GROUP": "dimensions",
    "GROUP": "group",
    "OBSERVATION": "observation",
}


def _texts(texts: list[Text] | None) -> InternationalString:
    return InternationalString([(text.locale, text.value) for text in texts]) if texts else NO_TEXT


def identified(wire: WireIdentifiable) -> dict[str, Any]:
    """Annotations, links and uri as arguments; what says nothing is left out."""
    arguments: dict[str, Any] = {}
    if wire.annotations:
        arguments["annotations"] = tuple(
            Annotation(
                id=one.id,
                title=one.title,
                type=one.type,
                value=one.value,
                urls=InternationalString([("en", url)]) if (url := one.uri or one.url) else NO_TEXT,
                text=_texts(one.text),
            )
            for one in wire.annotations
        )
    if wire.links:
        arguments["links"] = tuple(
            Link(rel=link.rel, url=link.href, urn=link.urn, type=link.type) for link in wire.links
        )
    if wire.uri is not None:
        arguments["uri"] = wire.uri
    return arguments


def named(wire: WireNameable) -> dict[str, Any]:
    """Names and descriptions too."""
    arguments = identified(wire)
    if wire.names:
        arguments["names"] = _texts(wire.names)
    if wire.descriptions:
        arguments["descriptions"] = _texts(wire.descriptions)
    return arguments


def maintained(wire: WireMaintainable) -> dict[str, Any]:
    """What every maintainable artefact has, but its URN."""
    start, end = wire.valid_from or wire.start_date, wire.valid_to or wire.end_date
    return named(wire) | {
        "valid_from": None if start is None else str(start),
        "valid_to": None if end is None else str(end),
        "is_final": bool(wire.is_final),
        "is_partial": bool(wire.is_partial),
        "is_external_reference": bool(wire.is_external_reference),
        "service_url": wire.service_url,
        "structure_url": wire.structure_url,
    }


def _item_urn(scheme: Urn, class_: str, item: str | None, taken: dict[str, Any]) -> Urn:
    if item in taken:
        raise MessageError(f"reading {scheme}: the id {item[:80]!r} comes twice, and which one counts cannot be known")
    try:
        return scheme.with_item(class_, item or "")
    except UrnError as error:
        raise MessageError(f"reading {scheme}: {error}") from None


def _reference(text: str | None, where: Urn) -> Urn | None:
    if text is None:
        return None
    try:
        return Urn.parse(text)
    except UrnError as error:
        raise MessageError(f"reading {where}, a reference in it: {error}") from None


def codelist(urn: Urn, wire: WireScheme) -> Codelist:
    """A Codelist."""
    codes: dict[str, Code] = {}
    for item in wire.items or ():
        code_urn = _item_urn(urn, "Code", item.id, codes)
        codes[item.id or ""] = Code(urn=code_urn, parent=item.parent_code, **named(item))
    is_stub = wire.is_external_reference and not codes
    return Codelist(urn=urn, codes=StubItems(urn) if is_stub else Items(codes), **maintained(wire))


def value_list(urn: Urn, wire: WireScheme) -> ValueList:
    """A ValueList."""
    values = [_value(urn, item) for item in wire.items or ()]
    return ValueList(urn=urn, value_items=tuple(values), **maintained(wire))


def _value(urn: Urn, item: WireItem) -> ValueItem:
    if item.id is None:
        raise MessageError(f"reading {urn}: one of its values has no id")
    arguments = named(item)
    return ValueItem(
        id=item.id,
        names=arguments.get("names", NO_TEXT),
        descriptions=arguments.get("descriptions", NO_TEXT),
        annotations=arguments.get("annotations", ()),
    )


def concept_scheme(urn: Urn, wire: WireScheme) -> ConceptScheme:
    """A ConceptScheme."""
    concepts: dict[str, Concept] = {}
    for item in wire.items or ():
        concept_urn = _item_urn(urn, "Concept", item.id, concepts)
        concepts[item.id or ""] = Concept(
            urn=concept_urn,
            parent=item.parent_concept,
            core_representation=_representation(item.representation, concept_urn),
            **named(item),
        )
    is_stub = wire.is_external_reference and not concepts
    return ConceptScheme(urn=urn, concepts=StubItems(urn) if is_stub else Items(concepts), **maintained(wire))


def dataflow(urn: Urn, wire: WireDataflow) -> Dataflow:
    """A Dataflow."""
    return Dataflow(urn=urn, structure_reference=_reference(wire.data_structure_ref, urn), **maintained(wire))


def data_structure(urn: Urn, wire: WireDataStructure) -> DataStructure:
    """A DataStructure."""
    dimensions: dict[str, Dimension] = {}
    measures: dict[str, Measure] = {}
    attributes: dict[str, Attribute] = {}
    taken: dict[str, None] = {}
    for one in wire.dimension_list.dimensions or () if wire.dimension_list else ():
        class_ = "TimeDimension" if one.is_time_dimension else "Dimension"
        id_, arguments = _component(urn, class_, one, taken)
        dimensions[id_] = Dimension(position=one.position or len(dimensions) + 1, **arguments)
    for one in wire.measures or ():
        id_, arguments = _component(urn, "Measure", one, taken)
        measures[id_] = Measure(mandatory=one.mandatory, **arguments)
    for one in wire.attribute_list.attributes or () if wire.attribute_list else ():
        id_, arguments = _component(urn, "DataAttribute", one, taken)
        attributes[id_] = Attribute(mandatory=one.mandatory, relationship=_relationship(urn, one), **arguments)
    base = maintained(wire)
    if wire.is_external_reference and not dimensions:
        return DataStructure(
            urn=urn, dimension_list=StubItems(urn), measures=StubItems(urn), attributes=StubItems(urn),
            groups=StubItems(urn), **base,
        )  # fmt: skip
    return DataStructure(
        urn=urn,
        dimension_list=Items(dimensions),
        measures=Items(measures),
        attributes=Items(attributes),
        groups=Items(_groups(urn, wire.groups or [])),
        **base,
    )


def _groups(urn: Urn, wires: list[WireGroup]) -> dict[str, Group]:
    groups: dict[str, Group] = {}
    for wire in wires:
        group_urn = _item_urn(urn, "GroupDimensionDescriptor", wire.id, groups)
        groups[group_urn.item or ""] = Group(
            urn=group_urn, dimensions=tuple(wire.dimension_references or ()), **identified(wire)
        )
    return groups


def _component(urn: Urn, class_: str, wire: WireComponent, taken: dict[str, None]) -> tuple[str, dict[str, Any]]:
    concept = _reference(wire.concept, urn)
    id_ = wire.id or (concept.item if concept else None)
    own = _item_urn(urn, class_, id_, taken)
    taken[own.item or ""] = None
    roles = [_reference(role, own) for role in wire.concept_roles or wire.concept_role or ()]
    return own.item or "", identified(wire) | {
        "urn": own,
        "concept": concept,
        "representation": _representation(wire.representation, own),
        "concept_roles": tuple(role for role in roles if role),
    }


def _relationship(urn: Urn, wire: WireComponent) -> AttributeRelationship:
    level = (wire.attachment_level or "DATA_SET").upper()
    if level not in _LEVELS:
        raise MessageError(f"reading {urn}: attachmentLevel {level[:80]!r} of attribute {wire.id!r} is not known")
    return AttributeRelationship(
        kind=_LEVELS[level],
        dimensions=tuple(wire.dimension_references or ()),
        groups=(wire.attachment_group,) if wire.attachment_group else (),
        measures=tuple(wire.measure_references or ()),
    )


def _representation(wire: WireRepresentation | None, where: Urn) -> Representation | None:
    if wire is None:
        return None
    most = wire.max_occurs
    if isinstance(most, str) and most != "unbounded":
        raise MessageError(f"reading {where}: maxOccurs {most[:80]!r} is neither a number nor 'unbounded'")
    return Representation(
        enumeration=_reference(wire.representation, where),
        format=_text_format(wire.text_format, where) if wire.text_format else None,
        min_occurs=wire.min_occurs,
        max_occurs="unbounded" if isinstance(most, str) else most,
    )


def _text_format(wire: WireFormat, where: Urn) -> TextFormat:
    numbers = {name: getattr(wire, name) for name in ("min_value", "max_value", "start_value", "end_value", "interval")}
    for name, number in numbers.items():
        if isinstance(number, Decimal) and not number.is_finite():
            raise MessageError(f"reading {where}: {name} {number} is not a number")
    return TextFormat(
        text_type=wire.text_type,
        is_sequence=wire.is_sequence if wire.is_sequence is not None else wire.sequence,
        is_multi_lingual=wire.is_multi_lingual if wire.is_multi_lingual is not None else wire.is_multilingual,
        min_length=wire.min_length,
        max_length=wire.max_length,
        start_time=wire.start_time,
        end_time=wire.end_time,
        time_interval=wire.time_interval,
        decimals=wire.decimals,
        pattern=wire.pattern,
        **numbers,
    )
