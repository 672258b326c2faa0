"""Key families of SDMX-ML 1.0 and 2.0 as data structures.

Source: SDMXStructure.xsd of both, KeyFamilyType and ComponentsType.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from lxml import etree

from kafka_replica.sdmx.containers import Items, StubItems
from kafka_replica.sdmx.earlier import CrossSectionalMeasure, DescribedGroup
from kafka_replica.sdmx.formats.ml.reading.tree import fail
from kafka_replica.sdmx.formats.ml.reading.values import Child, boolean, named, text_of
from kafka_replica.sdmx.formats.shared.reading.key_family import roles_of_attribute, roles_of_dimension
from kafka_replica.sdmx.formats.shared.reading.standalone import FIXED_COMPONENT_IDS
from kafka_replica.sdmx.model import Attribute, AttributeRelationship, DataStructure, Dimension, Group, Measure
from kafka_replica.sdmx.readers.ml20.edition import Source
from kafka_replica.sdmx.readers.ml20.references import concept, made
from kafka_replica.sdmx.readers.ml20.values import id_of, item_urn, maintained, representation, unnamed
from kafka_replica.sdmx.urn import Urn

_ROLES: Final = {
    "isFrequencyDimension": "Frequency", "isEntityDimension": "Entity", "isCountDimension": "Count",
    "isNonObservationTimeDimension": "NonObservationTime", "isIdentityDimension": "Identity",
    "isTimeFormat": "TimeFormat", "isEntityAttribute": "Entity", "isCountAttribute": "Count",
    "isNonObservationalTimeAttribute": "NonObservationTime", "isFrequencyAttribute": "Frequency",
    "isIdentityAttribute": "Identity",
}  # fmt: skip
_CROSS_SECTIONAL: Final = "crossSectionalAttach"
_LEVELS: Final[dict[str, Literal["dataset", "dimensions", "group", "observation"]]] = {
    "DataSet": "dataset",
    "Series": "dimensions",
    "Group": "group",
    "Observation": "observation",
}


def key_family(urn: Urn, elements: list[etree._Element], source: Source) -> DataStructure:
    """Read a <KeyFamily>. A key family without components is a stub, because even the smallest one has a measure."""
    base, rest = maintained(elements[0], source)
    lists = [child for kind, child in rest if kind == "Components"]
    if not any(source.names[component.tag] for components in lists for component in components):
        base["is_external_reference"] = True
        return DataStructure(
            urn=urn, dimension_list=StubItems(urn), measures=StubItems(urn), attributes=StubItems(urn),
            groups=StubItems(urn), **base,
        )  # fmt: skip
    parts = _Parts(urn, source)
    for components in lists:
        parts.reserve(components)
        for child in components:
            parts.add(source.names[child.tag], child)
    return DataStructure(
        urn=urn,
        dimension_list=Items(parts.dimensions),
        measures=Items(parts.measures),
        # Built last, because an attribute of a series names all dimensions.
        attributes=Items(parts.attributes()),
        groups=Items(parts.groups),
        **base,
    )


class _Parts:
    """The components found so far; each id must be unique in a key family."""

    def __init__(self, urn: Urn, source: Source) -> None:
        self._urn, self._source = urn, source
        self.dimensions: dict[str, Dimension] = {}
        self.measures: dict[str, Measure] = {}
        self.groups: dict[str, Group] = {}
        self._attributes: dict[str, tuple[etree._Element, dict[str, Any], list[Child]]] = {}
        self._of_concepts: set[str] = set()
        self._key: tuple[str, ...] = ()
        self._primary: tuple[str, ...] = ()

    def reserve(self, components: etree._Element) -> None:
        """Note the ids that components take from their concepts; a fixed id that clashes with one is not used."""
        for child in components:
            if self._source.names[child.tag] not in FIXED_COMPONENT_IDS:
                self._of_concepts.add(child.get(self._source.edition.concept, ""))

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
                measure_dimension=element.get("measureDimension", ""), code=element.get("code", ""), **arguments
            )
        elif kind == "Attribute":
            id_, arguments, rest = self._component("DataAttribute", element)
            self._attributes[id_] = element, arguments, rest
        elif kind == "Group":
            self._group(element)
        elif kind:
            fail(element, "it has no place in <Components>")

    def _dimension(self, class_: str, element: etree._Element) -> None:
        id_, arguments, _ = self._component(class_, element)
        make, more = roles_of_dimension(id_, _roles(element), _levels(element))
        self.dimensions[id_] = make(position=len(self.dimensions) + 1, **arguments, **more)

    def _component(self, class_: str, element: etree._Element) -> tuple[str, dict[str, Any], list[Child]]:
        arguments, rest = unnamed(element, self._source)
        own = concept(element, self._source, self._urn.agency)
        fixed = FIXED_COMPONENT_IDS.get(class_)
        id_ = fixed if fixed and fixed not in self._of_concepts else own.item or ""
        if id_ in self.dimensions or id_ in self.measures or id_ in self._attributes:
            fail(element, f"the component {id_[:80]!r} comes twice in {self._urn}")
        arguments["urn"] = item_urn(self._urn, class_, element, id_)
        arguments["concept"] = own
        arguments["representation"] = representation(element, rest, self._source, self._urn.agency)
        return id_, arguments, rest

    def _group(self, element: etree._Element) -> None:
        arguments, rest = named(element, self._source.names)
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
        self._key = tuple(id_ for id_, one in self.dimensions.items() if not one.is_time)
        self._primary = tuple(id_ for id_, one in self.measures.items() if one.urn.cls == "PrimaryMeasure")
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
        measures = tuple(text_of(child).strip() for part, child in rest if part == "AttachmentMeasure")
        if kind == "observation" and not measures:
            measures = self._primary
        return AttributeRelationship(
            kind=kind, dimensions=self._key if kind == "dimensions" else (), groups=groups, measures=measures
        )


def _roles(element: etree._Element) -> list[str]:
    return [role for attribute, role in _ROLES.items() if boolean(element, attribute)]


def _levels(element: etree._Element) -> list[str]:
    return [level for level in ("DataSet", "Group", "Section", "Observation")
            if boolean(element, _CROSS_SECTIONAL + level)]  # fmt: skip
