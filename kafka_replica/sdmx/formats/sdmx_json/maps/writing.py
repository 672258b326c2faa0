"""Write structure maps, representation maps and maps of item schemes as SDMX-JSON 2.x."""

from __future__ import annotations

from kafka_replica.sdmx.containers import stored_parts
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.json_shared.values import Json, obj, true, write_urn
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.values.writing import write_annotated, write_annotations, write_maintained
from kafka_replica.sdmx.model import (
    ComponentMap,
    DatePatternMap,
    EpochMap,
    FixedValueMap,
    FrequencyFormatMapping,
    Identifiable,
    ItemMap,
    ItemSchemeMap,
    MappedValue,
    RepresentationMap,
    RepresentationMapping,
    StructureMap,
)
from kafka_replica.sdmx.urns.urn import Urn


def write_structure_map(structure_map: StructureMap, edition: Edition) -> Json:
    """Write a structure map."""
    return obj(
        write_maintained(structure_map, edition),
        source=write_urn(structure_map.source),
        target=write_urn(structure_map.target),
        componentMaps=[_component_map(each, edition) for each in stored_parts(structure_map.component_maps)],
        fixedValueMaps=[_fixed_value(each, edition) for each in stored_parts(structure_map.fixed_value_maps)],
        datePatternMaps=[
            _date_map(each, structure_map.urn, edition) for each in stored_parts(structure_map.date_pattern_maps)
        ],
        epochMaps=[_date_map(each, structure_map.urn, edition) for each in stored_parts(structure_map.epoch_maps)],
        frequencyFormatMappings=[
            _frequency(each, structure_map.urn, edition)
            for each in stored_parts(structure_map.frequency_format_mappings)
        ],
    )


def _component_map(component_map: ComponentMap, edition: Edition) -> Json:
    return obj(
        annotations=write_annotations(component_map.annotations, edition),
        source=list(component_map.sources),
        target=list(component_map.targets),
        representationMap=write_urn(component_map.representation_map),
    )


def _fixed_value(fixed_value_map: FixedValueMap, edition: Edition) -> Json:
    notes = write_annotations(fixed_value_map.annotations, edition)
    return obj(
        annotations=notes,
        source=fixed_value_map.source,
        target=fixed_value_map.target,
        values=list(fixed_value_map.values),
    )


def _own(date_pattern_map: DatePatternMap | EpochMap | FrequencyFormatMapping, scheme: Urn, edition: Edition) -> Json:
    stand_in = date_pattern_map.urn or scheme
    own = Identifiable(
        urn=stand_in, annotations=date_pattern_map.annotations, links=date_pattern_map.links, uri=date_pattern_map.uri
    )
    return obj(write_annotated(own, edition), id=None if date_pattern_map.urn is None else date_pattern_map.urn.item)


def _date_map(date_pattern_map: DatePatternMap | EpochMap, scheme: Urn, edition: Edition) -> Json:
    if len(date_pattern_map.sources) != len(date_pattern_map.targets):
        raise UnwritableError("a map of dates has different numbers of sources and targets, but SDMX-JSON writes pairs")
    pairs = [
        {"source": source, "target": target}
        for source, target in zip(date_pattern_map.sources, date_pattern_map.targets, strict=True)
    ]
    if isinstance(date_pattern_map, EpochMap):
        own = {"basePeriod": date_pattern_map.base_period, "epochPeriod": date_pattern_map.epoch_period}
    else:
        own = {"sourcePattern": date_pattern_map.source_pattern} | obj(locale=date_pattern_map.locale)
    return obj(
        _own(date_pattern_map, scheme, edition),
        own,
        mappedComponents=pairs,
        resolvePeriod=date_pattern_map.resolve_period,
        frequencyDimension=date_pattern_map.frequency_dimension,
        mappedFrequencies=list(date_pattern_map.mapped_frequencies),
        targetFrequencyID=date_pattern_map.target_frequency,
    )


def _frequency(frequency_format_mapping: FrequencyFormatMapping, scheme: Urn, edition: Edition) -> Json:
    return obj(
        _own(frequency_format_mapping, scheme, edition),
        frequencyId=frequency_format_mapping.frequency,
        datePattern=frequency_format_mapping.date_pattern,
    )


def write_representation_map(representation_map: RepresentationMap, edition: Edition) -> Json:
    """Write a representation map."""
    return obj(
        write_maintained(representation_map, edition),
        source=[_end(each) for each in representation_map.sources],
        target=[_end(each) for each in representation_map.targets],
        representationMappings=[_row(each, edition) for each in stored_parts(representation_map.mappings)],
    )


def _end(end: Urn | str) -> Json:
    if isinstance(end, str):
        return {"dataType": end}
    return {"codelist": str(end)}


def _row(representation_mapping: RepresentationMapping, edition: Edition) -> Json:
    return obj(
        annotations=write_annotations(representation_mapping.annotations, edition),
        sourceValues=[_mapped(each) for each in representation_mapping.sources],
        targetValues=list(representation_mapping.targets),
        validFrom=representation_mapping.valid_from,
        validTo=representation_mapping.valid_to,
    )


def _mapped(mapped_value: MappedValue) -> Json:
    return obj(
        value=mapped_value.value,
        isRegEx=true(mapped_value.is_reg_ex),
        startIndex=mapped_value.start_index,
        endIndex=mapped_value.end_index,
    )


def write_scheme_map(item_scheme_map: ItemSchemeMap, edition: Edition) -> Json:
    """Write a map between item schemes."""
    return obj(
        write_maintained(item_scheme_map, edition),
        source=write_urn(item_scheme_map.source),
        target=write_urn(item_scheme_map.target),
        itemMaps=[_item_map(each, edition) for each in stored_parts(item_scheme_map.item_maps)],
    )


def _item_map(item_map: ItemMap, edition: Edition) -> Json:
    return obj(
        annotations=write_annotations(item_map.annotations, edition),
        sourceValue=_mapped(item_map.source),
        targetValue=item_map.target,
        validFrom=item_map.valid_from,
        validTo=item_map.valid_to,
    )
