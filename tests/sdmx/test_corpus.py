"""Real files: everything in them is found, counted, cut up and found again."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from lxml import etree
from sdmx_corpus import ITEMS, READ, data_of, rows

from kafka_replica.errors import UnreadableContentError
from kafka_replica.sdmx import (
    Codelist,
    ConceptScheme,
    Format,
    Message,
    OpaqueArtefact,
    ValueList,
    read_message,
    split_message,
)
from kafka_replica.sdmx.json_tree import _BY_COLLECTION

# Elements of classes that are not read yet and that the index counts as items.
COUNTED = {"Code", "Concept", "Category", "HierarchicalCode", "RepresentationMapping", "KeyValue"}


def read_items(message: Message) -> int:
    """Codes, concepts and values that the model holds."""
    count = 0
    for artefact in message:
        if isinstance(artefact, Codelist) and not artefact.is_stub:
            count += len(artefact.codes)
        elif isinstance(artefact, ConceptScheme) and not artefact.is_stub:
            count += len(artefact.concepts)
        elif isinstance(artefact, ValueList):
            count += len(artefact.value_items)
    return count


def opaque_items(artefact: OpaqueArtefact) -> int:
    """What the index counts in an artefact that is kept as bytes, counted in these bytes."""
    if artefact.content_type == Format.FUSION_JSON:
        # The index counts the first level only, of categories too.
        [held] = json.loads(artefact.content)[artefact.urn.cls]
        return len(held.get("items", ()))
    root = etree.fromstring(artefact.content)
    return sum(etree.QName(one).localname in COUNTED for one in root.iter("{*}*"))


@pytest.mark.parametrize("row", rows(*READ))
def test_all_is_found(row: dict[str, str]) -> None:
    """Maintainable artefacts by class, and items, are as many as the index says, for every file."""
    message = read_message(data_of(row))
    expected = dict(part.split("=") for part in row["maintainables_by_type"].split(";"))
    assert Counter(urn.cls for urn in message.artefacts) == {cls: int(count) for cls, count in expected.items()}
    rest = sum(opaque_items(one) for one in message if isinstance(one, OpaqueArtefact))
    assert read_items(message) + rest == int(row[ITEMS])


@pytest.mark.parametrize("row", rows(*READ))
def test_parts_hold_what_the_whole_held(row: dict[str, str]) -> None:
    """Each part reads back to the very artefact of the whole message, under the same header and format."""
    whole = read_message(data_of(row))
    parts = split_message(data_of(row))
    assert [part.urn for part in parts] == list(whole.artefacts)
    for part in parts:
        again = read_message(part.value, part.content_type)
        assert (again.format, again.header) == (whole.format, whole.header)
        assert dict(again.artefacts) == {part.urn: whole.artefacts[part.urn]}
        assert [(one.urn, one.value) for one in split_message(part.value)] == [(part.urn, part.value)]


@pytest.mark.parametrize("row", rows(("sdmx-ml", "2.1"), ("sdmx-ml", "3.0"), ("sdmx-ml", "3.1")))
def test_xml_parts_are_faithful(row: dict[str, str]) -> None:
    """In canonical form, an artefact cut out is the artefact that was in the whole, of every class."""
    containers = etree.fromstring(data_of(row)).findall("{*}Structures/{*}*/{*}*")
    for part, was in zip(split_message(data_of(row)), containers, strict=True):
        [now] = etree.fromstring(part.value).findall("{*}Structures/{*}*/{*}*")
        assert canonical(now) == canonical(was)


def canonical(element: Any) -> str:
    """An element in canonical form, alone."""
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
        assert part.urn.cls in {name, _BY_COLLECTION.get(name.lower())}
        found[name] += artefacts
    assert found == lists


@pytest.mark.parametrize(
    "row",
    rows(*JSON[1:], ("sdmx-ml", "1.0"), ("sdmx-ml", "2.0"), ("sdmx-edi", ""), ("xlsx", "")),
)
def test_other_formats_are_recognised(row: dict[str, str]) -> None:
    """A format that is not read yet is refused by its name, not as damaged."""
    titles = {"sdmx-edi": "SDMX-EDI", "xlsx": "XLSX", "sdmx-json": "SDMX-JSON", "sdmx-ml": "SDMX-ML " + row["version"]}
    with pytest.raises(UnreadableContentError, match=titles[row["format"]]):
        read_message(data_of(row))
