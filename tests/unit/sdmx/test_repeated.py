"""Repeated single elements are refused or merged in every format; neither of the two is dropped silently."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from lxml import etree

from kafka_replica.sdmx import Codelist, InternationalString, Urn, read_message, split_message, split_readable
from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.writing.messages import write_message
from support.paths import SDMX_DATA
from support.sdmx.schema_probe import join_references, message_around, message_with, model_of, other_value, path_of
from support.sdmx.sdmx_json_samples import SAMPLE, SAMPLE_1_0, message
from support.sdmx.xsd_samples import Schemas

pytestmark = pytest.mark.thorough

JSON_MESSAGES: Final = {
    "SDMX-JSON 1.0": message(SAMPLE_1_0, "1.0.0"),
    "SDMX-JSON 2.0": message(SAMPLE),
    "Fusion-JSON": (SDMX_DATA / "every_class.fusion.json").read_bytes(),
}
MARK: Final = "a name to replace"


def objects_in(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object of a document with its path; items of lists have no path of their own."""
    if isinstance(value, dict):
        yield path, value
        for name, inner in value.items():
            yield from objects_in(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from objects_in(inner, f"{path}[]")


def _concept(core: dict[str, Any]) -> bytes:
    concept = {"id": "A", "name": "A", "coreRepresentation": core}
    scheme = {"id": "CS", "agencyID": "ME", "version": "1.0", "name": "CS", "concepts": [concept]}
    return message({"conceptSchemes": [scheme]}, "1.0.0")


def test_the_format_of_codes_counts_next_to_a_codelist() -> None:
    """SDMX-JSON 1.0 allows a format for codes next to a format for texts, which has no meaning for codes."""
    codes = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=ME:CL(1.0)"
    core: dict[str, Any] = {"enumeration": codes, "enumerationFormat": {"maxLength": 3}, "textFormat": {"maxLength": 3}}
    [scheme] = read_message(_concept(core))
    assert scheme.items["A"].core_representation.format.max_length == 3  # type: ignore[attr-defined]
    core["textFormat"] = {"maxLength": 4}
    assert list(read_message(_concept(core))) == [scheme]


@pytest.mark.long
@pytest.mark.parametrize("format_", JSON_MESSAGES)
def test_a_name_that_comes_twice_is_refused_at_any_depth(format_: str) -> None:
    """A repeated member of an object of any kind is refused, in equal words or with escapes."""
    whole = json.loads(JSON_MESSAGES[format_])
    seen: set[str] = set()
    for path, one in list(objects_in(whole)):
        for name in list(one):
            if f"{path}.{name}" in seen:
                continue
            seen.add(f"{path}.{name}")
            one[MARK] = one[name]
            data = json.dumps(whole)
            del one[MARK]
            escaped = "".join(f"\\u{ord(letter):04x}" for letter in name)
            for written in (json.dumps(name)[1:-1], escaped):
                twice = data.replace(MARK, written, 1).encode()
                with pytest.raises(MessageError, match=f"{re.escape(repr(name))} is duplicated"):
                    read_message(twice)
                with pytest.raises(MessageError, match=r"is duplicated|duplicate element"):
                    split_message(twice)
    assert len(seen) > 100


OTHER_MESSAGES: Final = (
    ("20", "GenericMetadata", "MetadataSet"),
    ("20", "RegistryInterface", "QueryProvisioningResponse", "ProvisionAgreement"),
    ("21", "GenericMetadata", "MetadataSet"),
    ("30", "GenericMetadata", "MetadataSet"),
    ("31", "GenericMetadata", "MetadataSet"),
)
ROUNDS: Final = 10


def structure_messages(version: str) -> Iterator[tuple[Schemas, etree._Element, etree._Element]]:
    """Yield structure messages made from the schemas of an edition, with the artefact in each."""
    schemas = Schemas(version)
    for container in schemas.structure_message:
        for declared in schemas.artefacts(container):
            for _ in range(ROUNDS):
                element = schemas.sample(declared)
                if element.get("isExternalReference"):
                    element.set("isExternalReference", "false")
                join_references(element)
                yield schemas, message_with(container, element), element


def other_messages(version: str, *path: str) -> Iterator[tuple[Schemas, etree._Element, etree._Element]]:
    """Yield messages of other kinds made from the schemas, with the artefact in each."""
    schemas = Schemas(version)
    declared = schemas.in_message(*path)
    for _ in range(ROUNDS):
        element = schemas.sample(declared)
        for name, value in (("isExternalReference", "false"), ("action", "Replace")):
            if element.get(name):
                element.set(name, value)
        types = dict(schemas.types)
        root = message_around(schemas, path, element, version)
        schemas.types.update(types)
        yield schemas, root, element


@pytest.mark.long
@pytest.mark.parametrize("version", ["31", "20", "10", "21", "30"])
def test_a_single_element_that_comes_twice_is_not_dropped(version: str) -> None:
    """No element that a structure message's schema allows once is dropped when a different copy is next to it."""
    found = what_becomes_of_repeated(structure_messages(version))
    assert [place for place, result in found.items() if result == "dropped"] == []
    assert sum(result == "refused" for result in found.values()) > {"10": 50, "20": 400}.get(version, 500)


@pytest.mark.parametrize("path", OTHER_MESSAGES, ids="-".join)
def test_a_single_element_in_other_messages(path: tuple[str, ...]) -> None:
    """No single element of metadata sets and of 2.0's provision agreements is dropped when it is repeated."""
    found = what_becomes_of_repeated(other_messages(*path))
    assert [place for place, result in found.items() if result == "dropped"] == []
    assert sum(result == "refused" for result in found.values()) > 5


def what_becomes_of_repeated(
    messages: Iterator[tuple[Schemas, etree._Element, etree._Element]],
) -> dict[str, str]:
    """Return place of a single element -> "refused", "merged", "dropped"; "ignored" where the model never has it."""
    results: dict[str, str] = {}
    for schemas, root, top in messages:
        first = model_of(etree.tostring(root))
        for node in list(top.iterdescendants()):
            parent, place = node.getparent(), path_of(node, top)
            holder = schemas.types.get(parent) if parent is not None else None
            is_done = results.get(place) in {"refused", "dropped"}
            if parent is None or holder is None or is_done or node.tag not in schemas.single_children(holder):
                continue
            results[place] = what_becomes_of(root, parent, node, first)
    return results


def what_becomes_of(root: etree._Element, parent: etree._Element, node: etree._Element, first: Any) -> str:
    """Repeat an element with different content at the end of its parent, and return the outcome."""
    other = copy.deepcopy(node)
    for element in other.iter():
        for name, value in element.attrib.items():
            element.set(name, other_value(value))
        if (element.text or "").strip():
            element.text = other_value(element.text)
    parent.replace(node, other)
    try:
        second = model_of(etree.tostring(root))
    except MessageError:
        second = None
    parent.replace(other, node)
    parent.append(other)
    try:
        both = model_of(etree.tostring(root))
    except MessageError:
        return "refused"
    finally:
        parent.remove(other)
    return "ignored" if first == second else "dropped" if both in (first, second) else "merged"


def test_long_lists_are_checked_as_well() -> None:
    """Repeated elements in a code are noticed on reading, although codes are decoded on first access."""
    version = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1"
    notes = "<c:Annotations><c:Annotation><c:AnnotationType>T</c:AnnotationType></c:Annotation></c:Annotations>"
    parent = '<s:Parent><Ref id="C0"/></s:Parent>'
    codes = "".join(
        f'<s:Code id="C{number}">{notes}<c:Name>Code {number}</c:Name>{parent}</s:Code>' for number in range(3000)
    )

    def listed(codes: str) -> bytes:
        return (
            f'<m:Structure xmlns:m="{version}/message" xmlns:s="{version}/structure" xmlns:c="{version}/common">'
            f'<m:Structures><s:Codelists><s:Codelist id="CL" agencyID="A">{notes}<c:Name>List</c:Name>{codes}'
            "</s:Codelist></s:Codelists></m:Structures></m:Structure>"
        ).encode()

    [found] = read_message(listed(codes))
    assert len(found.codes) == 3000  # type: ignore[attr-defined]
    half = len(codes) // 2
    for good, bad in (
        (parent, parent * 2),
        (notes, notes * 2),
        ("<c:AnnotationType>T</c:AnnotationType>", "<c:AnnotationType>T</c:AnnotationType>" * 2),
        ('<Ref id="C0"/>', '<Ref id="C0"/><Ref id="C1"/>'),
        ("</s:Code>", f"{notes}</s:Code>"),
    ):
        with pytest.raises(MessageError, match="is duplicated"):
            read_message(listed(codes[:half] + codes[half:].replace(good, bad, 1)))


def doubled(data: bytes, mark: str, id_: str) -> bytes:
    """Return the data with a repetition in the artefact with an id: a name in JSON, annotations in XML."""
    text = data.decode()
    if text.startswith("{"):
        return text.replace(f'"id": "{id_}"', f'"id": "{id_}", "{mark}": 1, "{mark}": 2', 1).encode()
    root = etree.fromstring(data)
    [one] = (
        element
        for element in root.iter()
        if element.get("id") == id_ and (element.get("agencyID") or element.get("agency"))
    )
    for _ in range(2):
        etree.SubElement(one, one.tag.replace(etree.QName(one).localname, mark))
    return etree.tostring(root)


@pytest.mark.parametrize(
    ("format_", "mark"),
    [
        (Format.SDMX_JSON_2_0, "isPartial"), (Format.FUSION_JSON, "unknown"), (Format.SDMX_ML_3_0, "Annotations"),
        (Format.SDMX_ML_2_1, "Annotations"), (Format.SDMX_ML_2_0, "Annotations"),
    ],
    ids=str,
)  # fmt: skip
def test_an_artefact_with_something_twice_costs_itself_where_errors_are_collected(format_: Format, mark: str) -> None:
    """A repetition affects only its artefact where errors are collected; outside of artefacts it affects all."""
    names = InternationalString([("en", "Name")])
    lists = [
        Codelist(urn=Urn.of("Codelist", "ME", id_, "1.0"), names=names, codes=Items({})) for id_ in ("A", "BAD", "C")
    ]
    data = write_message(lists, format_)
    if data.startswith(b"{"):
        data = json.dumps(json.loads(data)).encode()
    bad = doubled(data, mark, "BAD")
    with pytest.raises(MessageError, match="duplicate"):
        read_message(bad)
    found = read_message(bad, on_error="collect")
    assert [one.id for one in found] == ["A", "C"]
    [error] = found.errors
    assert (error.urn, "duplicate" in error.reason) == (lists[1].urn, True)
    parts, errors = split_readable(bad)
    assert [part.urn.id for part in parts] == ["A", "C"]
    assert errors == found.errors
    header = bad.replace(b'"meta": {', b'"meta": {"x": [{"a": 1, "a": 1}], ').replace(
        b"</mes:Test>", b"</mes:Test><mes:Test>true</mes:Test>"
    )
    assert header != bad
    with pytest.raises(MessageError, match="duplicate"):
        read_message(header, on_error="collect")
