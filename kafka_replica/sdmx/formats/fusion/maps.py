"""Structure maps and representation maps of Fusion-JSON."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_replica.sdmx.containers import parts_of, stored_parts
from kafka_replica.sdmx.errors import MessageError, UnwritableError, UrnError
from kafka_replica.sdmx.formats.fusion.values import (
    Wire,
    WireMaintainable,
    read_maintained,
    read_time,
    write_maintained,
)
from kafka_replica.sdmx.formats.json_shared.items import item_urn
from kafka_replica.sdmx.formats.json_shared.values import Json, obj, read_reference, true, write_urn
from kafka_replica.sdmx.model import (
    ComponentMap,
    DatePatternMap,
    FixedValueMap,
    MappedValue,
    RepresentationMap,
    RepresentationMapping,
    StructureMap,
)
from kafka_replica.sdmx.urns.urn import Urn


class WireMappedValue(Wire, gc=False):
    """A source value."""

    value: str = ""
    reg_ex: bool | None = None
    start_index: int | None = None
    end_index: int | None = None


class WireRow(Wire, gc=False):
    """A row of a representation map."""

    source: list[WireMappedValue] | None = None
    target: list[str] | None = None
    valid_from: str | int | None = None
    valid_to: str | int | None = None


class WireRepresentationMap(WireMaintainable, gc=False):
    """A representation map."""

    sources: list[str] | None = None
    targets: list[str] | None = None
    mapped_relationships: list[WireRow] | None = None


class WireComponentMap(Wire, gc=False):
    """A component map."""

    sources: list[str] | None = None
    targets: list[str] | None = None
    representation_map_ref: str | None = None


class WireTimePattern(Wire, gc=False):
    """A date pattern map."""

    id: str | None = None
    source: str | None = None
    target: str | None = None
    pattern: str = ""
    locale: str | None = None
    freq_id: str | None = None
    freq_dim: str | None = None


class WireStructureMap(WireMaintainable, gc=False):
    """A structure map."""

    source: str | None = None
    target: str | None = None
    component_maps: list[WireComponentMap] | None = None
    fixed_input: dict[str, str | list[str]] | None = None
    fixed_output: dict[str, str | list[str]] | None = None
    time_pattern_maps: list[WireTimePattern] | None = None


def read_representation_map(urn: Urn, wire: WireRepresentationMap) -> RepresentationMap:
    """Build a RepresentationMap."""
    base = read_maintained(wire)
    rows = [
        RepresentationMapping(
            sources=tuple(_read_value(source) for source in row.source or ()),
            targets=tuple(row.target or ()),
            valid_from=read_time(row.valid_from),
            valid_to=read_time(row.valid_to),
        )
        for row in wire.mapped_relationships or ()
    ]
    return RepresentationMap(
        urn=urn,
        sources=_read_ends(urn, wire.sources),
        targets=_read_ends(urn, wire.targets),
        mappings=parts_of(urn, rows, is_stub=base["is_external_reference"]),
        **base,
    )


def _read_value(wire: WireMappedValue) -> MappedValue:
    return MappedValue(
        value=wire.value, is_reg_ex=bool(wire.reg_ex), start_index=wire.start_index, end_index=wire.end_index
    )


def _read_ends(urn: Urn, texts: list[str] | None) -> tuple[Urn | str, ...]:
    try:
        return tuple(Urn.parse(text) if text.startswith("urn:") else text for text in texts or ())
    except UrnError as error:
        raise MessageError(f"reading {urn}, a reference in it: {error}") from None


def read_structure_map(urn: Urn, wire: WireStructureMap) -> StructureMap:
    """Build a StructureMap."""
    base = read_maintained(wire)
    source = read_reference(wire.source, urn)
    stub = base["is_external_reference"] and source is None
    components = [
        ComponentMap(
            sources=tuple(component_map.sources or ()),
            targets=tuple(component_map.targets or ()),
            representation_map=read_reference(component_map.representation_map_ref, urn),
        )
        for component_map in wire.component_maps or ()
    ]
    fixed = [
        FixedValueMap(source=id_, values=_read_values(fixed_input))
        for id_, fixed_input in (wire.fixed_input or {}).items()
    ]
    fixed += [
        FixedValueMap(target=id_, values=_read_values(fixed_output))
        for id_, fixed_output in (wire.fixed_output or {}).items()
    ]
    patterns = [_read_pattern(urn, time_pattern_map) for time_pattern_map in wire.time_pattern_maps or ()]
    return StructureMap(
        urn=urn,
        source=source,
        target=read_reference(wire.target, urn),
        component_maps=parts_of(urn, components, is_stub=stub),
        fixed_value_maps=parts_of(urn, fixed, is_stub=stub),
        date_pattern_maps=parts_of(urn, patterns, is_stub=stub),
        epoch_maps=parts_of(urn, (), is_stub=stub),
        frequency_format_mappings=parts_of(urn, (), is_stub=stub),
        **base,
    )


def _read_values(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _read_pattern(urn: Urn, wire: WireTimePattern) -> DatePatternMap:
    return DatePatternMap(
        urn=item_urn(urn, "DatePatternMap", wire.id, {}) if wire.id else None,
        sources=(wire.source,) if wire.source else (),
        targets=(wire.target,) if wire.target else (),
        source_pattern=wire.pattern,
        locale=wire.locale,
        frequency_dimension=wire.freq_dim,
        target_frequency=wire.freq_id,
    )


def write_representation_map(representation_map: RepresentationMap) -> Json:
    """Write a representation map."""
    return obj(
        write_maintained(representation_map),
        sources=[_write_end(each) for each in representation_map.sources],
        targets=[_write_end(each) for each in representation_map.targets],
        mappedRelationships=[_write_row(each) for each in stored_parts(representation_map.mappings)],
    )


def _write_end(end: Urn | str) -> str:
    return str(end)


def _write_row(representation_mapping: RepresentationMapping) -> Json:
    found = {
        "source": [_write_value(each) for each in representation_mapping.sources],
        "target": list(representation_mapping.targets),
    }
    return found | obj(validFrom=representation_mapping.valid_from, validTo=representation_mapping.valid_to)


def _write_value(mapped_value: MappedValue) -> Json:
    return obj(
        value=mapped_value.value,
        regEx=true(mapped_value.is_reg_ex),
        startIndex=mapped_value.start_index,
        endIndex=mapped_value.end_index,
    )


def write_structure_map(structure_map: StructureMap) -> Json:
    """Write a structure map; no key is known for epochs and formats of frequencies."""
    components = [
        obj(
            sources=list(each.sources),
            targets=list(each.targets),
            representationMapRef=write_urn(each.representation_map),
        )
        for each in stored_parts(structure_map.component_maps)
    ]
    fixed = stored_parts(structure_map.fixed_value_maps)
    return obj(
        write_maintained(structure_map),
        source=write_urn(structure_map.source),
        target=write_urn(structure_map.target),
        componentMaps=components,
        fixedInput=_write_fixed(each for each in fixed if each.source is not None) or None,
        fixedOutput=_write_fixed(each for each in fixed if each.source is None) or None,
        timePatternMaps=[_write_pattern(each) for each in stored_parts(structure_map.date_pattern_maps)],
    )


def _write_fixed(maps: Iterable[FixedValueMap]) -> Json:
    return {each.source or each.target or "": list(each.values) for each in maps}


def _write_pattern(date_pattern_map: DatePatternMap) -> Json:
    if len(date_pattern_map.sources) > 1 or len(date_pattern_map.targets) > 1:
        raise UnwritableError("Fusion-JSON has a place for one source and one target of a map of dates")
    return obj(
        id=None if date_pattern_map.urn is None else date_pattern_map.urn.item,
        source=next(iter(date_pattern_map.sources), None),
        target=next(iter(date_pattern_map.targets), None),
        pattern=date_pattern_map.source_pattern,
        locale=date_pattern_map.locale,
        freqId=date_pattern_map.target_frequency,
        freqDim=date_pattern_map.frequency_dimension,
    )
