"""Data structures of SDMX-EDI: key families (ASI and the segments after it).

Source: SDMX 2.1 Section 4, "SDMX-EDI: Syntax and Documentation".
"""

from __future__ import annotations

from typing import Any, Final, Literal

from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.errors import UnwritableError, UrnError
from kafka_replica.sdmx.formats.edi.reading.components import WrittenComponent
from kafka_replica.sdmx.formats.edi.reading.messages import refuse_segment
from kafka_replica.sdmx.formats.edi.reading.syntax import Segment, fail
from kafka_replica.sdmx.formats.edi.reading.texts import Texts, is_text
from kafka_replica.sdmx.formats.edi.writing.syntax import write_segment, write_texts
from kafka_replica.sdmx.formats.shared.reading.key_family import roles_of_dimension
from kafka_replica.sdmx.formats.shared.reading.standalone_items import FIXED_COMPONENT_IDS
from kafka_replica.sdmx.model import (
    Attribute,
    AttributeRelationship,
    Component,
    DataStructure,
    Dimension,
    Group,
    Measure,
)
from kafka_replica.sdmx.model.earlier_editions import KeyFamilyDimension
from kafka_replica.sdmx.model.representation import Representation, TextFormat
from kafka_replica.sdmx.urns.urn import Urn

# Reading

SIBLING_GROUP: Final = "Sibling"
"""The id of the only group of GESMES/TS: all dimensions but frequency. It is unnamed there; registries use this id."""

_LEVELS: Final[dict[str, Literal["dataset", "dimensions", "group", "observation"]]] = {
    "1": "dataset",
    "4": "dimensions",
    "5": "observation",
    "9": "group",
}


def read_key_family(urn: Urn, body: list[Segment]) -> DataStructure:
    """Return the data structure that these segments describe. Raises MessageError."""
    texts = Texts()
    components: list[WrittenComponent] = []
    for segment in body[1:]:
        if segment.tag == "SCD":
            components.append(WrittenComponent(urn.agency, segment))
        elif segment.tag in {"ATT", "IDE"}:
            if not components:
                fail(segment.number, f"{segment.tag} before any SCD")
            components[-1].add(segment)
        elif segment.tag == "FTX" and not (components and is_text(segment.elements())):
            texts.add(segment)
        else:
            refuse_segment(segment, urn)
    if not components:
        fail(body[0].number, f"the key family {urn.id} has no component (SCD)")
    return _Builder(urn).build(components, texts)


class _Builder:
    def __init__(self, urn: Urn) -> None:
        self._urn = urn
        self._dimensions: dict[str, Dimension] = {}
        self._measures: dict[str, Measure] = {}
        self._attributes: dict[str, tuple[WrittenComponent, dict[str, Any]]] = {}
        self._frequency: str | None = None
        self._has_time = False
        self._of_concepts: set[str] = set()
        self._key: tuple[str, ...] = ()

    def build(self, components: list[WrittenComponent], texts: Texts) -> DataStructure:
        self._of_concepts = {component.concept_id for component in components if component.kind not in {"1", "3"}}
        for component in components:
            self._add(component)
        # Computed last, because an attribute of a series names all dimensions.
        self._key = tuple(id_ for id_, dimension in self._dimensions.items() if not dimension.is_time)
        attributes = {id_: self._attribute(*written) for id_, written in self._attributes.items()}
        groups = {}
        if any(attribute.relationship.kind == "group" for attribute in attributes.values()):
            group = self._urn.with_item("GroupDimensionDescriptor", SIBLING_GROUP)
            groups[SIBLING_GROUP] = Group(
                urn=group, dimensions=tuple(id_ for id_ in self._key if id_ != self._frequency)
            )
        return DataStructure(
            urn=self._urn, names=texts.together(), dimension_list=Items(self._dimensions),
            measures=Items(self._measures), attributes=Items(attributes), groups=Items(groups),
        )  # fmt: skip

    def _add(self, written_component: WrittenComponent) -> None:
        if written_component.kind in {"13", "4"}:
            self._dimension(written_component, "Dimension")
        elif written_component.kind == "1" and not self._has_time:
            self._dimension(written_component, "TimeDimension")
        elif written_component.kind == "3" and not self._measures:
            arguments = self._identified(written_component, "PrimaryMeasure")
            self._measures[arguments["urn"].item] = Measure(
                representation=written_component.representation(), **arguments
            )
        elif written_component.kind in {"1", "3", "Z09"}:
            arguments = self._identified(written_component, "DataAttribute")
            self._attributes[arguments["urn"].item] = written_component, arguments
        else:
            fail(
                written_component.segment.number,
                f"a component of kind {written_component.kind[:20]!r}; kinds are 13, 4, 1, 3 and Z09",
            )

    def _dimension(self, written_component: WrittenComponent, class_: str) -> None:
        arguments = self._identified(written_component, class_)
        id_ = arguments["urn"].item
        is_time = class_ == "TimeDimension"
        self._has_time |= is_time
        if written_component.kind == "13":
            self._frequency = id_
        make, roles = roles_of_dimension(id_, ["Frequency"] if written_component.kind == "13" else [])
        self._dimensions[id_] = make(
            position=written_component.position or len(self._dimensions) + 1,
            # The format of time is fixed: a point in time or a range.
            representation=written_component.representation("ObservationalTimePeriod" if is_time else None),
            **arguments,
            **roles,
        )

    def _identified(self, written_component: WrittenComponent, class_: str) -> dict[str, Any]:
        id_ = FIXED_COMPONENT_IDS.get(class_, written_component.concept_id)
        if id_ in self._of_concepts:
            # Another component has the fixed id because its concept has that id.
            id_ = written_component.concept_id
        if id_ in self._dimensions or id_ in self._measures or id_ in self._attributes:
            fail(written_component.segment.number, f"the component {id_[:80]!r} is duplicated in {self._urn}")
        try:
            return {"urn": self._urn.with_item(class_, id_), "concept": written_component.concept}
        except UrnError as error:
            fail(written_component.segment.number, str(error))

    def _attribute(self, written_component: WrittenComponent, arguments: dict[str, Any]) -> Attribute:
        # The time format is part of the time components; it has no level and no status, and needs neither.
        is_time_format = written_component.kind == "1"
        level = written_component.level or ("4" if is_time_format else "5" if written_component.kind == "3" else "")
        kind = _LEVELS.get(level)
        if kind is None:
            fail(
                written_component.segment.number,
                f"attachment level {level[:20]!r} of {written_component.concept_id[:40]!r} is not 1, 4, 5 or 9",
            )
        return Attribute(
            mandatory=written_component.is_mandatory() or (is_time_format and written_component.usage is None),
            representation=written_component.representation(),
            relationship=AttributeRelationship(
                kind=kind,
                dimensions=self._key if kind == "dimensions" else (),
                groups=(SIBLING_GROUP,) if kind == "group" else (),
                measures=tuple(self._measures) if kind == "observation" else (),
            ),
            **arguments,
        )


