"""The rules by which both kinds of JSON read the components of a data structure: ids, classes, defaults, errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.formats.json_shared.items import component_urn
from kafka_replica.sdmx.formats.json_shared.values import fail, read_reference, read_references, referred
from kafka_replica.sdmx.formats.shared.reading.identity import id_of_concept
from kafka_replica.sdmx.model import Attribute, AttributeRelationship, Dimension, Measure
from kafka_replica.sdmx.model.representation import Representation
from kafka_replica.sdmx.urns.urn import Urn

Written: TypeAlias = tuple[str, Any]
"""The class of a component, and the component as decoded: a ``WireComponent`` of either format."""

_Read: TypeAlias = tuple[str, Any, Urn, Urn | None, Representation | None, tuple[Urn, ...], dict[str, Any] | None]
"""The id, the component as written, URN, concept, representation, roles, annotations and so on."""

TO_OBSERVATION: Final = AttributeRelationship(kind="observation")
_FIXED_IDS: Final = {"TimeDimension": "TIME_PERIOD", "PrimaryMeasure": "OBS_VALUE"}


class ComponentReader:
    """A reader of the components of one data structure, list by list; an id is unique in all lists.

    Args:
        urn: the URN of the data structure.
        representation: the function that reads a representation; the URN is that of the component.
        annotated: the function that returns annotations, links and uri as arguments.
        is_fusion: True for Fusion-JSON, whose components also have the members ``uri`` and ``conceptRole``.
    """

    __slots__ = ("_annotated", "_is_fusion", "_representation", "_taken", "_urn")

    def __init__(
        self,
        urn: Urn,
        representation: Callable[[Any, Urn], Representation | None],
        annotated: Callable[[Any], dict[str, Any]],
        *,
        is_fusion: bool = False,
    ) -> None:
        self._urn, self._representation, self._annotated, self._is_fusion = urn, representation, annotated, is_fusion
        self._taken: set[str] = set()

    def _read(self, written: Iterable[Written]) -> Iterator[_Read]:
        """Read the parts that every component of a list has. Raises MessageError."""
        urn, taken, representation, annotated = self._urn, self._taken, self._representation, self._annotated
        package, agency, scheme, version, is_fusion = urn.package, urn.agency, urn.id, urn.version, self._is_fusion
        for class_, wire in written:
            named = wire.concept
            try:  # saves a call compared with read_reference
                concept = None if named is None else referred(named)
            except UrnError:
                concept = read_reference(named, urn)  # raises the error with the place
            named_after = id_of_concept(concept)
            id_ = wire.id or _FIXED_IDS.get(class_) or named_after
            if not id_:
                fail(urn, f"a {class_} has neither an id nor a concept")
            if id_ == named_after and id_ not in taken:  # valid, because the reference is
                own = Urn(package, class_, agency, scheme, version, id_)
            else:
                own = component_urn(urn, class_, id_, taken)
            taken.add(id_)
            values, roles = wire.representation, wire.concept_roles or (is_fusion and wire.concept_role)
            yield (
                id_,
                wire,
                own,
                concept,
                None if values is None else representation(values, own),
                read_references(roles, own) if roles else (),
                annotated(wire) if wire.annotations or wire.links or (is_fusion and wire.uri is not None) else None,
            )

    def dimensions(self, written: Iterable[Written]) -> dict[str, Dimension]:
        """Return dimensions by id, in order. Raises MessageError."""
        found: dict[str, Dimension] = {}
        for id_, wire, own, concept, values, roles, more in self._read(written):
            position = wire.position
            one = Dimension(
                urn=own,
                concept=concept,
                representation=values,
                concept_roles=roles,
                position=len(found) + 1 if position is None else position,
            )
            found[id_] = replace(one, **more) if more else one
        return found

    def measures(self, written: Iterable[Written]) -> dict[str, Measure]:
        """Return measures by id, in order. Raises MessageError."""
        found: dict[str, Measure] = {}
        for id_, wire, own, concept, values, roles, more in self._read(written):
            mandatory = bool(wire.mandatory)
            one = Measure(urn=own, concept=concept, representation=values, concept_roles=roles, mandatory=mandatory)
            found[id_] = replace(one, **more) if more else one
        return found

    def attributes(
        self, written: Iterable[Written], relationship: Callable[[Urn, Any], AttributeRelationship]
    ) -> dict[str, Attribute]:
        """Return attributes by id, in order; ``relationship`` reads their relationships. Raises MessageError."""
        urn = self._urn
        found: dict[str, Attribute] = {}
        for id_, wire, own, concept, values, roles, more in self._read(written):
            one = Attribute(
                urn=own,
                concept=concept,
                representation=values,
                concept_roles=roles,
                mandatory=bool(wire.mandatory),
                relationship=relationship(urn, wire),
            )
            found[id_] = replace(one, **more) if more else one
        return found
