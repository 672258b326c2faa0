"""The model: what a structure message says, whatever format it came in. Immutable.

Names are those of the SDMX information model (Section 2 of the standards), in snake_case. Everything the
message says of what is covered here is kept: all languages, annotations, parents, order.
"""

from __future__ import annotations

from typing import Literal, NoReturn, TypeAlias

import msgspec

from kafka_replica.errors import UnreadableContentError
from kafka_replica.sdmx.base import Annotation, Identifiable, Link, Maintainable, Nameable
from kafka_replica.sdmx.containers import NO_TEXT, InternationalString, Items, stub_error
from kafka_replica.sdmx.representation import ItemReference, Representation
from kafka_replica.sdmx.urn import Urn

__all__ = [
    "Annotation",
    "Artefact",
    "Attribute",
    "AttributeRelationship",
    "Code",
    "Codelist",
    "CodelistExtension",
    "Component",
    "Concept",
    "ConceptScheme",
    "DataStructure",
    "Dataflow",
    "Dimension",
    "Group",
    "Identifiable",
    "Link",
    "Maintainable",
    "Measure",
    "MemberValue",
    "Nameable",
    "OpaqueArtefact",
    "ValueItem",
    "ValueList",
]


class Code(Nameable, frozen=True, gc=False, kw_only=True):
    """A code; ``parent`` is the id of another code of the list."""

    parent: str | None = None


class MemberValue(msgspec.Struct, frozen=True, gc=False):
    """A selected code of an extension: id or pattern with ``%``; cascade is true, false or excluderoot."""

    value: str
    cascade_values: str | None = None


