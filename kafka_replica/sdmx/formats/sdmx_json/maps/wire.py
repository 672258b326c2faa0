"""The structs of the maps in SDMX-JSON 2.x."""

from __future__ import annotations

import msgspec

from kafka_replica.sdmx.formats.sdmx_json.values.wire import Wire, WireAnnotable, WireIdentifiable, WireMaintainable


class WireMappedValue(Wire, gc=False):
    """A source value."""

    value: str | None = None
    is_reg_ex: bool | None = None
    start_index: int | None = None
    end_index: int | None = None


class WireEnd(Wire, gc=False):
    """A source or target of a representation map."""

    codelist: str | None = None
    valuelist: str | None = None
    data_type: str | None = None


class WireMapping(WireAnnotable, gc=False):
    """A row of a representation map."""

    source_values: list[WireMappedValue | str] | None = None
    target_values: list[str] | None = None
    valid_from: str | None = None
    valid_to: str | None = None


class WireRepresentationMap(WireMaintainable, gc=False):
    """A representation map."""

    source: list[WireEnd] | None = None
    target: list[WireEnd] | None = None
    representation_mappings: list[WireMapping] | None = None


class WireComponentMap(WireAnnotable, gc=False):
    """A map of components."""

    source: list[str] | None = None
    target: list[str] | None = None
    representation_map: str | None = None


class WireFixedValueMap(WireAnnotable, gc=False):
    """Fixed values; one registry writes a single ``value``."""

    source: str | None = None
    target: str | None = None
    values: list[str] | None = None
    value: str | None = None


class WirePair(Wire, gc=False):
    """A component of the source and a component of the target."""

    source: str | None = None
    target: str | None = None


class WireDateMap(WireIdentifiable, gc=False):
    """A map of dates, of either kind."""

    mapped_components: list[WirePair] | None = None
    resolve_period: str | None = None
    frequency_dimension: str | None = None
    mapped_frequencies: list[str] | None = None
    target_frequency: str | None = msgspec.field(name="targetFrequencyID", default=None)
    source_pattern: str | None = None
    locale: str | None = None
    base_period: str | None = None
    epoch_period: str | None = None


class WireFrequencyFormat(WireIdentifiable, gc=False):
    """The format of dates with a certain frequency."""

    frequency_id: str | None = None
    date_pattern: str | None = None


class WireStructureMap(WireMaintainable, gc=False):
    """A structure map."""

    source: str | None = None
    target: str | None = None
    component_maps: list[WireComponentMap] | None = None
    fixed_value_maps: list[WireFixedValueMap] | None = None
    date_pattern_maps: list[WireDateMap] | None = None
    epoch_maps: list[WireDateMap] | None = None
    frequency_format_mappings: list[WireFrequencyFormat] | None = None


class WireItemMap(WireAnnotable, gc=False):
    """A map of items."""

    source_value: WireMappedValue | str | None = None
    target_value: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None


class WireSchemeMap(WireMaintainable, gc=False):
    """A map between item schemes."""

    source: str | None = None
    target: str | None = None
    item_maps: list[WireItemMap] | None = None
