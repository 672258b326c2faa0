"""Read maps of SDMX-JSON 2.x: between structures, representations and item schemes."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.sdmx.containers import parts_of
from kafka_replica.sdmx.formats.json_shared.items import item_urn
from kafka_replica.sdmx.formats.json_shared.values import fail, read_reference
from kafka_replica.sdmx.formats.sdmx_json.items import parts
from kafka_replica.sdmx.formats.sdmx_json.maps.wire import (
    WireComponentMap,
    WireDateMap,
    WireEnd,
    WireFixedValueMap,
    WireFrequencyFormat,
    WireItemMap,
    WireMappedValue,
    WireMapping,
    WireRepresentationMap,
    WireSchemeMap,
    WireStructureMap,
)
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.formats.sdmx_json.values.wire import WireIdentifiable
from kafka_replica.sdmx.model import (
    CategorySchemeMap,
    ComponentMap,
    ConceptSchemeMap,
    DatePatternMap,
    EpochMap,
    FixedValueMap,
    FrequencyFormatMapping,
    ItemMap,
    ItemSchemeMap,
    MappedValue,
    OrganisationSchemeMap,
    ReportingTaxonomyMap,
    RepresentationMap,
    RepresentationMapping,
    StructureMap,
)
from kafka_replica.sdmx.urns.urn import Urn

_KINDS: Final[dict[str, type[ItemSchemeMap]]] = {
    kind.__name__: kind for kind in (ConceptSchemeMap, CategorySchemeMap, OrganisationSchemeMap, ReportingTaxonomyMap)
}


def read_representation_map(urn: Urn, wire: WireRepresentationMap, context: Context) -> RepresentationMap:
    """Build a RepresentationMap."""
    return RepresentationMap(
        urn=urn,
        sources=tuple(_end(urn, source) for source in wire.source or ()),
        targets=tuple(_end(urn, target) for target in wire.target or ()),
        mappings=parts_of(
            urn,
            [
                _mapping(representation_mapping, context)
                for representation_mapping in wire.representation_mappings or ()
            ],
            is_stub=bool(wire.is_external_reference),
        ),
        **context.maintained(wire),
    )


def _end(urn: Urn, wire: WireEnd) -> Urn | str:
    found = read_reference(wire.codelist or wire.valuelist, urn)
    return found if found is not None else wire.data_type or fail(urn, "a source or target is neither list nor type")


def _mapping(wire: WireMapping, context: Context) -> RepresentationMapping:
    return RepresentationMapping(
        sources=tuple(_mapped(source_value) for source_value in wire.source_values or ()),
        targets=tuple(wire.target_values or ()),
        valid_from=wire.valid_from,
        valid_to=wire.valid_to,
        annotations=context.annotated(wire).get("annotations", ()),
    )


def _mapped(wire: WireMappedValue | str) -> MappedValue:
    if isinstance(wire, str):
        return MappedValue(value=wire)
    return MappedValue(
        value=wire.value or "", is_reg_ex=bool(wire.is_reg_ex), start_index=wire.start_index, end_index=wire.end_index
    )


def read_structure_map(urn: Urn, wire: WireStructureMap, context: Context) -> StructureMap:
    """Build a StructureMap."""
    maker = _Maker(urn, context)
    return StructureMap(
        urn=urn,
        source=read_reference(wire.source, urn),
        target=read_reference(wire.target, urn),
        component_maps=parts(urn, wire, map(maker.component_map, wire.component_maps or ())),
        fixed_value_maps=parts(urn, wire, map(maker.fixed_value_map, wire.fixed_value_maps or ())),
        date_pattern_maps=parts(urn, wire, map(maker.date_pattern_map, wire.date_pattern_maps or ())),
        epoch_maps=parts(urn, wire, map(maker.epoch_map, wire.epoch_maps or ())),
        frequency_format_mappings=parts(urn, wire, map(maker.frequency_format, wire.frequency_format_mappings or ())),
        **context.maintained(wire),
    )


class _Maker:
    """A builder for the maps within one structure map."""

    def __init__(self, urn: Urn, context: Context) -> None:
        self.urn, self.context = urn, context

    def component_map(self, wire: WireComponentMap) -> ComponentMap:
        return ComponentMap(
            sources=tuple(wire.source or ()),
            targets=tuple(wire.target or ()),
            representation_map=read_reference(wire.representation_map, self.urn),
            annotations=self.context.annotated(wire).get("annotations", ()),
        )

    def fixed_value_map(self, wire: WireFixedValueMap) -> FixedValueMap:
        single = [] if wire.value is None else [wire.value]
        return FixedValueMap(
            source=wire.source,
            target=wire.target,
            values=tuple(wire.values or single),
            annotations=self.context.annotated(wire).get("annotations", ()),
        )

    def date_pattern_map(self, wire: WireDateMap) -> DatePatternMap:
        if wire.source_pattern is None:
            fail(self.urn, "a date pattern map has no sourcePattern")
        return DatePatternMap(
            source_pattern=wire.source_pattern, locale=wire.locale, **self._date_map("DatePatternMap", wire)
        )

    def epoch_map(self, wire: WireDateMap) -> EpochMap:
        if wire.base_period is None or wire.epoch_period is None:
            fail(self.urn, "an epoch map has no basePeriod or no epochPeriod")
        return EpochMap(
            base_period=wire.base_period, epoch_period=wire.epoch_period, **self._date_map("EpochMap", wire)
        )

    def _date_map(self, class_: str, wire: WireDateMap) -> dict[str, Any]:
        pairs = wire.mapped_components or []
        return self._identified(class_, wire) | {
            "sources": tuple(pair.source for pair in pairs if pair.source is not None),
            "targets": tuple(pair.target for pair in pairs if pair.target is not None),
            "frequency_dimension": wire.frequency_dimension,
            "mapped_frequencies": tuple(wire.mapped_frequencies or ()),
            "target_frequency": wire.target_frequency,
            "resolve_period": wire.resolve_period,
        }

    def frequency_format(self, wire: WireFrequencyFormat) -> FrequencyFormatMapping:
        if wire.frequency_id is None or wire.date_pattern is None:
            fail(self.urn, "a frequency format mapping has no frequencyId or no datePattern")
        return FrequencyFormatMapping(
            frequency=wire.frequency_id,
            date_pattern=wire.date_pattern,
            **self._identified("FrequencyFormatMapping", wire),
        )

    def _identified(self, class_: str, wire: WireIdentifiable) -> dict[str, Any]:
        own = None if wire.id is None else item_urn(self.urn, class_, wire.id, {})
        return self.context.annotated(wire) | {"urn": own}


def read_scheme_map(urn: Urn, wire: WireSchemeMap, context: Context) -> ItemSchemeMap:
    """Build a map between item schemes of any class."""

    def item_map(one: WireItemMap) -> ItemMap:
        if one.source_value is None:
            fail(urn, "a map of items has no source")
        return ItemMap(
            source=_mapped(one.source_value),
            target=one.target_value,
            valid_from=one.valid_from,
            valid_to=one.valid_to,
            annotations=context.annotated(one).get("annotations", ()),
        )

    return _KINDS[urn.cls](
        urn=urn,
        source=read_reference(wire.source, urn),
        target=read_reference(wire.target, urn),
        item_maps=parts_of(urn, map(item_map, wire.item_maps or ()), is_stub=bool(wire.is_external_reference)),
        **context.maintained(wire),
    )
