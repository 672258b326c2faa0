"""The view of maps of structures, representations and items (3.x, and structure sets of 2.1), with a row per rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from kafka_replica.sdmx import Structures
from kafka_replica.sdmx.model import (
    Artefact,
    DateMap,
    DatePatternMap,
    EpochMap,
    ItemMap,
    ItemSchemeMap,
    MappedValue,
    RepresentationMap,
    StructureMap,
    StructureMapInSet,
    StructureSet,
)
from kafka_replica_spark.tables.view import FLAG, NUMBER, TEXT, TEXTS, Report, View, identifying_values, schema, text

_SOURCE_VALUE: Final = pa.struct([("value", TEXT), ("is_reg_ex", FLAG), ("start", NUMBER), ("end", NUMBER)])
_RULE: Final = (
    ("part", TEXT),
    ("kind", TEXT),
    ("source", TEXT),
    ("target", TEXT),
    ("sources", TEXTS),
    ("targets", TEXTS),
    ("source_values", pa.list_(_SOURCE_VALUE)),
    ("target_values", TEXTS),
    ("representation_map", TEXT),
    ("pattern", TEXT),
    ("locale", TEXT),
    ("frequency", TEXT),
    ("frequency_dimension", TEXT),
    ("base_period", TEXT),
    ("epoch_period", TEXT),
    ("resolve_period", TEXT),
    ("valid_from", TEXT),
    ("valid_to", TEXT),
)
_NAMES: Final = tuple(name for name, _ in _RULE)
_LISTS: Final = ("sources", "targets", "source_values", "target_values")


def _mappings(structures: Structures, artefact: Artefact, report: Report) -> Iterator[tuple[Any, ...]]:
    del structures, report
    own = identifying_values(artefact)
    for position, given in enumerate(_rules(artefact), start=1):
        rule: dict[str, Any] = {**{name: [] for name in _LISTS}, **given}
        yield (*own, artefact.urn.cls, position, *(rule.get(name) for name in _NAMES))


def _rules(artefact: Artefact) -> Iterator[dict[str, Any]]:
    if isinstance(artefact, RepresentationMap):
        yield from _of_representations(artefact)
    elif isinstance(artefact, StructureMap):
        yield from _of_structures(artefact)
    elif isinstance(artefact, ItemSchemeMap):
        yield from _of_items(artefact.source, artefact.target, artefact.item_maps)
    elif isinstance(artefact, StructureSet):
        for scheme in artefact.scheme_maps:
            for rule in _of_items(scheme.source, scheme.target, scheme.item_maps):
                yield rule | {"part": scheme.id}
        for structure in artefact.structure_maps:
            yield from _of_set(structure)


def _of_representations(found: RepresentationMap) -> Iterator[dict[str, Any]]:
    lists = {"sources": [str(source) for source in found.sources], "targets": [str(target) for target in found.targets]}
    for mapping in found.mappings:
        yield lists | {
            "kind": "RepresentationMapping",
            "source_values": _values(mapping.sources),
            "target_values": list(mapping.targets),
            "valid_from": mapping.valid_from,
            "valid_to": mapping.valid_to,
        }


def _of_structures(found: StructureMap) -> Iterator[dict[str, Any]]:
    ends = {"source": text(found.source), "target": text(found.target)}
    for component_map in found.component_maps:
        yield ends | {
            "kind": "ComponentMap",
            "sources": list(component_map.sources),
            "targets": list(component_map.targets),
            "representation_map": text(component_map.representation_map),
        }
    for fixed in found.fixed_value_maps:
        values = {"target_values": list(fixed.values)} if fixed.target else {"source_values": _plain(fixed.values)}
        yield ends | values | {"kind": "FixedValueMap", "sources": _one(fixed.source), "targets": _one(fixed.target)}
    for date in (*found.date_pattern_maps, *found.epoch_maps):
        yield ends | _of_dates(date)
    for format_ in found.frequency_format_mappings:
        yield ends | {
            "kind": "FrequencyFormatMapping",
            "frequency": format_.frequency,
            "pattern": format_.date_pattern,
        }


def _of_dates(found: DateMap) -> dict[str, Any]:
    own: dict[str, Any] = {"kind": "DateMap"}
    if isinstance(found, DatePatternMap):
        own = {"kind": "DatePatternMap", "pattern": found.source_pattern, "locale": found.locale}
    elif isinstance(found, EpochMap):
        own = {"kind": "EpochMap", "base_period": found.base_period, "epoch_period": found.epoch_period}
    return own | {
        "part": found.id,
        "sources": list(found.sources),
        "targets": list(found.targets),
        "frequency": found.target_frequency,
        "frequency_dimension": found.frequency_dimension,
        "resolve_period": found.resolve_period,
    }


def _of_items(source: object, target: object, maps: Iterable[ItemMap]) -> Iterator[dict[str, Any]]:
    for map_ in maps:
        yield {
            "kind": "ItemMap",
            "source": text(source),
            "target": text(target),
            "source_values": _values([map_.source]),
            "target_values": _one(map_.target),
            "valid_from": map_.valid_from,
            "valid_to": map_.valid_to,
        }


def _of_set(found: StructureMapInSet) -> Iterator[dict[str, Any]]:
    for component_map in found.component_maps:
        rule = {
            "part": found.id,
            "kind": "ComponentMap",
            "source": text(found.source),
            "target": text(found.target),
            "sources": [component_map.source],
            "targets": [component_map.target],
            "representation_map": component_map.codelist_map,
        }
        yield rule
        for value, mapped in component_map.value_mappings:
            yield rule | {"kind": "ValueMapping", "source_values": _plain([value]), "target_values": [mapped]}


def _values(found: Iterable[MappedValue]) -> list[dict[str, Any]]:
    return [
        {"value": one.value, "is_reg_ex": one.is_reg_ex, "start": one.start_index, "end": one.end_index}
        for one in found
    ]


def _plain(values: Iterable[str]) -> list[dict[str, Any]]:
    return _values(MappedValue(value=value) for value in values)


def _one(value: str | None) -> list[str]:
    return [] if value is None else [value]


MAPPINGS: Final = View(
    "mappings",
    (
        "StructureMap",
        "RepresentationMap",
        "ConceptSchemeMap",
        "CategorySchemeMap",
        "OrganisationSchemeMap",
        "ReportingTaxonomyMap",
        "StructureSet",
    ),
    schema("map", ("class", TEXT), ("position", NUMBER), *_RULE),
    _mappings,
)
