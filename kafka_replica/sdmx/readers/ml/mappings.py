"""Structure maps, representation maps and maps of item schemes of SDMX-ML 3.x."""

from __future__ import annotations

from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.containers import parts_of
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
from kafka_replica.sdmx.readers.ml.items import item_urn
from kafka_replica.sdmx.readers.ml.parts import first, known, pick, ref, texts
from kafka_replica.sdmx.readers.ml.tree import Names, fail
from kafka_replica.sdmx.readers.ml.values import Item, annotations_of, boolean, reference, text_of, whole_number
from kafka_replica.sdmx.urn import Urn

_SCHEME_MAPS: Final[dict[str, tuple[type[ItemSchemeMap], str]]] = {
    "ConceptSchemeMap": (ConceptSchemeMap, "ConceptScheme"),
    "CategorySchemeMap": (CategorySchemeMap, "CategoryScheme"),
    "OrganisationSchemeMap": (OrganisationSchemeMap, "OrganisationUnitScheme"),
    "ReportingTaxonomyMap": (ReportingTaxonomyMap, "ReportingTaxonomy"),
}


def structure_map(item: Item) -> StructureMap:
    """Read a <StructureMap>."""
    urn, base, rest, names = item.parts
    is_stub = base["is_external_reference"] and not rest
    return StructureMap(
        urn=urn,
        source=ref(rest, "Source", names, "DataStructure"),
        target=ref(rest, "Target", names, "DataStructure"),
        component_maps=parts_of(
            urn, [_component_map(one, names) for one in pick(rest, "ComponentMap")], is_stub=is_stub
        ),
        fixed_value_maps=parts_of(
            urn, [_fixed_value(one, names) for one in pick(rest, "FixedValueMap")], is_stub=is_stub
        ),
        date_pattern_maps=parts_of(
            urn, [_date_pattern(one, urn, names) for one in pick(rest, "DatePatternMap")], is_stub=is_stub
        ),
        epoch_maps=parts_of(urn, [_epoch(one, urn, names) for one in pick(rest, "EpochMap")], is_stub=is_stub),
        frequency_format_mappings=parts_of(
            urn, [_frequency(one, urn, names) for one in pick(rest, "FrequencyFormatMapping")], is_stub=is_stub
        ),
        **base,
    )


def notes(element: etree._Element, names: Names) -> tuple[Annotation, ...]:
    """Return the annotations of an element that has no id."""
    found = first(known(element, names), "Annotations")
    return () if found is None else annotations_of(found, names)


def _component_map(element: etree._Element, names: Names) -> ComponentMap:
    rest = known(element, names)
    return ComponentMap(
        sources=texts(rest, "Source"),
        targets=texts(rest, "Target"),
        representation_map=ref(rest, "RepresentationMap", names),
        annotations=notes(element, names),
    )


def _fixed_value(element: etree._Element, names: Names) -> FixedValueMap:
    rest = known(element, names)
    source, target = texts(rest, "Source"), texts(rest, "Target")
    return FixedValueMap(
        source=source[0] if source else None,
        target=target[0] if target else None,
        values=tuple(text_of(one) for one in pick(rest, "Value")),
        annotations=notes(element, names),
    )


def _identified(element: etree._Element, class_: str, urn: Urn, names: Names) -> dict[str, Any]:
    id_ = element.get("id")
    own = None if id_ is None else item_urn(urn, class_, element, id_)
    return {"urn": own, **Item(element, urn, names).identified}


def _date_map(element: etree._Element, class_: str, urn: Urn, names: Names) -> dict[str, Any]:
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
        **_date_map(element, "DatePatternMap", urn, names),
    )


def _epoch(element: etree._Element, urn: Urn, names: Names) -> EpochMap:
    return EpochMap(
        base_period=_needed(element, "basePeriod"),
        epoch_period=_needed(element, "epochPeriod"),
        **_date_map(element, "EpochMap", urn, names),
    )


def _frequency(element: etree._Element, urn: Urn, names: Names) -> FrequencyFormatMapping:
    rest = known(element, names)
    ids, patterns = texts(rest, "FrequencyId"), texts(rest, "DatePattern")
    if not ids or not patterns:
        fail(element, "it needs a FrequencyId and a DatePattern")
    return FrequencyFormatMapping(
        frequency=ids[0], date_pattern=patterns[0], **_identified(element, "FrequencyFormatMapping", urn, names)
    )


def representation_map(item: Item) -> RepresentationMap:
    """Read a <RepresentationMap>."""
    urn, base, rest, names = item.parts
    rows = [_row(one, names) for one in pick(rest, "RepresentationMapping")]
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


def _row(element: etree._Element, names: Names) -> RepresentationMapping:
    rest = known(element, names)
    return RepresentationMapping(
        sources=tuple(_mapped(one) for one in pick(rest, "SourceValue")),
        targets=tuple(text_of(one) for one in pick(rest, "TargetValue")),
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
        annotations=notes(element, names),
    )


def _mapped(element: etree._Element) -> MappedValue:
    return MappedValue(
        value=text_of(element),
        is_reg_ex=boolean(element, "isRegEx") or False,
        start_index=whole_number(element, "startIndex"),
        end_index=whole_number(element, "endIndex"),
    )


def scheme_map(item: Item) -> ItemSchemeMap:
    """Read a <ConceptSchemeMap>, <CategorySchemeMap>, <OrganisationSchemeMap> or <ReportingTaxonomyMap>."""
    urn, base, rest, names = item.parts
    kind, mapped = _SCHEME_MAPS[urn.cls]
    rows = [_item_map(one, names) for one in pick(rest, "ItemMap")]
    return kind(
        urn=urn,
        source=ref(rest, "Source", names, mapped),
        target=ref(rest, "Target", names, mapped),
        item_maps=parts_of(urn, rows, is_stub=base["is_external_reference"]),
        **base,
    )


def _item_map(element: etree._Element, names: Names) -> ItemMap:
    rest = known(element, names)
    source, target = first(rest, "SourceValue"), first(rest, "TargetValue")
    if source is None:
        fail(element, "it has no SourceValue")
    return ItemMap(
        source=_mapped(source),
        target=None if target is None else text_of(target),
        valid_from=element.get("validFrom"),
        valid_to=element.get("validTo"),
        annotations=notes(element, names),
    )