# Writing

_TYPES: Final = {"Alpha": "A", "String": "AN", "Numeric": "N"}
_NUMBER_OF_LEVEL: Final = {level: number for number, level in _LEVELS.items()}
_WITH_OBSERVATIONS: Final = {"OBS_STATUS", "OBS_CONF", "OBS_PRE_BREAK"}
"""Attributes that are next to the observation in data messages."""


def write_key_family(data_structure: DataStructure) -> list[str]:
    """Write ASI, then SCD with ATT and IDE for each component, numbered if it is part of the key or its array."""
    if data_structure.dimension_list.is_stub:
        raise UnwritableError("SDMX-EDI cannot represent stubs")
    found = [write_segment("ASI", data_structure.id), *write_texts(data_structure.names)]
    for dimension in data_structure.dimension_list.values():
        found += _dimension(dimension)
    for measure in data_structure.measures.values():
        found += _component("3", measure, str(len(data_structure.dimension_list) + 1))
    for attribute in data_structure.attributes.values():
        found += _attribute(attribute, has_measure=bool(data_structure.measures))
    return found


def _dimension(dimension: Dimension) -> list[str]:
    if dimension.urn.cls == "MeasureDimension":
        raise UnwritableError(f"SDMX-EDI cannot represent the measure dimension {dimension.urn}")
    if dimension.is_time:
        return _component("1", dimension, str(dimension.position))
    is_frequency = dimension.id == "FREQ" or (
        isinstance(dimension, KeyFamilyDimension) and "Frequency" in dimension.roles
    )
    return _component("13" if is_frequency else "4", dimension, str(dimension.position))


def _component(kind: str, component: Component, position: str = "", *more: str) -> list[str]:
    if component.concept is None or component.concept.item is None:
        raise UnwritableError(f"{component.urn} names no concept, by which SDMX-EDI identifies components")
    place: tuple[str, ...] = ("", position) if position else ()
    found = [write_segment("SCD", kind, component.concept.item, "", "", "", place)]
    own = component.representation or Representation()
    if own.format is not None:
        written = _format(own.format, is_time=component.urn.cls == "TimeDimension")
        found += [write_segment("ATT", "3", "5", ("", "", "", written))] if written else []
    found += more
    if own.enumeration is not None:
        found.append(write_segment("IDE", "1", own.enumeration.id))
    return found


def _format(text_format: TextFormat, *, is_time: bool) -> str:
    kind = "AN" if is_time else _TYPES.get(text_format.text_type or "")
    if is_time and text_format.max_length is None:
        return ""
    if kind is None or text_format.max_length is None:
        raise UnwritableError(
            f"SDMX-EDI cannot represent the format {text_format.text_type or 'without a type'}: it knows "
            "letters, digits, and any characters, up to a length"
        )
    return (
        f"{kind}{text_format.max_length}"
        if text_format.min_length == text_format.max_length
        else f"{kind}..{text_format.max_length}"
    )


def _attribute(attribute: Attribute, *, has_measure: bool) -> list[str]:
    level = _NUMBER_OF_LEVEL[attribute.relationship.kind]
    kind = "Z09"
    if attribute.id == "TIME_FORMAT":
        kind = "1"
    elif attribute.id in _WITH_OBSERVATIONS and level == "5" and has_measure:
        kind = "3"
    usage = write_segment("ATT", "3", "35", ("2" if attribute.mandatory else "1", "USS"))
    return _component(kind, attribute, "", usage, write_segment("ATT", "3", "32", (level, "ALV")))
