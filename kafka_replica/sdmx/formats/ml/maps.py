"""Structure maps, representation maps and maps of item schemes of SDMX-ML 3.x."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.containers import parts_of
from kafka_replica.sdmx.formats.ml.reading.child_elements import first, known, pick, ref, texts
from kafka_replica.sdmx.formats.ml.reading.items import item_urn
from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.formats.ml.reading.values import (
    Item,
    boolean,
    read_annotations,
    reference,
    text_of,
    whole_number,
)
from kafka_replica.sdmx.formats.ml.writing.edition import Edition
from kafka_replica.sdmx.formats.ml.writing.values import artefact, links, parts, write_annotations
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf, true
from kafka_replica.sdmx.model import (
    Annotation,
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

# Reading

_SCHEME_MAPS: Final[dict[str, tuple[type[ItemSchemeMap], str]]] = {
    "ConceptSchemeMap": (ConceptSchemeMap, "ConceptScheme"),
    "CategorySchemeMap": (CategorySchemeMap, "CategoryScheme"),
    "OrganisationSchemeMap": (OrganisationSchemeMap, "OrganisationUnitScheme"),
    "ReportingTaxonomyMap": (ReportingTaxonomyMap, "ReportingTaxonomy"),
}


def read_structure_map(item: Item) -> StructureMap:
    """Read a <StructureMap>."""
    urn, base, rest, names = item.parts
    is_stub = base["is_external_reference"] and not rest
    return StructureMap(
        urn=urn,
        source=ref(rest, "Source", names, "DataStructure"),
        target=ref(rest, "Target", names, "DataStructure"),
        component_maps=parts_of(
            urn,
            [_read_component_map(component_map, names) for component_map in pick(rest, "ComponentMap")],
            is_stub=is_stub,
        ),
        fixed_value_maps=parts_of(
            urn,
            [_read_fixed_value(fixed_value_map, names) for fixed_value_map in pick(rest, "FixedValueMap")],
            is_stub=is_stub,
        ),
        date_pattern_maps=parts_of(
            urn,
            [_date_pattern(date_pattern_map, urn, names) for date_pattern_map in pick(rest, "DatePatternMap")],
            is_stub=is_stub,
        ),
        epoch_maps=parts_of(
            urn, [_epoch(epoch_map, urn, names) for epoch_map in pick(rest, "EpochMap")], is_stub=is_stub
        ),
        frequency_format_mappings=parts_of(
            urn,
            [
                _read_frequency(frequency_format_mapping, urn, names)
                for frequency_format_mapping in pick(rest, "FrequencyFormatMapping")
            ],
            is_stub=is_stub,
        ),
        **base,
    )


def read_notes(element: etree._Element, names: Names) -> tuple[Annotation, ...]:
    """Return the annotations of an element that has no id."""
    found = first(known(element, names), "Annotations")
    return () if found is None else read_annotations(found, names)


def _read_component_map(element: etree._Element, names: Names) -> ComponentMap:
    rest = known(element, names)
    return ComponentMap(
        sources=texts(rest, "Source"),
        targets=texts(rest, "Target"),
        representation_map=ref(rest, "RepresentationMap", names),
        annotations=read_notes(element, names),
    )


def _read_fixed_value(element: etree._Element, names: Names) -> FixedValueMap:
    rest = known(element, names)
    source, target = texts(rest, "Source"), texts(rest, "Target")
    return FixedValueMap(
        source=source[0] if source else None,
        target=target[0] if target else None,
        values=tuple(text_of(value) for value in pick(rest, "Value")),
        annotations=read_notes(element, names),
    )


def _identified(element: etree._Element, class_: str, urn: Urn, names: Names) -> dict[str, Any]:
    id_ = element.get("id")
    own = None if id_ is None else item_urn(urn, class_, element, id_)
    return {"urn": own, **Item(element, urn, names).identified}


def _read_date_map(element: etree._Element, class_: str, urn: Urn, names: Names) -> dict[str, Any]:
    rest = known(element, names)
    return _identified(element, class_, urn, names) | {
        "sources": texts(rest, "Source"),
        "targets": texts(rest, "Target"),
        "frequency_dimension": next(iter(texts(rest, "FrequencyDimension")), None),
        "mapped_frequencies": texts(rest, "MappedFrequencies"),
        "target_frequency": next(iter(texts(rest, "TargetFrequencyID")), None),
        "resolve_period": element.get("resolvePeriod"),
    }


def _needed(element: etree._Element, attribute: str) -> str:
    return element.get(attribute) or fail(element, f"it has no {attribute}")


def _date_pattern(element: etree._Element, urn: Urn, names: Names) -> DatePatternMap:
    return DatePatternMap(
        source_pattern=_needed(element, "sourcePattern"),
        locale=element.get("locale"),
        **_read_date_map(element, "DatePatternMap", urn, names),
    )


def _epoch(element: etree._Element, urn: Urn, names: Names) -> EpochMap:
    return EpochMap(
        base_period=_needed(element, "basePeriod"),
        epoch_period=_needed(element, "epochPeriod"),
        **_read_date_map(element, "EpochMap", urn, names),
    )


def _read_frequency(element: etree._Element, urn: Urn, names: Names) -> FrequencyFormatMapping:
    rest = known(element, names)
    ids, patterns = texts(rest, "FrequencyId"), texts(rest, "DatePattern")
    if not ids or not patterns:
        fail(element, "it needs a FrequencyId and a DatePattern")
    return FrequencyFormatMapping(
        frequency=ids[0], date_pattern=patterns[0], **_identified(element, "FrequencyFormatMapping", urn, names)
    )


def read_representation_map(item: Item) -> RepresentationMap:
    """Read a <RepresentationMap>."""
    urn, base, rest, names = item.parts
    rows = [_read_row(representation_mapping, names) for representation_mapping in pick(rest, "RepresentationMapping")]
    return RepresentationMap(
        urn=urn,
        sources=_ends(item, "Source"),
        targets=_ends(item, "Target"),
        mappings=parts_of(urn, rows, is_stub=base["is_external_reference"]),
        **base,
    )


def _ends(item: Item, side: str) -> tuple[Urn | str, ...]:
    return tuple(
        reference(one, item.names, "Codelist") if kind.endswith("Codelist") else text_of(one).strip()
        for kind, one in item.rest
        if kind in {f"{side}Codelist", f"{side}DataType"}
    )


def _read_row(element: etree._Element, names: Names) -> RepresentationMapping:
    rest = known(element, names)
    return RepresentationMapping(
        sources=tuple(_read_mapped(source_value) for source_value in pick(rest, "SourceValue")),
        targets=tuple(text_of(target_value) for target_value in pick(rest, "TargetValue")),
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
        annotations=read_notes(element, names),
    )


def _read_mapped(element: etree._Element) -> MappedValue:
    return MappedValue(
        value=text_of(element),
        is_reg_ex=boolean(element, "isRegEx") or False,
        start_index=whole_number(element, "startIndex"),
        end_index=whole_number(element, "endIndex"),
    )


def read_scheme_map(item: Item) -> ItemSchemeMap:
    """Read a <ConceptSchemeMap>, <CategorySchemeMap>, <OrganisationSchemeMap> or <ReportingTaxonomyMap>."""
    urn, base, rest, names = item.parts
    kind, mapped = _SCHEME_MAPS[urn.cls]
    rows = [_read_item_map(item_map, names) for item_map in pick(rest, "ItemMap")]
    return kind(
        urn=urn,
        source=ref(rest, "Source", names, mapped),
        target=ref(rest, "Target", names, mapped),
        item_maps=parts_of(urn, rows, is_stub=base["is_external_reference"]),
        **base,
    )


def _read_item_map(element: etree._Element, names: Names) -> ItemMap:
    rest = known(element, names)
    source, target = first(rest, "SourceValue"), first(rest, "TargetValue")
    if source is None:
        fail(element, "it has no SourceValue")
    return ItemMap(
        source=_read_mapped(source),
        target=None if target is None else text_of(target),
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
        annotations=read_notes(element, names),
    )


# Writing


def write_structure_map(structure_map: StructureMap, edition: Edition) -> str:
    """Write a <StructureMap>."""
    content = [
        edition.ref("str:Source", structure_map.source),
        edition.ref("str:Target", structure_map.target),
        *[_write_date_map("str:EpochMap", each, edition) for each in parts(structure_map.epoch_maps)],
        *[_write_date_map("str:DatePatternMap", each, edition) for each in parts(structure_map.date_pattern_maps)],
        *[_write_frequency(each, edition) for each in parts(structure_map.frequency_format_mappings)],
        *[_write_component_map(each, edition) for each in parts(structure_map.component_maps)],
        *[_write_fixed_value(each, edition) for each in parts(structure_map.fixed_value_maps)],
    ]
    return artefact("str:StructureMap", structure_map, edition, content)


def _write_component_map(component_map: ComponentMap, edition: Edition) -> str:
    return el(
        "str:ComponentMap",
        write_annotations(component_map.annotations, edition),
        *[leaf("str:Source", each) for each in component_map.sources],
        *[leaf("str:Target", each) for each in component_map.targets],
        edition.ref("str:RepresentationMap", component_map.representation_map),
    )


def _write_fixed_value(fixed_value_map: FixedValueMap, edition: Edition) -> str:
    return el(
        "str:FixedValueMap",
        write_annotations(fixed_value_map.annotations, edition),
        leaf("str:Source", fixed_value_map.source),
        leaf("str:Target", fixed_value_map.target),
        *[leaf("str:Value", each) for each in fixed_value_map.values],
    )


def _own_urn(urn: Urn | None) -> dict[str, str | None]:
    return {} if urn is None else {"id": urn.item, "urn": str(urn)}


def _write_date_map(tag: str, date_pattern_map: DatePatternMap | EpochMap, edition: Edition) -> str:
    pairs = [
        leaf("str:Source", source) + leaf("str:Target", target)
        for source, target in zip_longest(date_pattern_map.sources, date_pattern_map.targets)
    ]
    if isinstance(date_pattern_map, EpochMap):
        own = {"basePeriod": date_pattern_map.base_period, "epochPeriod": date_pattern_map.epoch_period}
    else:
        own = {"sourcePattern": date_pattern_map.source_pattern} | (
            {} if date_pattern_map.locale is None else {"locale": date_pattern_map.locale}
        )
    return el(
        tag,
        write_annotations(date_pattern_map.annotations, edition),
        links(date_pattern_map.links, edition),
        *pairs,
        leaf("str:FrequencyDimension", date_pattern_map.frequency_dimension),
        *[leaf("str:MappedFrequencies", each) for each in date_pattern_map.mapped_frequencies],
        leaf("str:TargetFrequencyID", date_pattern_map.target_frequency),
        resolvePeriod=date_pattern_map.resolve_period,
        uri=date_pattern_map.uri,
        **_own_urn(date_pattern_map.urn),
        **own,
    )


def _write_frequency(frequency_format_mapping: FrequencyFormatMapping, edition: Edition) -> str:
    return el(
        "str:FrequencyFormatMapping",
        write_annotations(frequency_format_mapping.annotations, edition),
        links(frequency_format_mapping.links, edition),
        leaf("str:FrequencyId", frequency_format_mapping.frequency),
        leaf("str:DatePattern", frequency_format_mapping.date_pattern),
        uri=frequency_format_mapping.uri,
        **_own_urn(frequency_format_mapping.urn),
    )


def write_representation_map(representation_map: RepresentationMap, edition: Edition) -> str:
    """Write a <RepresentationMap>."""
    content = [
        *[_end("Source", each, edition) for each in representation_map.sources],
        *[_end("Target", each, edition) for each in representation_map.targets],
        *[_write_row(each, edition) for each in parts(representation_map.mappings)],
    ]
    return artefact("str:RepresentationMap", representation_map, edition, content)


def _end(side: str, end: Urn | str, edition: Edition) -> str:
    if isinstance(end, str):
        return leaf(f"str:{side}DataType", end)
    return edition.ref(f"str:{side}Codelist", end)


def _write_row(representation_mapping: RepresentationMapping, edition: Edition) -> str:
    return el(
        "str:RepresentationMapping",
        write_annotations(representation_mapping.annotations, edition),
        *[_write_mapped(each) for each in representation_mapping.sources],
        *[leaf("str:TargetValue", each) for each in representation_mapping.targets],
        validFrom=representation_mapping.valid_from,
        validTo=representation_mapping.valid_to,
    )


def _write_mapped(mapped_value: MappedValue) -> str:
    return leaf(
        "str:SourceValue",
        mapped_value.value,
        isRegEx=true(mapped_value.is_reg_ex),
        startIndex=None if mapped_value.start_index is None else str(mapped_value.start_index),
        endIndex=None if mapped_value.end_index is None else str(mapped_value.end_index),
    )


def write_scheme_map(item_scheme_map: ItemSchemeMap, edition: Edition) -> str:
    """Write a <ConceptSchemeMap>, <CategorySchemeMap>, <OrganisationSchemeMap> or <ReportingTaxonomyMap>."""
    content = [
        edition.ref("str:Source", item_scheme_map.source),
        edition.ref("str:Target", item_scheme_map.target),
        *[_write_item_map(each, edition) for each in parts(item_scheme_map.item_maps)],
    ]
    return artefact(f"str:{item_scheme_map.urn.cls}", item_scheme_map, edition, content)


def _write_item_map(item_map: ItemMap, edition: Edition) -> str:
    return el(
        "str:ItemMap",
        write_annotations(item_map.annotations, edition),
        _write_mapped(item_map.source),
        leaf("str:TargetValue", item_map.target),
        validFrom=item_map.valid_from,
        validTo=item_map.valid_to,
    )
