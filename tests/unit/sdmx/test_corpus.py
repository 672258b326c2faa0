"""Real files: all their content is found, counted, split and found again."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from lxml import etree

from kafka_replica.sdmx import Codelist, ConceptScheme, OpaqueArtefact, ValueList, read_message, split_message
from kafka_replica.sdmx.formats.json_shared.collection_names import CLASS_OF_COLLECTION
from kafka_replica.sdmx.model import (
    CategoryScheme,
    Constraint,
    GeographicCodelist,
    GeoGridCodelist,
    HierarchicalCodelist,
    Hierarchy,
    ItemScheme,
    Maintainable,
    Process,
    RepresentationMap,
    VtlMappingScheme,
)
from support.paths import CORPUS
from support.sdmx.sdmx_corpus import ITEMS, READ, data_of, rows


def items_in_xml(one: Maintainable) -> int:  # noqa: PLR0911 - one return a class
    """Count the elements of an SDMX-ML artefact with the names that the index counts, at any depth.

    Code, Concept, Category, HierarchicalCode (and the Code it refers to), RepresentationMapping, KeyValue; codes of
    geographic codelists have other names.
    """
    if isinstance(one, (GeographicCodelist, GeoGridCodelist)):
        return 0
    if isinstance(one, Hierarchy):
        return sum(2 if code.code else 1 for code in one.walk())
    if isinstance(one, CategoryScheme):
        return sum(len(list(category.walk())) for category in one.categories.values())
    if isinstance(one, RepresentationMap):
        return len(one.mappings)
    if isinstance(one, Constraint):
        keys = (key for keys in one.key_sets for key in keys.keys)
        return sum(len(region.key_values) for region in (*one.cube_regions, *keys))
    if isinstance(one, VtlMappingScheme):
        return sum(mapping.mapped is not None and mapping.mapped.cls == "Concept" for mapping in one.mappings.values())
    if isinstance(one, ValueList):
        return len(one.values)
    return len(one.items) if isinstance(one, (Codelist, ConceptScheme)) else 0


def items_in_json(one: Maintainable) -> int:
    """Count the items that the index counts in an artefact of Fusion-JSON: the first level under ``items``."""
    if isinstance(one, (Hierarchy, HierarchicalCodelist, Process)):
        return 0
    if isinstance(one, ValueList):
        return len(one.values)
    return len(one.items) if isinstance(one, ItemScheme) else 0


@pytest.mark.parametrize("row", rows(*READ))
def test_each_file_has_the_artefacts_of_the_index(row: dict[str, str]) -> None:
    """Each file has as many maintainable artefacts by class, and items, as the index says; none is opaque."""
    message = read_message(data_of(row))
    expected = dict(part.split("=") for part in row["maintainables_by_type"].split(";"))
    assert Counter(urn.cls for urn in message.artefacts) == {cls: int(count) for cls, count in expected.items()}
    count = items_in_json if row["format"] == "fusion-json" else items_in_xml
    assert sum(count(one) for one in message if not one.is_stub) == int(row[ITEMS])
    assert not any(isinstance(one, OpaqueArtefact) for one in message)


# Files of one registry and name in Fusion-JSON and SDMX-JSON whose artefacts really differ: ids, or all.
CHANGED = {
    "cat__cs": {"F70E4C5A-75A3-C506-3630-9761E9189242", "TEST_ARRAYS_DF"},
    "df__coded_measure": {"STANDALONE_CONCEPT_SCHEME"},
    "df__excl_keyset_schema": {"STANDALONE_CONCEPT_SCHEME", "BIS_CBS", "ASSETSLIABILITIES"},
    "df__flows": {"TEST_ARRAYS_DF"},
    "df__keyset_schema": {"STANDALONE_CONCEPT_SCHEME", "BIS_CBS", "ASSETSLIABILITIES"},
    "df__no_hca": {"CL_FREQ", "CL_OPTION_TYPE"},
    "dsd__dsd": None,
    "dsd__dsd_attrs_rels": {"TEST_MEASURE_REL"},
    "dsd__dsd_partial_cs": {"STANDALONE_CONCEPT_SCHEME", "BIS_CBS"},
}


@pytest.mark.parametrize("row", rows(("fusion-json", "")))
def test_fusion_json_equals_sdmx_json_of_the_registry(row: dict[str, str]) -> None:
    """A registry's Fusion-JSON and SDMX-JSON are equal, except for the files that are known to differ."""
    name = row["file"].partition("samples__")[2].removesuffix(".fusion.json")
    others = [path for path in CORPUS.glob(f"sdmx-json-*/*samples__{name}.json") if "fmr" in path.name]
    mine = read_message(data_of(row)).artefacts
    for path in others:
        theirs = read_message(path.read_bytes()).artefacts
        differ = {urn.id for urn in mine if urn in theirs and mine[urn] != theirs[urn]}
        changed = CHANGED.get(name, set())
        assert changed is None or differ == changed


@pytest.mark.thorough
@pytest.mark.parametrize("row", rows(*READ))
def test_each_part_equals_the_artefact_of_the_whole(row: dict[str, str]) -> None:
    """Each part reads back to the artefact of the whole message, with the same header and format."""
    whole = read_message(data_of(row))
    parts = split_message(data_of(row))
    assert [part.urn for part in parts] == list(whole.artefacts)
    for part in parts:
        again = read_message(part.value, part.content_type)
        assert (again.format, again.header) == (whole.format, whole.header)
        assert dict(again.artefacts) == {part.urn: whole.artefacts[part.urn]}
        assert [(one.urn, one.value) for one in split_message(part.value)] == [(part.urn, part.value)]


@pytest.mark.thorough
@pytest.mark.parametrize("row", rows(("sdmx-ml", "2.1"), ("sdmx-ml", "3.0"), ("sdmx-ml", "3.1")))
def test_xml_parts_are_faithful(row: dict[str, str]) -> None:
    """A part of SDMX-ML has the artefact of the whole message in canonical form, for every class."""
    containers = etree.fromstring(data_of(row)).findall("{*}Structures/{*}*/{*}*")
    for part, was in zip(split_message(data_of(row)), containers, strict=True):
        [now] = etree.fromstring(part.value).findall("{*}Structures/{*}*/{*}*")
        assert canonical(now) == canonical(was)


def canonical(element: Any) -> str:
    """Return an element alone in canonical form."""
    return etree.canonicalize(etree.tostring(element, with_tail=False, encoding="unicode"))


JSON = [("fusion-json", ""), ("sdmx-json", "1.0"), ("sdmx-json", "2.0"), ("sdmx-json", "2.1")]


@pytest.mark.parametrize("row", rows(*JSON))
def test_json_parts_are_faithful(row: dict[str, str]) -> None:
    """Parts of JSON put together again are the whole: same header, same artefacts, same order."""
    whole = json.loads(data_of(row).decode("utf-8-sig"))
    meta = whole.pop("meta", None)
    lists = whole if row["format"] == "fusion-json" else whole["data"]
    found: dict[str, list[Any]] = {name: [] for name in lists}
    for part in split_message(data_of(row)):
        one = json.loads(part.value)
        assert one.pop("meta", None) == meta
        [(name, artefacts)] = (one if row["format"] == "fusion-json" else one["data"]).items()
        assert part.urn.cls in {name, CLASS_OF_COLLECTION.get(name.lower())}
        found[name] += artefacts
    assert found == lists
