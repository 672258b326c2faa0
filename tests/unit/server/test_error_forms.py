"""Errors in the form that the client reads: a page for browsers, a message of SDMX for its clients, or JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from starlette.applications import Starlette
from starlette.routing import Mount

from kafka_replica import Replica
from kafka_replica.sdmx import Format, Structures, write_message
from kafka_replica.server import ServerSettings, create_app
from kafka_replica.server.errors.problems import busy
from kafka_replica.server.rest import RestAnswer, RestRequest
from kafka_replica.testing import FakeTopic
from support.sdmx.conversions import schema_faults
from support.server.app_tools import client_of
from support.server.html_tools import BROWSER, page_at
from support.server.registry import codelist

LIST = codelist("Codelist ECB:CL_FREQ(1.0)", "A M")
GONE = "/version/1/sdmx/v2/structure/codelist/ECB/CL_FREQ/1.0"
FORMATS = (Format.SDMX_JSON_1_0, Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1, Format.SDMX_ML_2_1, Format.SDMX_ML_3_0)


@pytest.fixture
def replica() -> Iterator[Replica]:
    """A replica with a codelist, whose first version is gone."""
    topic = FakeTopic()
    with topic.replica(kept_versions=1) as replica:
        for _ in range(3):
            data = write_message(LIST, Format.SDMX_JSON_2_0)
            topic.put(str(LIST.urn), data, headers=(("content-type", str(Format.SDMX_JSON_2_0).encode()),))
            replica.wait_for(topic.end(), 30)
        yield replica


def overloaded(_request: RestRequest, _structures: Structures) -> RestAnswer:
    """Fail as if too many requests were in progress."""
    raise busy("try again")


def codes_of(format_: Format, body: bytes) -> list[str]:
    """Return the codes of an error message, which is valid by its official schema."""
    assert schema_faults(format_, body) == []
    if format_ in {Format.SDMX_ML_2_1, Format.SDMX_ML_3_0}:
        return [str(element.get("code")) for element in etree.fromstring(body).iter("{*}ErrorMessage")]
    return [str(one["code"]) for one in json.loads(body)["errors"]]


@pytest.mark.thorough
@pytest.mark.parametrize("format_", FORMATS)
def test_clients_of_the_api_get_messages_of_sdmx_wherever_an_error_arises(
    replica: Replica, tmp_path: Path, format_: Format
) -> None:
    """The gate, routes, limits and the load: the status stays, the code is the standard's, other headers are kept."""
    tokens = tmp_path / "tokens"
    tokens.write_text(f"read {hashlib.sha256(b'secret').hexdigest()} Ada\n")
    open_, closed = create_app(replica), create_app(replica, ServerSettings(tokens_file=tokens))
    path, host = "/sdmx/v2/structure/codelist", {"Host": "evil.example"}
    cases: list[tuple[Starlette, str, dict[str, str], int, str]] = [
        (open_, path, host, 400, "140"),
        (closed, path, {}, 401, "110"),
        (open_, GONE, {}, 410, "150"),
        (open_, f"{path}?x={'x' * 9000}", {}, 414, "140"),
        (create_app(replica, answer=overloaded), path, {}, 503, "503"),
    ]
    for app, target, headers, status, code in cases:
        found = client_of(app).get(target, headers={"Accept": str(format_), **headers})
        assert found.status_code == status, found.text
        expected = str(status) if format_ is Format.SDMX_JSON_2_1 else code
        assert codes_of(format_, found.content) == [expected], (status, found.text)
        assert int(found.headers["content-length"]) == len(found.content)
        assert "Accept" in found.headers["vary"]
        assert found.headers.get("retry-after") == ("1" if status == 503 else None)
        assert ("www-authenticate" in found.headers) == (status == 401)


