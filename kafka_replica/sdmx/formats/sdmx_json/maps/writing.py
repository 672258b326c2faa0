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


def write_structure_map(one: StructureMap, edition: Edition) -> Json:
    """Write a structure map."""
    return obj(
        write_maintained(one, edition),
        source=write_urn(one.source),
        target=write_urn(one.target),
        componentMaps=[_component_map(each, edition) for each in stored_parts(one.component_maps)],
        fixedValueMaps=[_fixed_value(each, edition) for each in stored_parts(one.fixed_value_maps)],
        datePatternMaps=[_date_map(each, one.urn, edition) for each in stored_parts(one.date_pattern_maps)],
        epochMaps=[_date_map(each, one.urn, edition) for each in stored_parts(one.epoch_maps)],
        frequencyFormatMappings=[
            _frequency(each, one.urn, edition) for each in stored_parts(one.frequency_format_mappings)
        ],
    )


def _component_map(one: ComponentMap, edition: Edition) -> Json:
    return obj(
        annotations=write_annotations(one.annotations, edition),
        source=list(one.sources),
        target=list(one.targets),
        representationMap=write_urn(one.representation_map),
    )


def _fixed_value(one: FixedValueMap, edition: Edition) -> Json:
    notes = write_annotations(one.annotations, edition)
    return obj(annotations=notes, source=one.source, target=one.target, values=list(one.values))


def _own(one: DatePatternMap | EpochMap | FrequencyFormatMapping, scheme: Urn, edition: Edition) -> Json:
    stand_in = one.urn or scheme
    own = Identifiable(urn=stand_in, annotations=one.annotations, links=one.links, uri=one.uri)
    return obj(write_annotated(own, edition), id=None if one.urn is None else one.urn.item)


def _date_map(one: DatePatternMap | EpochMap, scheme: Urn, edition: Edition) -> Json:
    if len(one.sources) != len(one.targets):
        raise UnwritableError("a map of dates has different numbers of sources and targets, but SDMX-JSON writes pairs")
    pairs = [{"source": source, "target": target} for source, target in zip(one.sources, one.targets, strict=True)]
    if isinstance(one, EpochMap):
        own = {"basePeriod": one.base_period, "epochPeriod": one.epoch_period}
    else:
        own = {"sourcePattern": one.source_pattern} | obj(locale=one.locale)
    return obj(
        _own(one, scheme, edition),
        own,
        mappedComponents=pairs,
        resolvePeriod=one.resolve_period,
        frequencyDimension=one.frequency_dimension,
        mappedFrequencies=list(one.mapped_frequencies),
        targetFrequencyID=one.target_frequency,
    )


def _frequency(one: FrequencyFormatMapping, scheme: Urn, edition: Edition) -> Json:
    return obj(_own(one, scheme, edition), frequencyId=one.frequency, datePattern=one.date_pattern)


def write_representation_map(one: RepresentationMap, edition: Edition) -> Json:
    """Write a representation map."""
    return obj(
        write_maintained(one, edition),
        source=[_end(each) for each in one.sources],
        target=[_end(each) for each in one.targets],
        representationMappings=[_row(each, edition) for each in stored_parts(one.mappings)],
    )


def _end(end: Urn | str) -> Json:
    if isinstance(end, str):
        return {"dataType": end}
    return {"codelist": str(end)}


def _row(one: RepresentationMapping, edition: Edition) -> Json:
    return obj(
        annotations=write_annotations(one.annotations, edition),
        sourceValues=[_mapped(each) for each in one.sources],
        targetValues=list(one.targets),
        validFrom=one.valid_from,
        validTo=one.valid_to,
    )


def _mapped(one: MappedValue) -> Json:
    return obj(value=one.value, isRegEx=true(one.is_reg_ex), startIndex=one.start_index, endIndex=one.end_index)


def write_scheme_map(one: ItemSchemeMap, edition: Edition) -> Json:
    """Write a map between item schemes."""
    return obj(
        write_maintained(one, edition),
        source=write_urn(one.source),
        target=write_urn(one.target),
        itemMaps=[_item_map(each, edition) for each in stored_parts(one.item_maps)],
    )


def _item_map(one: ItemMap, edition: Edition) -> Json:
    return obj(
        annotations=write_annotations(one.annotations, edition),
        sourceValue=_mapped(one.source),
        targetValue=one.target,
        validFrom=one.valid_from,
        validTo=one.valid_to,
    )
