"""Structure maps and representation maps. Content whose loss would change the mapping is refused."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.model import (
    ComponentMap,
    DatePatternMap,
    FixedValueMap,
    MappedValue,
    RepresentationMap,
    StructureMap,
)
from kafka_replica.sdmx.urns.urn import Urn
from support.sdmx.pysdmx_objects.basics import Work, written
from support.sdmx.pysdmx_objects.library import pysdmx


def representation_map(one: RepresentationMap, work: Work) -> Any:
    """Convert a map of values: to a RepresentationMap between two lists, otherwise to a MultiRepresentationMap."""
    model, base = pysdmx(), work.maintained(one)
    if one.is_stub:
        return model.RepresentationMap(**base)
    sources, targets = [_list(source) for source in one.sources], [_list(target) for target in one.targets]
    rows = []
    for row in one.mappings:
        if not row.targets:
            raise work.refused("it has no source that is mapped to nothing")
        validity = {"valid_from": work.instant(row.valid_from), "valid_to": work.instant(row.valid_to)}
        rows.append(([_source(value, work) for value in row.sources], list(row.targets), validity))
    if len(sources) == len(targets) == 1:
        maps = [model.ValueMap(source=source[0], target=target[0], **valid) for source, target, valid in rows]
        return model.RepresentationMap(**base, source=sources[0], target=targets[0], maps=tuple(maps))
    several = [model.MultiValueMap(source=source, target=target, **valid) for source, target, valid in rows]
    return model.MultiRepresentationMap(**base, source=sources, target=targets, maps=tuple(several))


def _list(one: Urn | str) -> Any:
    """Convert a list by its URN, or a data type."""
    known = {kind.value: kind for kind in pysdmx().DataType}
    return str(one) if isinstance(one, Urn) else known.get(one, one)


def _source(value: MappedValue, work: Work) -> str:
    if value.start_index is not None or value.end_index is not None:
        raise work.refused("it does not map parts of values")
    return f"regex:{value.value}" if value.is_reg_ex else value.value


def structure_map(one: StructureMap, work: Work) -> Any:
    """Convert a structure map."""
    if one.is_stub:
        raise work.refused("a structure map there has its maps; this is a stub")
    if one.epoch_maps or one.frequency_format_mappings:
        raise work.refused("it has no epoch maps and no formats of frequencies")
    maps = [
        *(_component_map(part, work) for part in one.component_maps),
        *(_fixed_value(part) for part in one.fixed_value_maps),
        *(_date_pattern(part, work) for part in one.date_pattern_maps),
    ]
    return pysdmx().StructureMap(
        **work.maintained(one), source=written(one.source), target=written(one.target), maps=tuple(maps)
    )


def _component_map(one: ComponentMap, work: Work) -> Any:
    model = pysdmx()
    is_single = len(one.sources) == len(one.targets) == 1
    if one.representation_map is None:
        if not is_single:
            raise work.refused("without a representation map it copies one component to one")
        return model.ImplicitComponentMap(one.sources[0], one.targets[0])
    values = str(one.representation_map)
    if is_single:
        return model.ComponentMap(one.sources[0], one.targets[0], values)
    return model.MultiComponentMap(list(one.sources), list(one.targets), values)


def _fixed_value(one: FixedValueMap) -> Any:
    value = one.values[0] if len(one.values) == 1 else list(one.values)
    located_in = "target" if one.target is not None else "source"
    return pysdmx().FixedValueMap(one.target or one.source or "", value, located_in)


def _date_pattern(one: DatePatternMap, work: Work) -> Any:
    if len(one.sources) != 1 or len(one.targets) != 1 or one.mapped_frequencies:
        raise work.refused("a map of dates is from one component to one, without frequencies of its own")
    is_fixed = one.target_frequency is not None
    return pysdmx().DatePatternMap(
        source=one.sources[0],
        target=one.targets[0],
        pattern=one.source_pattern,
        frequency=(one.target_frequency if is_fixed else one.frequency_dimension) or "",
        id=one.id,
        locale=one.locale or "en",
        pattern_type="fixed" if is_fixed else "variable",
        resolve_period=one.resolve_period,
    )
