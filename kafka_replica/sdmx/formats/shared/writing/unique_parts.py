"""Parts of an artefact that must be unique in a format: regions, maps, aliases, measure dimensions.

Items are always unique, because their ids are keys. Source: xs:unique in SDMXStructure*.xsd of SDMX-ML 2.1, 3.0 and
3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final

from kafka_replica.sdmx.containers import stored_parts
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import (
    Artefact,
    Constraint,
    DataStructure,
    HierarchicalCodelist,
    Hierarchy,
    StructureMap,
    StructureSet,
    VtlMappingScheme,
)

_ML_21: Final = frozenset({Format.SDMX_ML_2_1})
_ML_3: Final = frozenset({Format.SDMX_ML_3_0, Format.SDMX_ML_3_1})
_Rule = tuple[frozenset[Format], type[Artefact], str, Callable[[Any], Iterable[Hashable]]]
_RULES: Final[tuple[_Rule, ...]] = (
    (_ML_3, Constraint, "one region of what is included and one of what is not",
     lambda one: [each.include for each in stored_parts(one.cube_regions)]),
    (_ML_3, Constraint, "one region of targets that are included and one of those that are not",
     lambda one: [each.include for each in stored_parts(one.metadata_target_regions)]),
    (_ML_3, StructureMap, "one map of dates with an id", lambda one: _ids(one.date_pattern_maps)),
    (_ML_3, StructureMap, "one map of epochs with an id", lambda one: _ids(one.epoch_maps)),
    (_ML_3, Hierarchy, "one code with an id, however deep",
     lambda one: [] if one.codes.is_stub else [each.id for each in one.walk()]),
    (_ML_3 | _ML_21, VtlMappingScheme, "one mapping with an alias",
     lambda one: [] if one.mappings.is_stub else [each.alias for each in one.mappings.values() if each.alias]),
    (_ML_21, HierarchicalCodelist, "one codelist with an alias",
     lambda one: [each.alias for each in stored_parts(one.included_codelists) if each.alias]),
    (_ML_21, StructureSet, "one map of a class with an id",
     lambda one: _ids((*stored_parts(one.scheme_maps), *stored_parts(one.structure_maps)))),
    (_ML_21, DataStructure, "one measure dimension", lambda one: [] if one.dimension_list.is_stub else [
        each.urn.cls for each in one.dimension_list.values() if each.urn.cls == "MeasureDimension"
    ]),
)  # fmt: skip


def repeated(artefact: Artefact, format_: Format) -> str | None:
    """Return the part that is repeated in the artefact but must be unique in the format, or None."""
    for formats, kind, what, values_of in _RULES:
        if format_ in formats and isinstance(artefact, kind):
            values = list(values_of(artefact))
            if len(set(values)) != len(values):
                return what
    return None


def _ids(found: tuple[Any, ...]) -> list[Hashable]:
    return [(each.urn.cls, each.urn.item) for each in stored_parts(found) if each.urn is not None]