@pytest.mark.thorough
def test_the_default_format_is_that_of_the_version_of_the_api(replica: Replica) -> None:
    """Without a preference: SDMX-JSON in 2.x, SDMX-ML in 1.x, also below the path of another app."""
    mounted = Starlette(routes=[Mount("/mine", create_app(replica))])
    for app, before in ((create_app(replica), ""), (mounted, "/mine")):
        client = client_of(app)
        host = {"Host": "evil.example"}
        assert client.get(f"{before}/sdmx/v2/structure/codelist", headers=host).json()["errors"][0]["code"] == 400
        assert client.get(f"{before}/sdmx/v1/codelist", headers=host).content.startswith(b"<?xml")
        assert client.get(f"{before}/ws/public/sdmxapi/rest/codelist", headers=host).content.startswith(b"<?xml")


@pytest.mark.parametrize("before", ["", "/version/1"])
@pytest.mark.parametrize("base", ["/sdmx/v1", "/sdmx/v2", "/ws/public/sdmxapi/rest"])
def test_a_base_path_alone_is_answered_like_one_with_a_slash(replica: Replica, base: str, before: str) -> None:
    """The answer is a message of SDMX; a slash at the end makes no difference."""
    client = client_of(create_app(replica))
    alone, with_slash = client.get(before + base), client.get(f"{before}{base}/")
    assert (alone.status_code, alone.content) == (with_slash.status_code, with_slash.content)
    assert alone.status_code == (410 if before else 400)
    posted = client.post(before + base)
    assert posted.status_code == 405
    for one in (alone, posted):
        assert "problem" not in one.headers["content-type"]


@pytest.mark.thorough
def test_problem_details_are_for_all_other_programs(replica: Replica) -> None:
    """Outside of the API, and for clients that name the media type of problem details."""
    client = client_of(create_app(replica))
    named, api = "application/json, application/problem+json", "/sdmx/v2/structure/codelist"
    for path, accept, status in (
        ("/nothing", "*/*", 404), ("/version/1/structures", "*/*", 410), (GONE, "application/problem+json", 410),
        (f"{api}/ECB/NONE", named, 404), (f"{api}?detail=x", named, 400), (api, "application/problem+json", 406),
    ):  # fmt: skip
        found = client.get(path, headers={"Accept": accept})
        assert found.headers["content-type"] == "application/problem+json", path
        assert (found.status_code, found.json()["status"]) == (status, status)
    assert client.get(f"{api}/ECB/CL_FREQ", headers={"Accept": named}).json()["data"]["codelists"]


@pytest.mark.parametrize("accept", ["text/html", "application/problem+json", "application/json"])
def test_errors_of_the_api_name_their_version_in_every_form(replica: Replica, accept: str) -> None:
    """Pages and problem details have the headers that messages of SDMX have, and are cached by format."""
    found = client_of(create_app(replica)).get("/sdmx/v2/structure/codelist?detail=x", headers={"Accept": accept})
    assert found.status_code == 400
    assert found.headers["kafka-replica-version"] == f"{replica.snapshot().version}.{replica.incarnation}"
    assert found.headers["kafka-replica-position"].startswith("fake-0@")
    named = found.headers["vary"].split(", ")
    assert named.count("Accept") == 1
    assert len(set(named)) == len(named)


@pytest.mark.parametrize(
    ("target", "status", "text"),
    [
        ("/sdmx/v2/structure/codelist/ECB/NONE", 404, "has nothing that matches the query"),
        ("/sdmx/v2/structure/codelist/ECB/CL_FREQ/1.0?format=x", 406, "of the requested formats is offered"),
        ("/sdmx/v2/structure/codelist?detail=x", 400, "its values in v2 are"),
        ("/sdmx/v2/data", 501, "only structure queries"),
        (GONE, 410, "no longer kept"),
    ],
)
def test_a_browser_gets_a_page_for_every_error_of_the_api(
    replica: Replica, target: str, status: int, text: str
) -> None:
    """The page has the text of the message; an answer with structures is the same for a browser."""
    app = create_app(replica)
    assert text in page_at(client_of(app), target, status).text
    message: Any = client_of(app).get(target, headers={"Accept": "application/json"}).json()
    assert text in message["errors"][0]["detail"]
    found = client_of(app).get("/sdmx/v2/structure/codelist/ECB/CL_FREQ/1.0", headers=BROWSER)
    assert found.status_code == 200
    assert "html" not in found.headers["content-type"]
