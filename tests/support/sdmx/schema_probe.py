"""A search for values that a reader ignores: each value of a sample is changed, and the result has to change, too."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, Final

import msgspec
from lxml import etree

from kafka_replica.sdmx.containers import InternationalString, Items
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.reading.messages import read_message
from support.sdmx.json_schema_samples import JsonSchema
from support.sdmx.xsd_samples import DeclaredElement, Schemas

_ROUNDS: Final = 10
JSON_SCHEMAS: Final = {"10": "1.0", "20": "2.0.0", "21": "2.1.0"}


def comparable(value: Any) -> Any:
    """Return all values of an object of the model, for comparison."""
    if isinstance(value, InternationalString):
        return value.texts
    if isinstance(value, Items):
        return [(key, comparable(each)) for key, each in value.items()]
    if isinstance(value, msgspec.Struct):
        return type(value).__name__, [(name, comparable(getattr(value, name))) for name in value.__struct_fields__]
    if isinstance(value, tuple | list):
        return [comparable(one) for one in value]
    return repr(value)


def model_of(data: bytes) -> Any:
    """Return the artefacts of a message as plain values for comparison."""
    message = read_message(data)
    return [comparable(one) for one in message] + [
        comparable(availability_constraint) for availability_constraint in message.availability_constraints
    ]


def other_value(value: Any) -> Any:  # noqa: PLR0911 - a table
    """Return another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    known = {"true": "false", "1": "false", "false": "true", "0": "true"}
    if value in known:
        return known[value]
    if value.startswith("urn:"):
        return value.replace("=AG:", "=ZZ:").replace(").I", ").J")
    if value.startswith("2020-"):
        return "2021-" + value[5:]
    if re.fullmatch(r"[0-9.]+", value):
        return value[:-1] + ("8" if value[-1] == "7" else "7")
    return value + "x"


class Findings:
    """Places (paths without indexes) that were changed, and whether the model ever changed with them."""

    def __init__(self) -> None:
        self.noticed: dict[str, bool] = {}

    def probe(
        self, place: str, change: Callable[[], None], undo: Callable[[], None], read: Callable[[], Any], before: Any
    ) -> None:
        """Change one value and record the effect."""
        if self.noticed.get(place):
            return
        change()
        try:
            self.noticed[place] = read() != before
        except MessageError:
            self.noticed[place] = True
        finally:
            undo()

    @property
    def ignored(self) -> list[str]:
        """Return the places that the model ignores."""
        return sorted(place for place, is_noticed in self.noticed.items() if not is_noticed)


@cache
def ignored_in_xml(version: str) -> tuple[Findings, list[str]]:
    """Return the places that the reader of a version of SDMX-ML ignores, and the samples it rejects."""
    schemas, findings, refused = Schemas(version), Findings(), []
    for container in schemas.structure_message:
        for artefact in schemas.artefacts(container):
            for _ in range(_ROUNDS):
                element = schemas.sample(artefact)
                if element.get("isExternalReference"):
                    element.set("isExternalReference", "false")
                join_references(element)
                root = message_with(container, element)
                try:
                    before = model_of(etree.tostring(root))
                except MessageError as error:
                    refused.append(f"{_local(element)}: {error}")
                    continue
                _probe_xml(findings, root, element, before)
    return findings, refused


@cache
def ignored_in_message(version: str, *path: str) -> tuple[Findings, list[str]]:
    """Return the same for messages of other kinds, at this path of elements (``Schemas.in_message``)."""
    schemas, findings, refused = Schemas(version), Findings(), []
    declared = schemas.in_message(*path)
    for _ in range(_ROUNDS):
        element = schemas.sample(declared)
        for name, value in (("isExternalReference", "false"), ("action", "Replace")):
            if element.get(name):
                element.set(name, value)
        root = message_around(schemas, path, element, version)
        try:
            before = model_of(etree.tostring(root))
        except MessageError as error:
            refused.append(f"{_local(element)}: {error}")
            continue
        _probe_xml(findings, root, root, before)
    return findings, refused


def message_around(schemas: Schemas, path: tuple[str, ...], element: etree._Element, version: str) -> etree._Element:
    """Return a message with this element at its path; a set of 2.1 finds its report structure in the header."""
    root = etree.Element(schemas.in_message(path[0]).tag)
    space = str(root.tag).rpartition("}")[0]
    header = etree.SubElement(root, f"{space}}}Header")
    etree.SubElement(header, f"{space}}}Sender", id="ME")
    if version == "21" and path[0].endswith("Metadata"):
        structure = schemas.sample(schemas.in_message(path[0], "Header", "Structure"))
        structure.set("structureID", element.get("structureRef", ""))
        header.append(structure)
    holder = root
    for number in range(2, len(path)):
        holder = etree.SubElement(holder, schemas.in_message(*path[:number]).tag)
    holder.append(element)
    return root


