"""What a data structure says of each component: how its values are written, and whether it must be given."""

from __future__ import annotations

from typing import Literal, NamedTuple

from kafka_replica.errors import ArtefactNotFoundError, SdmxError
from kafka_replica.rules.enumerations import Enumeration, enumeration_of
from kafka_replica.rules.examples import examples
from kafka_replica.rules.model import Column
from kafka_replica.rules.texts import FLOATING, NOT_A_NUMBER, NOT_AVAILABLE, TIME_TYPES
from kafka_replica.sdmx import (
    Attribute,
    Component,
    Concept,
    DataStructure,
    Dimension,
    Measure,
    Representation,
    Structures,
    TextFormat,
    Urn,
)


class Described(NamedTuple):
    """A component, its column, and what its values come from or are written like.

    The format of an enumerated component is one of its codes.
    """

    component: Component
    column: Column
    enumeration: Enumeration | None
    format: TextFormat
    min_occurs: int | None
    max_occurs: int | None

    @property
    def marks(self) -> frozenset[str]:
        """Values that stand for something else than a value, so that no rule on values is about them."""
        found = {one.value for one in self.format.sentinel_values}
        if self.column.kind != "dimension":
            is_floating = self.enumeration is None and self.column.text_type in FLOATING
            found.add(NOT_A_NUMBER if is_floating else NOT_AVAILABLE)
        return frozenset(found)


def described(structures: Structures, structure: DataStructure) -> list[Described]:
    """All components in the order of the structure.

    Raises:
        ArtefactNotFoundError: enumerations or concepts it refers to are not in this version; names all of them.
        SdmxError: one of these is there and cannot be read.
    """
    made: list[Described] = []
    failures: list[str] = []
    known: dict[Urn, Enumeration] = {}
    for component in structure.components:
        try:
            made.append(_described(structures, component, known))
        except ArtefactNotFoundError as error:
            failures.append(f"{component.id}: {error}")
        except SdmxError as error:
            raise type(error)(f"validating against {structure.urn}: component {component.id}: {error}") from error
    if failures:
        raise ArtefactNotFoundError(
            f"validating against {structure.urn}: not all it refers to is in version {structures.version}: "
            f"{'; '.join(failures)}; have these published, or validate against a version that has them"
        )
    return made


def _described(structures: Structures, component: Component, known: dict[Urn, Enumeration]) -> Described:
    representation = representation_of(structures, component) or Representation()
    found: Enumeration | None = None
    if representation.enumeration is not None:
        if representation.enumeration not in known:
            known[representation.enumeration] = enumeration_of(structures, representation.enumeration)
        found = known[representation.enumeration]
    format_ = representation.format or TextFormat()
    most = None if representation.max_occurs == "unbounded" else representation.max_occurs or 1
    column = _column(component, found, format_ if found is None else TextFormat(), repeated=most is None or most > 1)
    return Described(component, column, found, format_, representation.min_occurs, most)


def _column(component: Component, enumeration: Enumeration | None, format_: TextFormat, *, repeated: bool) -> Column:
    kind: Literal["dimension", "attribute", "measure"] = "measure"
    is_time = isinstance(component, Dimension) and component.is_time
    needed = required = isinstance(component, Measure) and component.mandatory
    if isinstance(component, Dimension):
        kind, needed, required = "dimension", True, True
    elif isinstance(component, Attribute):
        # One of a group, of dimensions or of the data set may be given in another row.
        kind, needed = "attribute", component.mandatory
        required = component.mandatory and component.relationship.kind == "observation"
    text_type = format_.text_type or "String"
    if is_time and text_type not in TIME_TYPES:
        text_type = "ObservationalTimePeriod"  # all that the standard allows there
    return Column(
        id=component.id,
        kind=kind,
        is_time=is_time,
        required=required,
        needed=needed,
        repeated=repeated,
        is_multi_lingual=kind != "dimension" and enumeration is None and _may_be_in_languages(format_),
        enumeration=None if enumeration is None else enumeration.urn,
        values=frozenset() if enumeration is None else enumeration.values,
        text_type=text_type,
        examples=() if enumeration is not None else examples(text_type, format_),
    )


def _may_be_in_languages(format_: TextFormat) -> bool:
    """Whether values may be in several languages.

    Of a text that does not say, 2.1 and 3.0 mean so and 3.1 the opposite; a model has no edition, so it is allowed.
    """
    if format_.is_multi_lingual is None:
        return (format_.text_type or "String") in {"String", "XHTML"}
    return format_.is_multi_lingual


def representation_of(structures: Structures, component: Component) -> Representation | None:
    """Its local representation, else its concept's core representation (SDMX Section 2, "Representation")."""
    own = component.representation
    if own is not None and (own.enumeration is not None or own.format is not None):
        return own
    if component.concept is None:
        return own
    concept = structures.get(component.concept)
    core = concept.core_representation if isinstance(concept, Concept) else None
    if core is None or own is None:
        return core or own
    return Representation(
        enumeration=core.enumeration, format=core.format, min_occurs=own.min_occurs, max_occurs=own.max_occurs
    )
