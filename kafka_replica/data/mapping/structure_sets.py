"""Structure maps of SDMX 2.1, which are parts of structure sets.

Source: SDMX 2.1 Section 2, "Structure Set and Mappings"; SDMXStructureStructureSet.xsd.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafka_replica.data.errors import MapError
from kafka_replica.data.mapping.map_ends import side_of
from kafka_replica.data.mapping.model import Copy, MapPlan, ValueMap
from kafka_replica.data.mapping.plan_builder import PlanBuilder
from kafka_replica.data.mapping.representation_maps import value_map_of
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Code, Codelist, Concept, ConceptScheme, DataStructure, Structures, Urn
from kafka_replica.sdmx.model import (
    ComponentMapInSet,
    MappedValue,
    RepresentationMapping,
    SchemeMapInSet,
    StructureSet,
)

_OF_CODES: Final = frozenset({"CodelistMap", "HybridCodelistMap"})


def compile_map_in_set(
    structures: Structures,
    set_: StructureSet,
    id_: str | None,
    severities: tuple[tuple[str, str], ...],
    *,
    implicit: bool,
) -> MapPlan:
    """Compile the structure map with an id, or the only one.

    Raises:
        UsageError: no map has that id, or there are several and the id is missing.
        MapError: the map cannot be carried out.
    """
    named = [
        structure_map
        for structure_map in set_.structure_maps
        if id_ is None or id_ in {structure_map.urn.item, structure_map.id}
    ]
    if len(named) != 1:
        ids = ", ".join(structure_map.id for structure_map in set_.structure_maps) or "none"
        raise UsageError(f"mapping by {set_.urn}{f', {id_}' if id_ else ''}: name one of its structure maps: {ids}")
    map_ = named[0]
    source, source_structure = side_of(structures, map_.source, map_.urn, "source")
    target, target_structure = side_of(structures, map_.target, map_.urn, "target")
    building = PlanBuilder(map_.urn, source, target)
    schemes = {scheme_map.id: scheme_map for scheme_map in set_.scheme_maps if scheme_map.urn.cls in _OF_CODES}
    for component_map in map_.component_maps:
        building.add([_component_map(structures, component_map, building, schemes, source_structure)])
    building.add_implicit(source_structure, target_structure, by_id=implicit)
    return building.plan(structures.version, severities)


def _component_map(
    structures: Structures,
    component_map_in_set: ComponentMapInSet,
    building: PlanBuilder,
    schemes: Mapping[str, SchemeMapInSet],
    structure: DataStructure,
) -> Copy | ValueMap:
    artefact = str(building.artefact)
    if component_map_in_set.codelist_map is not None:
        scheme = schemes.get(component_map_in_set.codelist_map)
        if scheme is None:
            raise MapError(
                f"compiling {artefact}: there is no codelist map {component_map_in_set.codelist_map!r} in its "
                "structure set"
            )
        rows = [
            _of_pair(_code(scheme.source, item.source.value), item.target and _code(scheme.target, item.target))
            for item in scheme.item_maps
        ]
        artefact = str(scheme.urn)
    elif component_map_in_set.value_mappings:
        rows = [_of_pair(*pair) for pair in component_map_in_set.value_mappings]
    elif component_map_in_set.to_value_type in {"Name", "Description"}:
        rows = [
            _of_pair(value, text)
            for value, text in _texts(structures, component_map_in_set, structure, artefact).items()
        ]
    else:
        return Copy(component_map_in_set.source, component_map_in_set.target)
    return value_map_of(
        (component_map_in_set.source,), (component_map_in_set.target,), rows, building.target.dimensions, artefact
    )


def _code(scheme: Urn | None, path: str) -> str:
    """Return the id of a mapped code; that of a hierarchical code is the end of its path."""
    return path.rpartition(".")[2] if scheme is not None and scheme.cls == "HierarchicalCodelist" else path


def _of_pair(source: str, target: str | None) -> RepresentationMapping:
    return RepresentationMapping(sources=(MappedValue(value=source),), targets=() if target is None else (target,))


def _texts(
    structures: Structures, component_map_in_set: ComponentMapInSet, structure: DataStructure, artefact: str
) -> dict[str, str | None]:
    """Return the name or description of each code, in the map's language (2.0), else in English or the first one."""
    component = next((part for part in structure.components if part.id == component_map_in_set.source), None)
    enumeration = None if component is None else structures.enumeration_of(component)
    listed = None if enumeration is None else structures.get(enumeration)
    items: Mapping[str, Code] | Mapping[str, Concept]
    if isinstance(listed, Codelist):
        items = structures.expand(listed).codes
    elif isinstance(listed, ConceptScheme):
        items = listed.concepts
    else:
        raise MapError(
            f"compiling {artefact}: {component_map_in_set.source} becomes the "
            f"{component_map_in_set.to_value_type} of its code, but it has no codelist"
        )
    language = getattr(component_map_in_set, "preferred_language", None)
    if component_map_in_set.to_value_type == "Name":
        return {id_: item.name(language) or item.name() for id_, item in items.items()}
    return {id_: item.description(language) or item.description() for id_, item in items.items()}