class CodelistExtension(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One codelist that is extended (3.x); codes are not copied in here."""

    codelist: Urn
    prefix: str | None = None
    inclusive: tuple[MemberValue, ...] = ()
    exclusive: tuple[MemberValue, ...] = ()


class Codelist(Maintainable, frozen=True, gc=False, kw_only=True):
    """A codelist: its own codes by id, in the order of the message."""

    codes: Items[Code]
    extensions: tuple[CodelistExtension, ...] = ()

    @property
    def is_stub(self) -> bool:
        """Whether its codes are elsewhere."""
        return self.codes.is_stub


class ValueItem(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One value of a value list. Its id may be any text ("¥"), so it has no URN."""

    id: str
    names: InternationalString = NO_TEXT
    descriptions: InternationalString = NO_TEXT
    annotations: tuple[Annotation, ...] = ()

    def name(self, language: str | None = None) -> str | None:
        """The name in that language or None; without a language the English one, else the first."""
        return self.names.in_language(language)

    def description(self, language: str | None = None) -> str | None:
        """The description, chosen as :meth:`name` chooses."""
        return self.descriptions.in_language(language)


class ValueList(Maintainable, frozen=True, gc=False, kw_only=True):
    """A value list (3.x). Ids may repeat: the standard's own sample has "¥" for two currencies."""

    value_items: tuple[ValueItem, ...] = ()

    @property
    def values(self) -> tuple[ValueItem, ...]:
        """Its values in the order of the message. Raises UnreadableContentError for a stub."""
        if self.is_stub:
            raise stub_error(self.urn)
        return self.value_items

    @property
    def is_stub(self) -> bool:
        """Whether its values are elsewhere."""
        return self.is_external_reference and not self.value_items


class Concept(Nameable, frozen=True, gc=False, kw_only=True):
    """A concept; ``parent`` is the id of another concept of the scheme."""

    parent: str | None = None
    core_representation: Representation | None = None
    iso_concept: ItemReference | None = None


class ConceptScheme(Maintainable, frozen=True, gc=False, kw_only=True):
    """A concept scheme: its concepts by id, in the order of the message."""

    concepts: Items[Concept]

    @property
    def is_stub(self) -> bool:
        """Whether its concepts are elsewhere."""
        return self.concepts.is_stub


class Component(Identifiable, frozen=True, gc=False, kw_only=True):
    """A part of a data structure; ``representation`` is the local one, None where the concept's holds."""

    concept: Urn | None = None
    representation: Representation | None = None
    concept_roles: tuple[Urn, ...] = ()


class Dimension(Component, frozen=True, gc=False, kw_only=True):
    """A dimension; ``position`` counts from 1 as in the message, or by order where it says nothing."""

    position: int

    @property
    def is_time(self) -> bool:
        """Whether it is the time dimension."""
        return self.urn.cls == "TimeDimension"


class Measure(Component, frozen=True, gc=False, kw_only=True):
    """A measure, or the primary measure of 2.1 (see the class in its URN)."""

    mandatory: bool = False


class AttributeRelationship(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What an attribute describes: the data set, some dimensions, groups, or each observation.

    ``groups`` may stand beside ``dimensions`` (the AttachmentGroup of 2.1); ``measures`` are those the
    attribute is about (MeasureRelationship of 3.x, PrimaryMeasure of 2.1).
    """

    kind: Literal["dataset", "dimensions", "group", "observation"]
    dimensions: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()


class Attribute(Component, frozen=True, gc=False, kw_only=True):
    """A data attribute (class DataAttribute)."""

    mandatory: bool = False
    relationship: AttributeRelationship


class Group(Identifiable, frozen=True, gc=False, kw_only=True):
    """A named group of dimensions (GroupDimensionDescriptor), by their ids."""

    dimensions: tuple[str, ...] = ()


class DataStructure(Maintainable, frozen=True, gc=False, kw_only=True):
    """A data structure definition: its components by id, in the order of the message.

    ``dimension_list`` is the DimensionDescriptor: all dimensions, that of time among them.
    """

    dimension_list: Items[Dimension]
    measures: Items[Measure]
    attributes: Items[Attribute]
    groups: Items[Group]
    metadata: Urn | None = None

    @property
    def dimensions(self) -> Items[Dimension]:
        """The dimensions without that of time, in order."""
        return Items({key: part for key, part in self.dimension_list.items() if not part.is_time})

    @property
    def time_dimension(self) -> Dimension | None:
        """The time dimension, if there is one."""
        return next((part for part in self.dimension_list.values() if part.is_time), None)

    @property
    def components(self) -> tuple[Component, ...]:
        """Dimensions, measures and attributes, in this order."""
        return (*self.dimension_list.values(), *self.measures.values(), *self.attributes.values())

    @property
    def is_stub(self) -> bool:
        """Whether its components are elsewhere."""
        return self.dimension_list.is_stub


class Dataflow(Maintainable, frozen=True, gc=False, kw_only=True):
    """A dataflow. ``structure_reference`` is as in the message; ``structure`` refuses for a stub."""

    structure_reference: Urn | None = None

    @property
    def structure(self) -> Urn | None:
        """The data structure it uses, or None where none is given. Raises UnreadableContentError for a stub."""
        if self.is_stub:
            raise stub_error(self.urn)
        return self.structure_reference

    @property
    def is_stub(self) -> bool:
        """Whether its content is elsewhere."""
        return self.is_external_reference and self.structure_reference is None


class OpaqueArtefact(Maintainable, frozen=True, gc=False, kw_only=True):
    """An artefact of a class that is kept but not read yet: its names, and a message of it alone.

    ``content`` is a whole message in ``format`` (a media type). Asking for anything else raises
    UnreadableContentError.
    """

    content: bytes
    content_type: str

    def __getattr__(self, attribute: str) -> NoReturn:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        raise UnreadableContentError(
            f"asking {self.urn} for its {attribute!r}: artefacts of class {self.urn.cls} cannot be read yet; "
            "their bytes are kept in .content"
        )


Artefact: TypeAlias = Codelist | ValueList | ConceptScheme | DataStructure | Dataflow | OpaqueArtefact
"""Every kind of artefact a message can give."""