def join_references(element: etree._Element) -> None:
    """Make a partial target of 2.0 refer to an existing identifier component."""
    ids = [each.get("id") for each in element.iter("{*}IdentifierComponent")]
    for each_element in element.iter("{*}IdentifierComponentRef"):
        each_element.text = ids[0]


def message_with(container: DeclaredElement, element: etree._Element) -> etree._Element:
    """Return a message around an artefact; the container's namespace gives the version."""
    base = container.tag[1:].rpartition("/")[0]
    root = etree.Element(f"{{{base}/message}}Structure")
    header = etree.SubElement(root, f"{{{base}/message}}Header")
    etree.SubElement(header, f"{{{base}/message}}ID").text = "X"
    etree.SubElement(header, f"{{{base}/message}}Sender", id="ME")
    is_old = base.endswith(("v1_0", "v2_0"))
    holder = root if is_old else etree.SubElement(root, f"{{{base}/message}}Structures")
    etree.SubElement(holder, container.tag).append(element)
    return root


def _local(element: etree._Element) -> str:
    return str(element.tag).rpartition("}")[2]


def path_of(element: etree._Element, top: etree._Element) -> str:
    """Return the names of the elements from the top down to an element."""
    path = [_local(element)]
    while element is not top:
        parent = element.getparent()
        if parent is None:
            break
        element = parent
        path.append(_local(element))
    return "/".join(reversed(path))


def _probe_xml(findings: Findings, root: etree._Element, top: etree._Element, before: Any) -> None:
    def read() -> Any:
        return model_of(etree.tostring(root))

    for node in list(top.iter()):
        path = path_of(node, top)
        for name, value in node.attrib.items():
            change, undo = partial(node.set, name, other_value(value)), partial(node.set, name, value)
            findings.probe(f"{path}@{name!s}", change, undo, read, before)
        text, parent = node.text or "", node.getparent()
        if text.strip():
            change, undo = partial(setattr, node, "text", other_value(text)), partial(setattr, node, "text", text)
            findings.probe(path, change, undo, read, before)
        elif not len(node) and not node.attrib and parent is not None:
            change, undo = partial(parent.remove, node), partial(parent.insert, parent.index(node), node)
            findings.probe(path, change, undo, read, before)


@cache
def ignored_in_json(version: str, message: str = "structure") -> tuple[Findings, list[str]]:
    """Return the places that the reader of a version of SDMX-JSON ignores, and the samples it rejects."""
    schema, findings, refused = JsonSchema(version, message), Findings(), []
    meta = {"schema": f"https://json.sdmx.org/{JSON_SCHEMAS[version]}/sdmx-json-{message}-schema.json", "id": "X"}
    for collection, kind in schema.collections.items():
        for _ in range(_ROUNDS):
            artefact = schema.sample(kind, collection)
            if artefact.get("isExternalReference"):
                artefact["isExternalReference"] = False
            for place, holder, key in list(leaves(artefact, collection)):
                if place.endswith(".rel"):
                    holder[key] = "other"

            def read(collection: str = collection, artefact: Any = artefact) -> Any:
                return model_of(json.dumps({"meta": meta, "data": {collection: [artefact]}}).encode())

            try:
                before = read()
            except MessageError as error:
                refused.append(f"{collection}: {error}")
                continue
            for place, holder, key in list(leaves(artefact, collection)):
                _probe_json(findings, place, holder, key, read, before)
    return findings, refused


def _probe_json(findings: Findings, place: str, holder: Any, key: Any, read: Callable[[], Any], before: Any) -> None:
    value = holder[key]
    undo = partial(holder.__setitem__, key, value)
    if value == {}:
        findings.probe(place, partial(holder.__delitem__, key), undo, read, before)
    else:
        findings.probe(place, partial(holder.__setitem__, key, other_value(value)), undo, read, before)


def leaves(holder: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield each plain value and empty object below: its path, the object or list that holds it, and its key there."""
    pairs: list[tuple[Any, Any]] = list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder))
    for key, value in pairs:
        name = "[]" if isinstance(holder, list) else f".{re.sub('^P[0-9]+$', '*', key)}"
        if isinstance(value, dict | list) and value:
            yield from leaves(value, path + name)
        elif value != []:
            yield path + name, holder, key
