"""Processes and structure sets as SDMX-ML 2.0."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.earlier import AliasedComponentMap, AliasedItemMap, ProcessStepOfClasses
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf, true
from kafka_replica.sdmx.model import (
    ComponentMapInSet,
    ItemMap,
    Process,
    ProcessStep,
    SchemeMapInSet,
    StructureMapInSet,
    StructureSet,
    Transition,
)
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.writers.ml20.references import category_path, reference
from kafka_replica.sdmx.writers.ml20.values import Edition, annotations_of, maintained, text_format, texts


def process(one: Process, edition: Edition) -> str:
    """Write a <Process>, whose inputs and outputs are classes, not objects."""
    found = [] if one.steps.is_stub else one.steps.values()
    return maintained("str:Process", one, edition, *[_step(each) for each in found])


def _step(one: ProcessStep) -> str:
    inputs, outputs = (one.input_classes, one.output_classes) if isinstance(one, ProcessStepOfClasses) else ((), ())
    return el(
        "str:ProcessStep",
        texts("str:Name", one.names),
        texts("str:Description", one.descriptions),
        *[leaf("str:Input", each) for each in inputs],
        *[leaf("str:Output", each) for each in outputs],
        "" if one.computation is None else texts("str:Computation", one.computation.descriptions),
        *[_transition(each) for each in one.transitions],
        *[_step(each) for each in one.steps.values()],
        annotations_of(one.annotations),
        id=one.id,
    )


def _transition(one: Transition) -> str:
    return el("str:Transition", leaf("str:TargetStep", one.target_step), texts("str:Condition", one.conditions))


# map -> its rows, source and target in a row, the alias of a row
_MAPS: Final = {
    "CodelistMap": ("CodeMap", "MapCodeRef", "MapTargetCodeRef", "CodeAlias"),
    "CategorySchemeMap": ("CategoryMap", "CategoryID", "TargetCategoryID", "categoryAlias"),
    "ConceptSchemeMap": ("ConceptMap", "ConceptID", "TargetConceptID", "conceptAlias"),
    "OrganisationSchemeMap": ("OrganisationMap", "OrganisationID", "TargetOrganisationID", "organisationAlias"),
}
_WORDS: Final = {"DataStructure": "KeyFamily"}
_RELATED: Final = (
    "DataStructure", "MetadataStructure", "ConceptScheme", "CategoryScheme", "OrganisationScheme",
    "HierarchicalCodelist",
)  # fmt: skip
"""The order of the schema."""


def structure_set(one: StructureSet, edition: Edition) -> str:
    """Write a <StructureSet>, with one map of each kind."""
    if one.is_stub:
        return maintained("str:StructureSet", one, edition)
    related = sorted(one.related_structures, key=lambda urn: _RELATED.index(urn.cls) if urn.cls in _RELATED else -1)
    structures = [_structure_map(each, edition) for each in one.structure_maps]
    by_kind = {kind: [each for each in one.scheme_maps if each.urn.cls == kind] for kind in _MAPS}
    if sum(map(len, by_kind.values())) != len(one.scheme_maps):
        raise UnwritableError("SDMX-ML 2.0 has no place for some of its maps: it maps lists, categories, concepts and "
                              "organisations")  # fmt: skip
    return maintained(
        "str:StructureSet",
        one,
        edition,
        el("str:RelatedStructures", *[_end("", each) for each in related]) if related else "",
        *structures,
        *[_scheme_map(each) for found in by_kind.values() for each in found],
    )


def _end(side: str, urn: Urn | None) -> str:
    return "" if urn is None else reference(f"str:{side}{_WORDS.get(urn.cls, urn.cls)}Ref", urn)


def _scheme_map(one: SchemeMapInSet) -> str:
    row, source, target, alias = _MAPS[one.urn.cls]
    return el(
        f"str:{one.urn.cls}",
        texts("str:Name", one.names),
        texts("str:Description", one.descriptions),
        _end("", one.source),
        _end("Target", one.target),
        *[_row(each, row, source, target, alias) for each in one.item_maps],
        annotations_of(one.annotations),
        id=one.id,
    )


def _row(one: ItemMap, row: str, source: str, target: str, alias: str) -> str:
    own = {alias: one.alias} if isinstance(one, AliasedItemMap) else {}
    if row == "CategoryMap":
        ends = category_path(f"str:{source}", one.source.value) + category_path(f"str:{target}", one.target or "")
    else:
        ends = leaf(f"str:{source}", one.source.value) + leaf(f"str:{target}", one.target)
    return el(f"str:{row}", ends, **own)


def _structure_map(one: StructureMapInSet, edition: Edition) -> str:
    return el(
        "str:StructureMap",
        texts("str:Name", one.names),
        texts("str:Description", one.descriptions),
        _end("", one.source),
        _end("Target", one.target),
        *[_component_map(each, one.urn.agency, edition) for each in one.component_maps],
        annotations_of(one.annotations),
        isExtension=true(one.is_extension),
        id=one.id,
    )


def _component_map(one: ComponentMapInSet, agency: str, edition: Edition) -> str:
    by_map = ""
    if one.codelist_map is not None:
        # The map is in the same set, so it has the same agency.
        parts = leaf("str:RepresentationMapAgencyID", agency) + leaf("str:RepresentationMapID", one.codelist_map)
        by_map = el("str:RepresentationMapRef", parts)
    elif one.to_text_format is not None:
        by_map = text_format("str:ToTextFormat", one.to_text_format, edition) + leaf(
            "str:ToValueType", one.to_value_type
        )
    own = {}
    if isinstance(one, AliasedComponentMap):
        own = {"componentAlias": one.alias, "preferredLanguage": one.preferred_language}
    ends = leaf("str:MapConceptRef", one.source) + leaf("str:MapTargetConceptRef", one.target)
    return el("str:ComponentMap", ends, by_map, **own)
