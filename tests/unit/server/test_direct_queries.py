"""The shortcut past the router: its answers are those of the routes, and it takes no other requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount, Router

from kafka_replica import Replica
from kafka_replica.server import ServerSettings, create_app
from kafka_replica.testing import FakeTopic
from support.server.app_tools import URN, client_of, stand_in

ROUTED = "/sdmx/v2/structure/codelis%74/SDMX/CL_A/1.0"
DIRECT = ROUTED.replace("%74", "t")
LIST = (
    b'{"data": {"codelists": [{"id": "CL_A", "agencyID": "SDMX", "version": "1.0", "name": "x", '
    b'"codes": [{"id": "C", "name": "y"}]}]}}'
)


@pytest.fixture
def replica() -> Iterator[Replica]:
    """A replica with one codelist."""
    topic = FakeTopic()
    topic.put(URN.format("A"), LIST)
    with topic.replica() as replica:
        replica.wait_ready(30)
        yield replica


@pytest.fixture
def routed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the requests that reach the router."""
    paths: list[str] = []
    route = Router.__call__

    async def noted(self: Router, scope: Any, receive: Any, send: Any) -> None:
        paths.append(scope["path"])
        await route(self, scope, receive, send)

    monkeypatch.setattr(Router, "__call__", noted)
    return paths


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (DIRECT, {}),
        (DIRECT, {"Accept": "application/xml"}),
        (f"{DIRECT}?references=all", {"Accept-Encoding": "gzip"}),
        (f"{DIRECT}?nonsense=1", {}),
        (DIRECT.replace("CL_A", "CL_MISSING"), {"Accept": "text/html"}),
        (DIRECT.replace("structure", "data"), {"Accept": "application/problem+json"}),
    ],
)
def test_an_answer_is_that_of_the_route(
    replica: Replica, routed: list[str], method: str, path: str, headers: dict[str, str]
) -> None:
    """Status, headers and body are equal, also of errors; only the route's request reaches the router."""
    client = client_of(create_app(replica))
    found = client.request(method, path, headers=headers)
    assert routed == []
    wanted = client.request(method, path.replace("codelist", "codelis%74"), headers=headers)
    assert len(routed) == 1
    differing = {"x-request-id"} | ({"etag"} if found.status_code == 200 else set())  # the tag depends on the path
    assert (found.status_code, found.content) == (wanted.status_code, wanted.content)
    assert {name: value for name, value in found.headers.items() if name not in differing} == {
        name: value for name, value in wanted.headers.items() if name not in differing
    }


def test_a_version_that_is_not_there_yet_is_a_problem_of_both() -> None:
    """Before the first version, an answer can be requested again later."""
    topic = FakeTopic()
    with topic.outage(), topic.replica(stalled_after_s=1000) as replica:
        client = client_of(create_app(replica))
        for path in (DIRECT, ROUTED):
            found = client.get(path)
            assert (found.status_code, found.headers["retry-after"]) == (503, "1")
            assert "no version yet" in found.json()["errors"][0]["detail"]


@pytest.mark.parametrize("path", ["/", "/sdmx/v2", "/sdmx/v3/structure", "/version/1/sdmx/v2/structure", ROUTED])
def test_other_requests_are_left_to_the_router(replica: Replica, routed: list[str], path: str) -> None:
    """Requests of other paths, of pinned versions and with an encoded path take their routes."""
    client_of(create_app(replica)).get(path)
    assert len(routed) == 1


@pytest.mark.parametrize("place", ["/my", "/sdmx/v2"])
def test_an_app_below_the_path_of_another_one_is_left_to_the_router(
    place: str, replica: Replica, routed: list[str]
) -> None:
    """The path after the base path then depends on where the app is mounted, also if that is named like a base path."""
    mounted = Starlette(routes=[Mount(place, create_app(replica, answer=stand_in))])
    assert client_of(mounted).get(f"{place}{DIRECT}").json()["path"] == DIRECT.removeprefix("/sdmx/")
    assert len(routed) == 2


def test_the_first_fitting_base_path_counts(replica: Replica) -> None:
    """The order of the settings decides, as for the routes."""
    settings = ServerSettings(base_paths=("/rest", "/rest/v2"))
    client = client_of(create_app(replica, settings, answer=stand_in))
    assert client.get("/rest/v2/structure").json()["path"] == "v2/structure"
    reversed_settings = ServerSettings(base_paths=("/rest/v2", "/rest"))
    client = client_of(create_app(replica, reversed_settings, answer=stand_in))
    assert client.get("/rest/v2/x").json()["path"] == client.get("/rest/v2/%78").json()["path"].replace("%78", "x")


def test_answers_are_counted_under_the_name_of_the_route(replica: Replica) -> None:
    """The metrics do not show which way a request took."""
    client = client_of(create_app(replica))
    for path in (DIRECT, ROUTED):
        client.get(path)
    counts = client.get("/metrics").text
    assert 'kafka_replica_http_requests_total{method="GET",route="sdmx",status="200"} 2.0' in counts
