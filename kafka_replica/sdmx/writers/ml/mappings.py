"""Structure maps, representation maps and maps of item schemes as SDMX-ML 3.x."""

from __future__ import annotations

from itertools import zip_longest

from kafka_replica.sdmx.model import (
    ComponentMap,
    DatePatternMap,
    EpochMap,
    FixedValueMap,
    FrequencyFormatMapping,
    ItemMap,
    ItemSchemeMap,
    MappedValue,
    RepresentationMap,
    RepresentationMapping,
    StructureMap,
)
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.writers.ml.edition import Edition
from kafka_replica.sdmx.writers.ml.values import annotations_of, artefact, links, parts
from kafka_replica.sdmx.writers.ml.xml import el, leaf, true


def structure_map(one: StructureMap, edition: Edition) -> str:
    """Write a <StructureMap>."""
    content = [
        edition.ref("str:Source", one.source),
        edition.ref("str:Target", one.target),
        *[_date_map("str:EpochMap", each, edition) for each in parts(one.epoch_maps)],
        *[_date_map("str:DatePatternMap", each, edition) for each in parts(one.date_pattern_maps)],
        *[_frequency(each, edition) for each in parts(one.frequency_format_mappings)],
        *[_component_map(each, edition) for each in parts(one.component_maps)],
        *[_fixed_value(each, edition) for each in parts(one.fixed_value_maps)],
    ]
    return artefact("str:StructureMap", one, edition, content)


def _component_map(one: ComponentMap, edition: Edition) -> str:
    return el(
        "str:ComponentMap",
        annotations_of(one.annotations, edition),
        *[leaf("str:Source", each) for each in one.sources],
        *[leaf("str:Target", each) for each in one.targets],
        edition.ref("str:RepresentationMap", one.representation_map),
    )


def _fixed_value(one: FixedValueMap, edition: Edition) -> str:
    return el(
        "str:FixedValueMap",
        annotations_of(one.annotations, edition),
        leaf("str:Source", one.source),
        leaf("str:Target", one.target),
        *[leaf("str:Value", each) for each in one.values],
    )


def _own_urn(urn: Urn | None) -> dict[str, str | None]:
    return {} if urn is None else {"id": urn.item, "urn": str(urn)}


def _date_map(tag: str, one: DatePatternMap | EpochMap, edition: Edition) -> str:
    pairs = [
        leaf("str:Source", source) + leaf("str:Target", target)
        for source, target in zip_longest(one.sources, one.targets)
    ]
    if isinstance(one, EpochMap):
        own = {"basePeriod": one.base_period, "epochPeriod": one.epoch_period}
    else:
        own = {"sourcePattern": one.source_pattern} | ({} if one.locale is None else {"locale": one.locale})
    return el(
        tag,
        annotations_of(one.annotations, edition),
        links(one.links, edition),
        *pairs,
        leaf("str:FrequencyDimension", one.frequency_dimension),
        *[leaf("str:MappedFrequencies", each) for each in one.mapped_frequencies],
        leaf("str:TargetFrequencyID", one.target_frequency),
        resolvePeriod=one.resolve_period,
        uri=one.uri,
        **_own_urn(one.urn),
        **own,
    )


def _frequency(one: FrequencyFormatMapping, edition: Edition) -> str:
    return el(
        "str:FrequencyFormatMapping",
        annotations_of(one.annotations, edition),
        links(one.links, edition),
        leaf("str:FrequencyId", one.frequency),
        leaf("str:DatePattern", one.date_pattern),
        uri=one.uri,
        **_own_urn(one.urn),
    )


def representation_map(one: RepresentationMap, edition: Edition) -> str:
    """Write a <RepresentationMap>."""
    content = [
        *[_end("Source", each, edition) for each in one.sources],
        *[_end("Target", each, edition) for each in one.targets],
        *[_row(each, edition) for each in parts(one.mappings)],
    ]
    return artefact("str:RepresentationMap", one, edition, content)


def _end(side: str, end: Urn | str, edition: Edition) -> str:
    if isinstance(end, str):
        return leaf(f"str:{side}DataType", end)
    return edition.ref(f"str:{side}Codelist", end)


def _row(one: RepresentationMapping, edition: Edition) -> str:
    return el(
        "str:RepresentationMapping",
        annotations_of(one.annotations, edition),
        *[_mapped(each) for each in one.sources],
        *[leaf("str:TargetValue", each) for each in one.targets],
        validFrom=one.valid_from,
        validTo=one.valid_to,
    )


def _mapped(one: MappedValue) -> str:
    return leaf(
        "str:SourceValue",
        one.value,
        isRegEx=true(one.is_reg_ex),
        startIndex=None if one.start_index is None else str(one.start_index),
        endIndex=None if one.end_index is None else str(one.end_index),
    )


def scheme_map(one: ItemSchemeMap, edition: Edition) -> str:
    """Write a <ConceptSchemeMap>, <CategorySchemeMap>, <OrganisationSchemeMap> or <ReportingTaxonomyMap>."""
    content = [
        edition.ref("str:Source", one.source),
        edition.ref("str:Target", one.target),
        *[_item_map(each, edition) for each in parts(one.item_maps)],
    ]
    return artefact(f"str:{one.urn.cls}", one, edition, content)


def _item_map(one: ItemMap, edition: Edition) -> str:
    return el(
        "str:ItemMap",
        annotations_of(one.annotations, edition),
        _mapped(one.source),
        leaf("str:TargetValue", one.target),
        validFrom=one.valid_from,
        validTo=one.valid_to,
    )
