"""Structure maps and representation maps of Fusion-JSON: their structs, and their conversion to the model."""

from __future__ import annotations

from kafka_replica.sdmx.containers import parts_of
from kafka_replica.sdmx.errors import MessageError, UrnError
from kafka_replica.sdmx.formats.fusion.common import maintained, when
from kafka_replica.sdmx.formats.fusion.wire import Wire, WireMaintainable
from kafka_replica.sdmx.formats.json_shared.values import item_urn, reference
from kafka_replica.sdmx.model import (
    ComponentMap,
    DatePatternMap,
    FixedValueMap,
    MappedValue,
    RepresentationMap,
    RepresentationMapping,
    StructureMap,
)
from kafka_replica.sdmx.urn import Urn


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


def representation_map(urn: Urn, wire: WireRepresentationMap) -> RepresentationMap:
    """Build a RepresentationMap."""
    base = maintained(wire)
    rows = [
        RepresentationMapping(
            sources=tuple(_value(one) for one in row.source or ()),
            targets=tuple(row.target or ()),
            valid_from=when(row.valid_from),
            valid_to=when(row.valid_to),
        )
        for row in wire.mapped_relationships or ()
    ]
    return RepresentationMap(
        urn=urn,
        sources=_ends(urn, wire.sources),
        targets=_ends(urn, wire.targets),
        mappings=parts_of(urn, rows, is_stub=base["is_external_reference"]),
        **base,
    )


def _value(wire: WireMappedValue) -> MappedValue:
    return MappedValue(
        value=wire.value, is_reg_ex=bool(wire.reg_ex), start_index=wire.start_index, end_index=wire.end_index
    )


def _ends(urn: Urn, texts: list[str] | None) -> tuple[Urn | str, ...]:
    try:
        return tuple(Urn.parse(text) if text.startswith("urn:") else text for text in texts or ())
    except UrnError as error:
        raise MessageError(f"reading {urn}, a reference in it: {error}") from None


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


def structure_map(urn: Urn, wire: WireStructureMap) -> StructureMap:
    """Build a StructureMap."""
    base = maintained(wire)
    source = reference(wire.source, urn)
    stub = base["is_external_reference"] and source is None
    components = [
        ComponentMap(
            sources=tuple(one.sources or ()),
            targets=tuple(one.targets or ()),
            representation_map=reference(one.representation_map_ref, urn),
        )
        for one in wire.component_maps or ()
    ]
    fixed = [FixedValueMap(source=id_, values=_values(one)) for id_, one in (wire.fixed_input or {}).items()]
    fixed += [FixedValueMap(target=id_, values=_values(one)) for id_, one in (wire.fixed_output or {}).items()]
    patterns = [_pattern(urn, one) for one in wire.time_pattern_maps or ()]
    return StructureMap(
        urn=urn,
        source=source,
        target=reference(wire.target, urn),
        component_maps=parts_of(urn, components, is_stub=stub),
        fixed_value_maps=parts_of(urn, fixed, is_stub=stub),
        date_pattern_maps=parts_of(urn, patterns, is_stub=stub),
        epoch_maps=parts_of(urn, (), is_stub=stub),
        frequency_format_mappings=parts_of(urn, (), is_stub=stub),
        **base,
    )


def _values(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _pattern(urn: Urn, wire: WireTimePattern) -> DatePatternMap:
    return DatePatternMap(
        urn=item_urn(urn, "DatePatternMap", wire.id, {}) if wire.id else None,
        sources=(wire.source,) if wire.source else (),
        targets=(wire.target,) if wire.target else (),
        source_pattern=wire.pattern,
        locale=wire.locale,
        frequency_dimension=wire.freq_dim,
        target_frequency=wire.freq_id,
    )
