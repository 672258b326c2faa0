"""Data constraints and structure maps as Fusion-JSON, which the reader keeps whole if a part is unknown."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.model import (
    DataConstraint,
    DatePatternMap,
    FixedValueMap,
    KeySet,
    MemberSelection,
    StructureMap,
)
from kafka_replica.sdmx.writers.fusion.values import maintained
from kafka_replica.sdmx.writers.json_parts import Json, obj, parts, true, urn, urns


def data_constraint(one: DataConstraint) -> Json:
    """Write a data constraint: cubes as tables of values, keys as rows."""
    if one.role not in {None, "Actual", "Allowed"}:
        raise UnwritableError(f"Fusion-JSON has no place for the role {one.role!r} of a constraint")
    cubes = {region.include: region for region in parts(one.cube_regions)}
    series = {keys.is_included: keys for keys in parts(one.key_sets)}
    if len(cubes) != len(parts(one.cube_regions)) or len(series) != len(parts(one.key_sets)):
        raise UnwritableError("Fusion-JSON has a place for one region and one key set of each kind")
    found = {
        name: {each.id: _selection(each) for each in (*region.key_values, *region.components)}
        for name, region in (("includeCube", cubes.get(True)), ("excludeCube", cubes.get(False)))
        if region is not None
    }
    rows = {
        name: _series(keys)
        for name, keys in (("includeSeries", series.get(True)), ("excludeSeries", series.get(False)))
        if keys is not None
    }
    references = one.attachment.references if one.attachment else ()
    return obj(
        maintained(one),
        found,
        rows,
        type=_kind(is_cube=bool(found), is_series=bool(rows)),
        definingDataPresent=None if one.role is None else one.role == "Actual",
        attachments=urns(references),
    )


def _kind(*, is_cube: bool, is_series: bool) -> str | None:
    """Return the type by which the registry tells constraints of regions from constraints of series."""
    if is_cube is is_series:
        return None
    return "CubeRegionConstraint" if is_cube else "SeriesConstraint"


def _selection(one: MemberSelection) -> Json:
    return obj(
        {"values": [value.value for value in one.values]},
        cascade=[value.value for value in one.values if value.cascade_values is not None],
        removePrefix=true(bool(one.remove_prefix)),
    )


def _series(one: KeySet) -> Json:
    dims = list(dict.fromkeys(each.id for key in one.keys for each in key.key_values))
    comps = list(dict.fromkeys(each.id for key in one.keys for each in key.components))
    rows = []
    for key in one.keys:
        values = {each.id: _single(each) for each in (*key.key_values, *key.components)}
        rows.append([values.get(id_) for id_ in (*dims, *comps)])
    return {"dims": dims, "comps": comps, "rows": rows}


def _single(one: MemberSelection) -> str:
    if len(one.values) != 1:
        raise UnwritableError(f"Fusion-JSON has a place for one value of {one.id} in a key")
    return one.values[0].value


def structure_map(one: StructureMap) -> Json:
    """Write a structure map; no key is known for epochs and formats of frequencies."""
    components = [
        obj(
            sources=list(each.sources),
            targets=list(each.targets),
            representationMapRef=urn(each.representation_map),
        )
        for each in parts(one.component_maps)
    ]
    fixed = parts(one.fixed_value_maps)
    return obj(
        maintained(one),
        source=urn(one.source),
        target=urn(one.target),
        componentMaps=components,
        fixedInput=_fixed(each for each in fixed if each.source is not None) or None,
        fixedOutput=_fixed(each for each in fixed if each.source is None) or None,
        timePatternMaps=[_pattern(each) for each in parts(one.date_pattern_maps)],
    )


def _fixed(maps: Iterable[FixedValueMap]) -> Json:
    return {each.source or each.target or "": list(each.values) for each in maps}


def _pattern(one: DatePatternMap) -> Json:
    if len(one.sources) > 1 or len(one.targets) > 1:
        raise UnwritableError("Fusion-JSON has a place for one source and one target of a map of dates")
    return obj(
        id=None if one.urn is None else one.urn.item,
        source=next(iter(one.sources), None),
        target=next(iter(one.targets), None),
        pattern=one.source_pattern,
        locale=one.locale,
        freqId=one.target_frequency,
        freqDim=one.frequency_dimension,
    )
