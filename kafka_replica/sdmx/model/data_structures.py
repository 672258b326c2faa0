"""Data structures and dataflows.

Source: SDMX 3.1 Section 2, "Data Structure Definition and Dataflow"; SDMXStructureDataStructure.xsd.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from kafka_replica.common.html_tables import TableRows
from kafka_replica.sdmx.containers import Items, stub_error
from kafka_replica.sdmx.model.base import Annotation, Identifiable, Link, Maintainable
from kafka_replica.sdmx.model.representation import Representation
from kafka_replica.sdmx.model.value_object import ValueObject
from kafka_replica.sdmx.urns.urn import Urn


class Component(Identifiable, frozen=True, gc=False, kw_only=True):
    """A part of a data structure; ``representation`` is the local one, None if the concept's applies."""

    concept: Urn | None = None
    representation: Representation | None = None
    concept_roles: tuple[Urn, ...] = ()

    def table_row(self) -> tuple[object, ...]:
        """Return the component's row in the table of its data structure: id, kind, concept, values."""
        values = self.representation
        shown = None
        if values is not None and values.enumeration is not None:
            shown = values.enumeration.reference
        elif values is not None and values.format is not None:
            shown = values.format.text_type
        return self.id, self.urn.cls, None if self.concept is None else self.concept.reference, shown


class Dimension(Component, frozen=True, gc=False, kw_only=True):
    """A dimension; ``position`` counts from 1 as in the message, or by order if the message states none."""

    position: int

    def _facts(self) -> Iterator[str]:
        yield "time" if self.is_time else f"position {self.position}"

    @property
    def is_time(self) -> bool:
        """True if this is the time dimension."""
        return self.urn.cls == "TimeDimension"


class Measure(Component, frozen=True, gc=False, kw_only=True):
    """A measure, or the primary measure of 2.1 (see the class in its URN)."""

    mandatory: bool = False


class AttributeRelationship(ValueObject, frozen=True, gc=False, kw_only=True):
    """The objects that an attribute describes: the data set, some dimensions, groups, or each observation.

    ``groups`` may be combined with ``dimensions`` (the AttachmentGroup of 2.1); ``measures`` are the measures that the
    attribute describes (MeasureRelationship of 3.x, PrimaryMeasure of 2.1). ``optional_dimensions`` are those of
    ``dimensions`` that a value may omit (3.x).
    """

    kind: Literal["dataset", "dimensions", "group", "observation"]
    dimensions: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    optional_dimensions: tuple[str, ...] = ()


class Attribute(Component, frozen=True, gc=False, kw_only=True):
    """A data attribute (class DataAttribute)."""

    mandatory: bool = False
    relationship: AttributeRelationship


class MetadataAttributeUsage(ValueObject, frozen=True, gc=False, kw_only=True):
    """A metadata attribute of the metadata structure that data may carry, too (3.x), by its id."""

    metadata_attribute: str
    relationship: AttributeRelationship
    annotations: tuple[Annotation, ...] = ()
    links: tuple[Link, ...] = ()
    uri: str | None = None


class Group(Identifiable, frozen=True, gc=False, kw_only=True):
    """A named group of dimensions (GroupDimensionDescriptor), by their ids.

    In 2.1 an attachment constraint may replace the dimensions.
    """

    dimensions: tuple[str, ...] = ()
    attachment_constraint: Urn | None = None


class DataStructure(Maintainable, frozen=True, gc=False, kw_only=True):
    """A data structure definition: its components by id, in the order of the message.

    ``dimension_list`` is the DimensionDescriptor: all dimensions, including the time dimension. ``descriptors``
    are the lists themselves (DimensionDescriptor, AttributeDescriptor, MeasureDescriptor) if they carry
    annotations or links.
    """

    dimension_list: Items[Dimension]
    measures: Items[Measure]
    attributes: Items[Attribute]
    groups: Items[Group]
    metadata: Urn | None = None
    metadata_attribute_usages: tuple[MetadataAttributeUsage, ...] = ()
    descriptors: tuple[Identifiable, ...] = ()
    evolving_structure: bool = False

    def _counts(self) -> Iterator[tuple[str, int]]:
        counts = {
            "dimensions": len(self.dimension_list),
            "measures": len(self.measures),
            "attributes": len(self.attributes),
            "groups": len(self.groups),
        }
        yield from ((what, count) for what, count in counts.items() if count)

    def _table(self) -> TableRows:
        found = self.components
        rows = (component.table_row() for component in found)
        return TableRows(("id", "kind", "concept", "values"), rows, len(found), "component")

    @property
    def dimensions(self) -> Items[Dimension]:
        """The dimensions without the time dimension, in order."""
        return Items({key: part for key, part in self.dimension_list.items() if not part.is_time})

    @property
    def time_dimension(self) -> Dimension | None:
        """The time dimension, if there is one."""
        return next((part for part in self.dimension_list.values() if part.is_time), None)

    @property
    def components(self) -> tuple[Component, ...]:
        """The dimensions, measures and attributes, in this order."""
        return (*self.dimension_list.values(), *self.measures.values(), *self.attributes.values())


class Dataflow(Maintainable, frozen=True, gc=False, kw_only=True):
    """A dataflow. ``structure_reference`` is as in the message; ``structure`` raises for a stub.

    ``dimension_constraint`` (3.1) names the dimensions that the flow uses, of a structure that may evolve.
    """

    structure_reference: Urn | None = None
    dimension_constraint: tuple[str, ...] = ()

    def _facts(self) -> Iterator[str]:
        yield from super()._facts()
        if self.structure_reference is not None:
            yield f"of {self.structure_reference.reference}"

    @property
    def structure(self) -> Urn | None:
        """The data structure of the flow, or None if the flow names none. Raises UnreadableContentError for a stub."""
        if self.is_stub:
            raise stub_error(self.urn)
        return self.structure_reference
