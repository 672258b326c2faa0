"""Values that the schemas of SDMX-JSON allow as a text or as an object read the same in both forms.

The places are derived from the official JSON schemas, so that none is forgotten.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_replica.sdmx import Codelist, read_message
from kafka_replica.sdmx.model import MemberValue
from support.sdmx.json_schema_samples import JsonSchema
from support.sdmx.schema_probe import JSON_SCHEMAS, leaves, model_of


class AlternativeSchema(JsonSchema):
    """A schema that records the paths at which it allows a text or an object with a member ``value``."""

    def __init__(self, version: str, kind: str) -> None:
        super().__init__(version, kind)
        self.places: set[str] = set()

    def _make(self, schema: Any, path: str, inside: list[int]) -> Any:
        found = self._resolved(schema)
        options = [self._resolved(one) for choice in ("oneOf", "anyOf") for one in found.get(choice, ())]
        has_object = any("value" in option.get("properties", {}) for option in options)
        if has_object and any(option.get("type") == "string" for option in options):
            self.places.add(path)
        return super()._make(schema, path, inside)


@pytest.mark.parametrize(
    ("version", "kind", "expected"),
    [("10", "structure", 0), ("20", "structure", 10), ("21", "structure", 10), ("20", "metadata", 0)],
)
@pytest.mark.thorough
def test_a_text_reads_as_an_object_with_that_value(version: str, kind: str, expected: int) -> None:
    """An artefact reads the same whether such a place contains ``"X"`` or ``{"value": "X"}``."""
    schema = AlternativeSchema(version, kind)
    meta = {"schema": f"https://json.sdmx.org/{JSON_SCHEMAS[version]}/sdmx-json-{kind}-schema.json", "id": "X"}
    tried: set[str] = set()
    for collection, items in schema.collections.items():
        for _ in range(4):
            artefact = schema.sample(items, collection)
            if artefact.get("isExternalReference"):
                artefact["isExternalReference"] = False
            data = {"meta": meta, "data": {collection: [artefact]}}
            for place, holder, key in list(leaves(artefact, collection)):
                if place not in schema.places:
                    continue
                before = model_of(json.dumps(data).encode())
                holder[key] = {"value": holder[key]}
                assert model_of(json.dumps(data).encode()) == before, place
                tried.add(place)
    assert tried == schema.places
    assert len(tried) >= expected


def test_member_values_may_be_texts() -> None:
    """An extension selects codes by plain ids, next to objects that cascade."""
    extension = {
        "codelist": "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=A:BASE(1.0)",
        "inclusiveCodeSelection": {"memberValues": ["X", {"value": "Y", "cascadeValues": True}]},
    }
    codelist = {"id": "CL", "agencyID": "A", "version": "1.0", "name": "N", "codelistExtensions": [extension]}
    for version in ("2.0.0", "2.1.0"):
        meta = {"schema": f"https://json.sdmx.org/{version}/sdmx-json-structure-schema.json", "id": "X"}
        [found] = read_message(json.dumps({"meta": meta, "data": {"codelists": [codelist]}}).encode())
        assert isinstance(found, Codelist)
        assert found.extensions[0].inclusive == (MemberValue("X"), MemberValue("Y", "true"))
