"""What a data structure demands of each component, gathered from one version. No Spark in here."""

from __future__ import annotations

from typing import NamedTuple

from kafka_replica.errors import ArtefactNotFoundError, SdmxError, UsageError
from kafka_replica.sdmx import (
    Attribute,
    Component,
    Concept,
    Dataflow,
    DataStructure,
    Dimension,
    Measure,
    Representation,
    Structures,
    TextFormat,
    Urn,
)
from kafka_replica_spark.enumerations import allowed_values


class Demand(NamedTuple):
    """What is demanded of one component.

    Attributes:
        id: its id, which is the name of its column.
        kind: ``dimension``, ``attribute`` or ``measure``.
        required: whether each observation must have a value.
        is_time: whether it is the time dimension.
        repeated: whether one observation may have several values.
        enumeration: the list its values come from, None if it is not coded.
        values: what that list allows; empty if it is not coded.
        format: its text format, None if it is coded or nothing is said.
    """

    id: str
    kind: str
    required: bool
    is_time: bool
    repeated: bool
    enumeration: Urn | None
    values: frozenset[str]
    format: TextFormat | None


def data_structure(structures: Structures, reference: Urn | str) -> DataStructure:
    """The data structure that a URN or reference of it, or of a dataflow that uses it, names.

    Raises:
        UsageError: the URN is of another class; a reference means a data structure and a dataflow of another.
        SdmxError: it is not in this version or cannot be read.
    """
    if isinstance(reference, str) and not reference.startswith("urn:"):
        return _of_reference(structures, reference)
    urn = Urn.parse(reference) if isinstance(reference, str) else reference
    if urn.cls == "DataStructure":
        return structures.data_structure(urn)
    if urn.cls == "Dataflow":
        return _of_dataflow(structures, structures.dataflow(urn))
    raise UsageError(f"validating against {urn}: give the URN of a DataStructure or of a Dataflow")


def _of_reference(structures: Structures, reference: str) -> DataStructure:
    found: dict[Urn, DataStructure] = {}
    missing: ArtefactNotFoundError | None = None
    for class_ in ("DataStructure", "Dataflow"):
        urn = Urn.of_reference(class_, reference)
        try:
            structure = data_structure(structures, structures.get(urn).urn)
        except ArtefactNotFoundError as error:
            if urn in structures:
                raise  # the dataflow is here, its data structure is not
            missing = error
        else:
            found[structure.urn] = structure
    if len(found) > 1:
        names = " and ".join(map(str, found))
        raise UsageError(f"validating against {reference!r}: it means {names}; give a URN, not a reference")
    if not found:
        raise ArtefactNotFoundError(
            f"validating against {reference!r}: version {structures.version} has no such data structure or dataflow; "
            "check agency, id and version"
        ) from missing
    return next(iter(found.values()))


def _of_dataflow(structures: Structures, dataflow: Dataflow) -> DataStructure:
    if dataflow.structure is None:
        raise UsageError(f"validating against {dataflow.urn}: it names no data structure; give the URN of one")
    return structures.data_structure(dataflow.structure)


def demands(structures: Structures, structure: DataStructure) -> list[Demand]:
    """What it demands of each component, in its order.

    Raises:
        ArtefactNotFoundError: enumerations or concepts it refers to are not in this version; names all of them.
        SdmxError: one of these is there and cannot be read.
    """
    made: list[Demand] = []
    failures: list[str] = []
    known: dict[Urn, frozenset[str]] = {}
    for component in structure.components:
        try:
            made.append(_demand(structures, component, known))
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


def _demand(structures: Structures, component: Component, known: dict[Urn, frozenset[str]]) -> Demand:
    representation = _representation(structures, component) or Representation()
    enumeration = representation.enumeration
    if enumeration is not None and enumeration not in known:
        known[enumeration] = allowed_values(structures, enumeration)
    if isinstance(component, Dimension):
        kind, required = "dimension", True
    elif isinstance(component, Attribute):
        # One of a group, of dimensions or of the data set may be given elsewhere, once.
        kind, required = "attribute", component.mandatory and component.relationship.kind == "observation"
    else:
        kind, required = "measure", isinstance(component, Measure) and component.mandatory
    return Demand(
        id=component.id,
        kind=kind,
        required=required,
        is_time=isinstance(component, Dimension) and component.is_time,
        repeated=representation.max_occurs not in {None, 1},
        enumeration=enumeration,
        values=known[enumeration] if enumeration is not None else frozenset(),
        format=representation.format if enumeration is None else None,
    )


def _representation(structures: Structures, component: Component) -> Representation | None:
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
