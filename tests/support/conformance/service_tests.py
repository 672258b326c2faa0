"""All tests of the kit against a running service, in both versions of the API."""

from __future__ import annotations

from support import plain_http
from support.conformance.addresses import NOT_IN_2, address_in_1, address_in_2
from support.conformance.runner import Answer, Fetch, Outcome, StructureTests
from support.conformance.schema_runner import SchemaTests

_ML_21 = "application/vnd.sdmx.structure+xml;version=2.1"


def run_tests(address: str) -> dict[str, list[Outcome]]:
    """Return the outcomes of the tests against the service at an address, by set of tests."""
    with plain_http.Client() as client:

        def fetching(base: str) -> Fetch:
            def fetch(path: str, accept: str) -> Answer:
                found = client.get(f"{address}{base}/{path}", headers={"Accept": accept})
                return Answer(found.status_code, found.headers.get("content-type", ""), found.content)

            return fetch

        in_1, in_2 = fetching("/sdmx/v1"), fetching("/sdmx/v2")
        return {
            "structures, 1.x": list(StructureTests(in_1, address_in_1).run()),
            "structures, 2.x": list(StructureTests(in_2, address_in_2, _ML_21, NOT_IN_2).run()),
            "schemas, 1.x": list(SchemaTests(in_1).run()),
        }
