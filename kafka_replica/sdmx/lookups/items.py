"""Look-up of an item in an artefact by its class and path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, cast

from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.model import (
    Artefact,
    ConceptScheme,
    DataStructure,
    HierarchicalCodelist,
    Hierarchy,
    MetadataStructure,
    Process,
    ProcessStep,
    StructureMap,
    StructureSet,
)
from kafka_replica.sdmx.model.base import Annotation, Identifiable, ItemScheme
from kafka_replica.sdmx.urns.urn import Urn


class Item(Protocol):
    """A part of an artefact that has a URN of its own: an ``Identifiable``, a ``Transition``, a date map."""

    @property
    def urn(self) -> Urn:
        """The URN of the item."""
        ...

    @property
    def annotations(self) -> tuple[Annotation, ...]:
        """The annotations of the item."""
        ...


_DESCRIPTORS = {"DimensionDescriptor", "MeasureDescriptor", "AttributeDescriptor", "MetadataAttributeDescriptor"}


def has_items(artefact: Artefact) -> bool:
    """Return whether the artefact's class has items that can be looked up."""
    return isinstance(artefact, (ItemScheme, DataStructure, MetadataStructure, StructureMap, StructureSet))


def item_of(artefact: Artefact, class_: str, path: str) -> Item | None:
    """Return the item of this path, or None. Raises UnreadableContentError for a stub."""
    found: Item | None = None
    if isinstance(artefact, ConceptScheme):
        # Some messages write a path of concepts; ids are unique in the scheme.
        found = artefact.concepts.get(path) or artefact.concepts.get(path.rpartition(".")[2])
    elif class_ == "Level" and isinstance(artefact, (Hierarchy, HierarchicalCodelist)):
        found = _level(artefact, path)
    elif class_ == "Transition" and isinstance(artefact, Process):
        found = _at((transition for step in _steps(artefact) for transition in step.transitions), class_, path)
    elif isinstance(artefact, StructureMap):
        parts = (*artefact.date_pattern_maps, *artefact.epoch_maps, *artefact.frequency_format_mappings)
        found = _at(parts, class_, path)
    elif isinstance(artefact, StructureSet):
        found = _at((*artefact.scheme_maps, *artefact.structure_maps), class_, path)
    elif isinstance(artefact, ItemScheme):
        found = artefact.item(path)
    elif isinstance(artefact, DataStructure):
        found = _of_data_structure(artefact, class_, path)
    elif isinstance(artefact, MetadataStructure):
        found = _of_metadata_structure(artefact, class_, path)
    return found


def _of_data_structure(artefact: DataStructure, class_: str, path: str) -> Identifiable | None:
    if class_ == "GroupDimensionDescriptor":
        return artefact.groups.get(path)
    if class_ in _DESCRIPTORS:
        kept = next((descriptor for descriptor in artefact.descriptors if descriptor.urn.cls == class_), None)
        return kept or Identifiable(urn=artefact.urn.with_item(class_, class_))
    return next((component for component in artefact.components if component.id == path), None)


def _of_metadata_structure(artefact: MetadataStructure, class_: str, path: str) -> Identifiable | None:
    if class_ in _DESCRIPTORS:
        kept = next((descriptor for descriptor in artefact.descriptors if descriptor.urn.cls == class_), None)
        return kept or Identifiable(urn=artefact.urn.with_item(class_, class_))
    first, *rest = path.split(".")
    targets, reports = artefact.metadata_targets, artefact.report_structures
    found: Any = artefact.metadata_attributes.get(first) or targets.get(first) or reports.get(first)
    for part in rest:
        below: Items[Any] | None = getattr(found, "metadata_attributes", None) or getattr(found, "target_objects", None)
        found = below.get(part) if below is not None else None
    return found if isinstance(found, Identifiable) else None


def _level(artefact: Hierarchy | HierarchicalCodelist, path: str) -> Identifiable | None:
    # In a hierarchical codelist the path begins with the id of the hierarchy.
    is_one = isinstance(artefact, Hierarchy)
    held = artefact.hierarchies.get(path.partition(".")[0]) if isinstance(artefact, HierarchicalCodelist) else artefact
    level = held.level if held is not None else None
    while level is not None and path != level.urn.item and (not is_one or path != level.id):
        level = level.level
    return level


def _steps(process: Process) -> Iterator[ProcessStep]:
    stack = list(process.steps.values())
    while stack:
        step = stack.pop()
        yield step
        stack += step.steps.values()


def _at(parts: Iterable[Any], class_: str, path: str) -> Item | None:
    """Return the part with this path; some of the parts may lack a URN."""
    found = (part for part in parts if part.urn is not None and (part.urn.cls, part.urn.item) == (class_, path))
    return cast("Item | None", next(found, None))
