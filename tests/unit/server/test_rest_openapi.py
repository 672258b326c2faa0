"""The service against the OpenAPI description of SDMX REST: the same names, and only documented statuses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from kafka_replica.sdmx import Format, write_message
from kafka_replica.server import create_app
from kafka_replica.server.rest.grammar import (
    ANY,
    NOT_IMPLEMENTED,
    SCHEMA_PARAMETERS,
    STRUCTURE_PARAMETERS,
    Api,
    Detail,
    Items,
    References,
    referable,
    resources,
)
from kafka_replica.testing import FakeTopic
from support.effort import examples
from support.server import openapi
from support.server.app_tools import client_of
from support.server.registry import ARTEFACTS

_JUNK = st.sampled_from(
    ["%", "%2F", "..", "?", "&", "=", "//", "~1", "v1", "detail=x", "%ff", "*", "é", "{", "x" * 300]
)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """A client of a service with a small registry."""
    topic = FakeTopic()
    with topic.transaction() as transaction:
        for artefact in ARTEFACTS.values():
            value = write_message(artefact, Format.SDMX_JSON_2_0)
            transaction.put(str(artefact.urn), value, (("content-type", str(Format.SDMX_JSON_2_0).encode()),))
    with topic.replica() as replica:
        replica.wait_ready(30)
        yield client_of(create_app(replica))


def test_the_table_has_every_name_of_the_description() -> None:
    """Resources, items, contexts, details and references; further ones come from the text of the specification."""
    table = resources(Api.V2)
    with_items = {name for name, row in table.items() if row.items is not Items.NONE}
    contexts = {name for name, row in table.items() if row.is_schema_context}
    assert {*table, ANY[Api.V2].name} == openapi.STRUCTURE_TYPES
    assert {*with_items, "*"} - openapi.ITEM_SCHEME_TYPES == {"metadataproviderscheme", "reportingtaxonomy"}
    assert {*with_items, "*"} >= openapi.ITEM_SCHEME_TYPES
    assert contexts == openapi.SCHEMA_CONTEXTS
    assert set(Detail) == openapi.DETAILS
    assert {*References, *referable(Api.V2)} - openapi.REFERENCES == {
        "metadataproviderscheme", "metadataprovisionagreement", "vtlmappingscheme",
    }  # fmt: skip
    assert {*References, *referable(Api.V2)} >= openapi.REFERENCES
    for paths, own in ((openapi.SERVED[:2], STRUCTURE_PARAMETERS), (openapi.SERVED[2:], SCHEMA_PARAMETERS)):
        assert all(set(own) >= set(parameters) for _, parameters in paths)
    assert {segments[0] for segments, _ in openapi.NOT_SERVED} == {
        name for name, apis in NOT_IMPLEMENTED.items() if Api.V2 in apis
    }


@pytest.mark.scaled
@settings(max_examples=examples(250), deadline=None)
@given(openapi.requests(openapi.SERVED))
@pytest.mark.thorough
def test_requests_that_comply_with_the_description_are_understood(
    client: TestClient, request: tuple[str, dict[str, str]]
) -> None:
    """A valid request is never a syntax error or a fault; an answer has the requested format."""
    target, headers = request
    found = client.get(f"/sdmx/v2{target}", headers=headers)
    assert found.status_code in openapi.STATUSES - {400, 500, 501}, found.text
    if found.status_code == 200 and headers["Accept"] != "*/*":
        assert found.headers["content-type"] == headers["Accept"]


@pytest.mark.thorough
@pytest.mark.scaled
@settings(max_examples=examples(60), deadline=None)
@given(openapi.requests(openapi.NOT_SERVED))
def test_other_requests_of_the_description_are_not_implemented(
    client: TestClient, request: tuple[str, dict[str, str]]
) -> None:
    """Data, availability, metadata and registrations: the answer says so, with the status for it."""
    target, headers = request
    assert client.get(f"/sdmx/v2{target}", headers=headers).status_code == 501


@pytest.mark.thorough
@pytest.mark.scaled
@settings(max_examples=examples(150), deadline=None)
@given(openapi.requests(openapi.SERVED + openapi.NOT_SERVED), _JUNK, st.floats(0, 1))
def test_damaged_requests_get_a_documented_status(
    client: TestClient, request: tuple[str, dict[str, str]], junk: str, where: float
) -> None:
    """Junk anywhere in the path or query: no fault, and no status that the description lacks."""
    target, headers = request
    place = 1 + int(where * (len(target) - 1))
    found = client.get(f"/sdmx/v2{target[:place]}{junk}{target[place:]}", headers=headers)
    assert found.status_code in openapi.STATUSES - {500}, found.text
