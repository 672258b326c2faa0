"""The source and target structures of a map."""

from __future__ import annotations

from kafka_replica.data.errors import MapError
from kafka_replica.data.mapping.model import MapSide
from kafka_replica.sdmx import DataStructure, Dimension, Measure, Structures, Urn
from kafka_replica.sdmx.lookups.structure_usage import structure_usage

_CLASSES = ("DataStructure", "Dataflow", "ProvisionAgreement")


def side_of(structures: Structures, urn: Urn | None, of: Urn, what: str) -> tuple[MapSide, DataStructure]:
    """Return the source or target of a map, and its data structure.

    Raises:
        MapError: the map names none, or a metadata structure.
        SdmxError: the structure is not in this version or cannot be read.
    """
    if urn is None or urn.cls not in _CLASSES:
        named = "none" if urn is None else str(urn)
        raise MapError(
            f"compiling {of}: its {what} is {named}; data is only mapped between data structures and dataflows"
        )
    structure = structure_usage(structures, urn).structure
    components = structure.components
    dimensions = frozenset(component.id for component in components if isinstance(component, Dimension))
    time = next(
        (component.id for component in components if isinstance(component, Dimension) and component.is_time), None
    )
    measures = frozenset(measures_of(structure))
    return MapSide(urn, tuple(component.id for component in components), dimensions, measures, time), structure


def measures_of(structure: DataStructure) -> list[str]:
    """Return the ids of a structure's measures."""
    return [component.id for component in structure.components if isinstance(component, Measure)]
