"""Structure maps, representation maps and maps of item schemes of SDMX-ML 3.x."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.containers import parts_of
from kafka_replica.sdmx.formats.ml.reading.items import item_urn
from kafka_replica.sdmx.formats.ml.reading.parts import first, known, pick, ref, texts
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
            urn, [_read_component_map(one, names) for one in pick(rest, "ComponentMap")], is_stub=is_stub
        ),
        fixed_value_maps=parts_of(
            urn, [_read_fixed_value(one, names) for one in pick(rest, "FixedValueMap")], is_stub=is_stub
        ),
        date_pattern_maps=parts_of(
            urn, [_date_pattern(one, urn, names) for one in pick(rest, "DatePatternMap")], is_stub=is_stub
        ),
        epoch_maps=parts_of(urn, [_epoch(one, urn, names) for one in pick(rest, "EpochMap")], is_stub=is_stub),
        frequency_format_mappings=parts_of(
            urn, [_read_frequency(one, urn, names) for one in pick(rest, "FrequencyFormatMapping")], is_stub=is_stub
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
        values=tuple(text_of(one) for one in pick(rest, "Value")),
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
    rows = [_read_row(one, names) for one in pick(rest, "RepresentationMapping")]
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
        sources=tuple(_read_mapped(one) for one in pick(rest, "SourceValue")),
        targets=tuple(text_of(one) for one in pick(rest, "TargetValue")),
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
    rows = [_read_item_map(one, names) for one in pick(rest, "ItemMap")]
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


def write_structure_map(one: StructureMap, edition: Edition) -> str:
    """Write a <StructureMap>."""
    content = [
        edition.ref("str:Source", one.source),
        edition.ref("str:Target", one.target),
        *[_write_date_map("str:EpochMap", each, edition) for each in parts(one.epoch_maps)],
        *[_write_date_map("str:DatePatternMap", each, edition) for each in parts(one.date_pattern_maps)],
        *[_write_frequency(each, edition) for each in parts(one.frequency_format_mappings)],
        *[_write_component_map(each, edition) for each in parts(one.component_maps)],
        *[_write_fixed_value(each, edition) for each in parts(one.fixed_value_maps)],
    ]
    return artefact("str:StructureMap", one, edition, content)


def _write_component_map(one: ComponentMap, edition: Edition) -> str:
    return el(
        "str:ComponentMap",
        write_annotations(one.annotations, edition),
        *[leaf("str:Source", each) for each in one.sources],
        *[leaf("str:Target", each) for each in one.targets],
        edition.ref("str:RepresentationMap", one.representation_map),
    )


def _write_fixed_value(one: FixedValueMap, edition: Edition) -> str:
    return el(
        "str:FixedValueMap",
        write_annotations(one.annotations, edition),
        leaf("str:Source", one.source),
        leaf("str:Target", one.target),
        *[leaf("str:Value", each) for each in one.values],
    )


def _own_urn(urn: Urn | None) -> dict[str, str | None]:
    return {} if urn is None else {"id": urn.item, "urn": str(urn)}


def _write_date_map(tag: str, one: DatePatternMap | EpochMap, edition: Edition) -> str:
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
        write_annotations(one.annotations, edition),
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


def _write_frequency(one: FrequencyFormatMapping, edition: Edition) -> str:
    return el(
        "str:FrequencyFormatMapping",
        write_annotations(one.annotations, edition),
        links(one.links, edition),
        leaf("str:FrequencyId", one.frequency),
        leaf("str:DatePattern", one.date_pattern),
        uri=one.uri,
        **_own_urn(one.urn),
    )


def write_representation_map(one: RepresentationMap, edition: Edition) -> str:
    """Write a <RepresentationMap>."""
    content = [
        *[_end("Source", each, edition) for each in one.sources],
        *[_end("Target", each, edition) for each in one.targets],
        *[_write_row(each, edition) for each in parts(one.mappings)],
    ]
    return artefact("str:RepresentationMap", one, edition, content)


def _end(side: str, end: Urn | str, edition: Edition) -> str:
    if isinstance(end, str):
        return leaf(f"str:{side}DataType", end)
    return edition.ref(f"str:{side}Codelist", end)


def _write_row(one: RepresentationMapping, edition: Edition) -> str:
    return el(
        "str:RepresentationMapping",
        write_annotations(one.annotations, edition),
        *[_write_mapped(each) for each in one.sources],
        *[leaf("str:TargetValue", each) for each in one.targets],
        validFrom=one.valid_from,
        validTo=one.valid_to,
    )


def _write_mapped(one: MappedValue) -> str:
    return leaf(
        "str:SourceValue",
        one.value,
        isRegEx=true(one.is_reg_ex),
        startIndex=None if one.start_index is None else str(one.start_index),
        endIndex=None if one.end_index is None else str(one.end_index),
    )


def write_scheme_map(one: ItemSchemeMap, edition: Edition) -> str:
    """Write a <ConceptSchemeMap>, <CategorySchemeMap>, <OrganisationSchemeMap> or <ReportingTaxonomyMap>."""
    content = [
        edition.ref("str:Source", one.source),
        edition.ref("str:Target", one.target),
        *[_write_item_map(each, edition) for each in parts(one.item_maps)],
    ]
    return artefact(f"str:{one.urn.cls}", one, edition, content)


def _write_item_map(one: ItemMap, edition: Edition) -> str:
    return el(
        "str:ItemMap",
        write_annotations(one.annotations, edition),
        _write_mapped(one.source),
        leaf("str:TargetValue", one.target),
        validFrom=one.valid_from,
        validTo=one.valid_to,
    )
