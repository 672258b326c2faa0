"""Data structures (key families) and dataflows of SDMX-ML 1.0 and 2.0. A component has the id of its concept.

Source: SDMXStructure.xsd of both, KeyFamilyType and ComponentsType.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from lxml import etree

from kafka_replica.sdmx.containers import Items, items_of
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.reading.child_elements import first, pick
from kafka_replica.sdmx.formats.ml.reading.tree import fail
from kafka_replica.sdmx.formats.ml.reading.values import Child, boolean, named, text_of
from kafka_replica.sdmx.formats.ml.writing.values import write_texts
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf
from kafka_replica.sdmx.formats.ml20.reading.message_context import MessageContext, stated
from kafka_replica.sdmx.formats.ml20.reading.references import concept, made, read_category, read_reference
from kafka_replica.sdmx.formats.ml20.reading.values import (
    id_of,
    item_urn,
    read_maintained,
    read_representation,
    unnamed,
)
from kafka_replica.sdmx.formats.ml20.writing.references import write_category, write_reference
from kafka_replica.sdmx.formats.ml20.writing.values import (
    Edition,
    annotated,
    write_maintained,
    write_representation,
)
from kafka_replica.sdmx.formats.shared.reading.key_family import IMPLIED_ROLES, roles_of_attribute, roles_of_dimension
from kafka_replica.sdmx.formats.shared.reading.standalone_items import FIXED_COMPONENT_IDS, STANDALONE_CONCEPTS
from kafka_replica.sdmx.model import (
    Attribute,
    AttributeRelationship,
    Component,
    Dataflow,
    DataStructure,
    Dimension,
    Group,
    Measure,
    Metadataflow,
)
from kafka_replica.sdmx.model.earlier_editions import (
    CategorisedDataflow,
    CategorisedMetadataflow,
    CrossSectionalMeasure,
    DescribedGroup,
    KeyFamilyAttribute,
    KeyFamilyDimension,
)
from kafka_replica.sdmx.urns.urn import Urn

_DIMENSION_ROLES: Final = {
    "Frequency": "isFrequencyDimension", "Entity": "isEntityDimension", "Count": "isCountDimension",
    "NonObservationTime": "isNonObservationTimeDimension", "Identity": "isIdentityDimension",
}  # fmt: skip
_ATTRIBUTE_ROLES: Final = {
    "TimeFormat": "isTimeFormat", "Entity": "isEntityAttribute", "Count": "isCountAttribute",
    "NonObservationTime": "isNonObservationalTimeAttribute", "Frequency": "isFrequencyAttribute",
    "Identity": "isIdentityAttribute",
}  # fmt: skip

# Reading

_ROLES: Final = {name: role for names in (_DIMENSION_ROLES, _ATTRIBUTE_ROLES) for role, name in names.items()}
_CROSS_SECTIONAL: Final = "crossSectionalAttach"
_LEVELS: Final[dict[str, Literal["dataset", "dimensions", "group", "observation"]]] = {
    "DataSet": "dataset",
    "Series": "dimensions",
    "Group": "group",
    "Observation": "observation",
}


def read_key_family(urn: Urn, elements: list[etree._Element], context: MessageContext) -> DataStructure:
    """Read a <KeyFamily>. A key family may have no components (2.0); the content of a stub is elsewhere."""
    base, rest = read_maintained(elements[0], context)
    lists = [child for kind, child in rest if kind == "Components"]
    if not any(context.names[component.tag] for components in lists for component in components):
        empty: Items[Any] = items_of(urn, {}, is_stub=base["is_external_reference"])
        return DataStructure(urn=urn, dimension_list=empty, measures=empty, attributes=empty, groups=empty, **base)
    collected = _ComponentCollector(urn, context)
    for components in lists:
        collected.reserve(components)
        for child in components:
            collected.add(context.names[child.tag], child)
    return DataStructure(
        urn=urn,
        dimension_list=Items(collected.dimensions),
        measures=Items(collected.measures),
        # Built last, because an attribute of a series names all dimensions.
        attributes=Items(collected.attributes()),
        groups=Items(collected.groups),
        **base,
    )


class _ComponentCollector:
    """The components found so far; each id must be unique in a key family."""

    def __init__(self, urn: Urn, context: MessageContext) -> None:
        self._urn, self._context = urn, context
        self.dimensions: dict[str, Dimension] = {}
        self.measures: dict[str, Measure] = {}
        self.groups: dict[str, Group] = {}
        self._attributes: dict[str, tuple[etree._Element, dict[str, Any], list[Child]]] = {}
        self._of_concepts: set[str] = set()
        self._key: tuple[str, ...] = ()
        self._primary: tuple[str, ...] = ()
        self._measure_of_concept: dict[str, str] = {}

    def reserve(self, components: etree._Element) -> None:
        """Note the ids that components take from their concepts; a fixed id that equals one of them is not used."""
        for child in components:
            if self._context.names[child.tag] not in FIXED_COMPONENT_IDS:
                self._of_concepts.add(stated(child, self._context.edition.concept) or "")

    def add(self, kind: str, element: etree._Element) -> None:
        if kind == "Dimension":
            is_measure = boolean(element, "isMeasureDimension")
            self._dimension("MeasureDimension" if is_measure else "Dimension", element)
        elif kind == "TimeDimension":
            self._dimension(kind, element)
        elif kind == "PrimaryMeasure":
            id_, arguments, _ = self._component(kind, element)
            self.measures[id_] = Measure(**arguments)
        elif kind == "CrossSectionalMeasure":
            id_, arguments, _ = self._component(kind, element)
            self.measures[id_] = CrossSectionalMeasure(
                measure_dimension=stated(element, "measureDimension") or "",
                code=stated(element, "code") or "",
                **arguments,
            )
        elif kind == "Attribute":
            id_, arguments, rest = self._component("DataAttribute", element)
            self._attributes[id_] = element, arguments, rest
        elif kind == "Group":
            self._group(element)
        elif kind:
            fail(element, "it is not allowed in <Components>")

    def _dimension(self, class_: str, element: etree._Element) -> None:
        id_, arguments, _ = self._component(class_, element)
        make, more = roles_of_dimension(id_, _roles(element), _levels(element))
        self.dimensions[id_] = make(position=len(self.dimensions) + 1, **arguments, **more)

    def _component(self, class_: str, element: etree._Element) -> tuple[str, dict[str, Any], list[Child]]:
        arguments, rest = unnamed(element, self._context)
        own = concept(element, self._context, self._urn.agency)
        fixed = FIXED_COMPONENT_IDS.get(class_)
        id_ = fixed if fixed and fixed not in self._of_concepts else own.item or ""
        if id_ in self.dimensions or id_ in self.measures or id_ in self._attributes:
            fail(element, f"the component {id_[:80]!r} is duplicated in {self._urn}")
        arguments["urn"] = item_urn(self._urn, class_, element, id_)
        arguments["concept"] = own
        arguments["representation"] = read_representation(element, rest, self._context, self._urn.agency)
        return id_, arguments, rest

    def _group(self, element: etree._Element) -> None:
        arguments, rest = named(element, self._context.names)
        arguments.pop("names", None)
        id_ = id_of(element, self.groups)
        dimensions = [text_of(child).strip() for kind, child in rest if kind == "DimensionRef"]
        constraints = [text_of(child).strip() for kind, child in rest if kind == "AttachmentConstraintRef"]
        if constraints:
            arguments["attachment_constraint"] = made(
                element, "AttachmentConstraint", self._urn.agency, constraints[0], "1.0"
            )
        own = item_urn(self._urn, "GroupDimensionDescriptor", element, id_)
        make = DescribedGroup if "descriptions" in arguments else Group
        self.groups[id_] = make(urn=own, dimensions=tuple(dimensions), **arguments)

    def attributes(self) -> dict[str, Attribute]:
        """Return the attributes, after all other components are known."""
        # The key is computed once: many attributes may name many dimensions.
        self._key = tuple(id_ for id_, dimension in self.dimensions.items() if not dimension.is_time)
        self._primary = tuple(id_ for id_, measure in self.measures.items() if measure.urn.cls == "PrimaryMeasure")
        self._measure_of_concept = {_concept_of(self.measures, id_): id_ for id_ in self.measures}
        found: dict[str, Attribute] = {}
        for id_, (element, arguments, rest) in self._attributes.items():
            make, more = roles_of_attribute(id_, _roles(element), _levels(element))
            found[id_] = make(
                mandatory=element.get("assignmentStatus", "").strip() == "Mandatory",
                relationship=self._relationship(element, rest),
                **arguments,
                **more,
            )
        return found

    def _relationship(self, element: etree._Element, rest: list[Child]) -> AttributeRelationship:
        level = element.get("attachmentLevel", "").strip()
        kind = _LEVELS.get(level)
        if kind is None:
            fail(element, f"attachmentLevel={level[:80]!r} is not DataSet, Group, Series or Observation")
        groups = tuple(text_of(child).strip() for part, child in rest if part == "AttachmentGroup")
        written = [text_of(child).strip() for part, child in rest if part == "AttachmentMeasure"]
        measures = tuple(self._measure_of_concept.get(concept, concept) for concept in written)
        if kind == "observation" and not measures:
            measures = self._primary
        return AttributeRelationship(
            kind=kind, dimensions=self._key if kind == "dimensions" else (), groups=groups, measures=measures
        )


def _concept_of(measures: Mapping[str, Measure], measure: str) -> str:
    """Return the concept by which a key family names a measure; the id itself if there is no such measure."""
    found = measures.get(measure)
    return (found.concept.item if found is not None and found.concept else None) or measure


def _roles(element: etree._Element) -> list[str]:
    return [role for attribute, role in _ROLES.items() if boolean(element, attribute)]


def _levels(element: etree._Element) -> list[str]:
    return [level for level in ("DataSet", "Group", "Section", "Observation")
            if boolean(element, _CROSS_SECTIONAL + level)]  # fmt: skip


def read_dataflow(urn: Urn, elements: list[etree._Element], context: MessageContext) -> Dataflow:
    """Read a <Dataflow>."""
    base, rest = read_maintained(elements[0], context)
    used = structure_of_flow(urn, rest, context, "KeyFamily")
    categories = categories_of_flow(urn, rest, context)
    if categories:
        return CategorisedDataflow(urn=urn, structure_reference=used, categories=categories, **base)
    return Dataflow(urn=urn, structure_reference=used, **base)


def structure_of_flow(urn: Urn, rest: list[Child], context: MessageContext, word: str) -> Urn | None:
    """Return the structure of a dataflow or metadataflow, or None."""
    found = first(rest, f"{word}Ref")
    return None if found is None else read_reference(found, context, word, urn.agency)


def categories_of_flow(urn: Urn, rest: list[Child], context: MessageContext) -> tuple[Urn, ...]:
    """Return the categories of a dataflow or metadataflow."""
    return tuple(read_category(element, context, urn.agency) for element in pick(rest, "CategoryRef"))


# Writing

_ROLES_10: Final = {"isFrequencyDimension", "isTimeFormat"}
_WITHOUT_FORMAT_10: Final = {"str:Dimension", "str:PrimaryMeasure", "str:CrossSectionalMeasure"}
_NAME_OF_LEVEL: Final = {level: name for name, level in _LEVELS.items()}


def write_key_family(data_structure: DataStructure, edition: Edition) -> str:
    """Write a <KeyFamily>."""
    if data_structure.dimension_list.is_stub or not (data_structure.components or data_structure.groups):
        edition.since_20(True, "a key family without components")
        return write_maintained("str:KeyFamily", data_structure, edition)
    content = [_dimension(each, edition) for each in data_structure.dimension_list.values()]
    content += [_group(each, edition) for each in data_structure.groups.values()]
    content += [_measure(each, edition) for each in data_structure.measures.values()]
    content += [_attribute(each, data_structure, edition) for each in data_structure.attributes.values()]
    return write_maintained("str:KeyFamily", data_structure, edition, el("str:Components", *content))


def concept_of(urn: Urn | None, edition: Edition) -> dict[str, str | None]:
    """Return the attributes that name the concept of a component. Raises UnwritableError if it has no concept."""
    if urn is None:
        raise UnwritableError("a component names no concept")
    if edition.is_10:
        return {"concept": urn.item}
    if urn.id == STANDALONE_CONCEPTS:
        return {"conceptRef": urn.item, "conceptAgency": urn.agency}
    return {
        "conceptRef": urn.item,
        "conceptVersion": urn.version,
        "conceptSchemeRef": urn.id,
        "conceptSchemeAgency": urn.agency,
    }


def _component(
    tag: str, component: Component, edition: Edition, content: str = "", attributes: dict[str, str | None] | None = None
) -> str:
    lists, format_ = write_representation(component.representation, edition)
    has_no_format = edition.is_10 and tag in _WITHOUT_FORMAT_10
    if has_no_format and (format_ or (lists and tag != "str:Dimension")):
        raise UnwritableError(f"SDMX-ML 1.0 cannot represent the representation of {component.urn}")
    concept = concept_of(component.concept, edition)
    return el(tag, format_, content, annotated(component), **concept, **lists, **(attributes or {}))


def _marks(
    id_: str, component: Component, names: dict[str, str], implied: str, edition: Edition
) -> dict[str, str | None]:
    roles: list[str] = []
    levels: tuple[str, ...] = ()
    if isinstance(component, (KeyFamilyDimension, KeyFamilyAttribute)):
        roles, levels = list(component.roles), component.cross_sectional
    if (id_, implied) in IMPLIED_ROLES:
        # Since 2.1 the id implies this role; before 2.1 the role has to be written.
        roles.append(implied)
    found: dict[str, str | None] = {names[role]: "true" for role in roles if role in names}
    edition.since_20(found.keys() - _ROLES_10, "roles other than frequency and time format")
    found |= {f"crossSectionalAttach{level}": "true" for level in levels}
    return found


def _dimension(dimension: Dimension, edition: Edition) -> str:
    marks = _marks(dimension.id, dimension, _DIMENSION_ROLES, "Frequency", edition)
    if dimension.is_time:
        return _component("str:TimeDimension", dimension, edition, "", marks)
    if dimension.urn.cls == "MeasureDimension":
        marks["isMeasureDimension"] = "true"
    return _component("str:Dimension", dimension, edition, "", marks)


def _measure(measure: Measure, edition: Edition) -> str:
    if isinstance(measure, CrossSectionalMeasure):
        own: dict[str, str | None] = {"measureDimension": measure.measure_dimension, "code": measure.code}
        return _component("str:CrossSectionalMeasure", measure, edition, "", own)
    if measure.urn.cls != "PrimaryMeasure":
        raise UnwritableError(
            f"SDMX-ML before 2.1 cannot represent {measure.urn}: one measure, called OBS_VALUE, is primary"
        )
    return _component("str:PrimaryMeasure", measure, edition)


def _attribute(attribute: Attribute, structure: DataStructure, edition: Edition) -> str:
    about = attribute.relationship
    key = tuple(id_ for id_, each in structure.dimension_list.items() if not each.is_time)
    if about.kind == "dimensions" and about.dimensions != key:
        raise UnwritableError(
            f"SDMX-ML before 2.1 cannot represent {attribute.urn}: it applies to some dimensions, not to all"
        )
    primary = tuple(id_ for id_, each in structure.measures.items() if each.urn.cls == "PrimaryMeasure")
    measures = () if about.kind == "observation" and about.measures == primary else about.measures
    content = "".join([leaf("str:AttachmentGroup", each) for each in about.groups])
    content += "".join([leaf("str:AttachmentMeasure", _concept_of(structure.measures, each)) for each in measures])
    marks = _marks(attribute.id, attribute, _ATTRIBUTE_ROLES, "TimeFormat", edition)
    level: dict[str, str | None] = {
        "attachmentLevel": _NAME_OF_LEVEL[about.kind],
        "assignmentStatus": "Mandatory" if attribute.mandatory else "Conditional",
    }
    return _component("str:Attribute", attribute, edition, content, level | marks)


def _group(group: Group, edition: Edition) -> str:
    edition.since_20(group.attachment_constraint, "attachment constraints")
    constraint = group.attachment_constraint
    return el(
        "str:Group",
        *[leaf("str:DimensionRef", each) for each in group.dimensions],
        "" if constraint is None else leaf("str:AttachmentConstraintRef", constraint.id),
        write_texts("str:Description", group.descriptions) if isinstance(group, DescribedGroup) else "",
        annotated(group),
        id=group.id,
    )


def write_flow(dataflow: Dataflow | Metadataflow, edition: Edition) -> str:
    """Write a <Dataflow> or <Metadataflow>."""
    categories = dataflow.categories if isinstance(dataflow, (CategorisedDataflow, CategorisedMetadataflow)) else ()
    word = "str:KeyFamilyRef" if isinstance(dataflow, Dataflow) else "str:MetadataStructureRef"
    used = "" if dataflow.structure_reference is None else write_reference(word, dataflow.structure_reference)
    return write_maintained(
        f"str:{dataflow.urn.cls}", dataflow, edition, used, *[write_category(each) for each in categories]
    )
