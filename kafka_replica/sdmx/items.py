"""Finding an item in an artefact by its class and path."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.base import Identifiable, ItemScheme
from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.model import Artefact, ConceptScheme, DataStructure, Hierarchy, MetadataStructure

_DESCRIPTORS = {"DimensionDescriptor", "MeasureDescriptor", "AttributeDescriptor", "MetadataAttributeDescriptor"}


def has_items(artefact: Artefact) -> bool:
    """Whether it is of a class whose items can be looked up."""
    return isinstance(artefact, (ItemScheme, DataStructure, MetadataStructure))


def item_of(artefact: Artefact, class_: str, path: str) -> Identifiable | None:
    """The item of this path, or None. Raises UnreadableContentError for a stub."""
    found: Identifiable | None = None
    if isinstance(artefact, ConceptScheme):
        # A path of concepts is written by some; ids are unique in the scheme.
        found = artefact.concepts.get(path) or artefact.concepts.get(path.rpartition(".")[2])
    elif isinstance(artefact, Hierarchy) and class_ == "Level":
        found = _level(artefact, path)
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
        kept = next((one for one in artefact.descriptors if one.urn.cls == class_), None)
        return kept or Identifiable(urn=artefact.urn.with_item(class_, class_))
    return next((one for one in artefact.components if one.id == path), None)


def _of_metadata_structure(artefact: MetadataStructure, class_: str, path: str) -> Identifiable | None:
    if class_ in _DESCRIPTORS:
        kept = next((one for one in artefact.descriptors if one.urn.cls == class_), None)
        return kept or Identifiable(urn=artefact.urn.with_item(class_, class_))
    first, *rest = path.split(".")
    targets, reports = artefact.metadata_targets, artefact.report_structures
    found: Any = artefact.metadata_attributes.get(first) or targets.get(first) or reports.get(first)
    for part in rest:
        below: Items[Any] | None = getattr(found, "metadata_attributes", None) or getattr(found, "target_objects", None)
        found = below.get(part) if below is not None else None
    return found if isinstance(found, Identifiable) else None


def _level(artefact: Hierarchy, path: str) -> Identifiable | None:
    level = artefact.level
    while level is not None and path not in {level.urn.item, level.id}:
        level = level.level
    return level
