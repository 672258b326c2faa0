"""Records over HTTP: the keys of a version, and the stored value of each, whatever it is."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, unquote, urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from kafka_replica import Replica
from kafka_replica.history import VersionHistory
from kafka_replica.server import ServerSettings, create_app
from kafka_replica.testing import FakeKafka, FakeTopic
from support.core.rocks_tools import new_folder
from support.server.app_tools import client_of
from support.waiting import wait_until

JSON = (("content-type", b"application/json"),)


@pytest.fixture
def topic() -> FakeTopic:
    """A topic with three terminals."""
    topic = FakeTopic("terminals")
    for number in range(3):
        topic.put(f"T{number}", b'{"merchant":"%d"}' % number, JSON)
    return topic


@pytest.fixture
def replica(topic: FakeTopic) -> Iterator[Replica]:
    """A replica that keeps two versions in addition to the current one."""
    with topic.replica(kept_versions=2) as replica:
        replica.wait_ready(30)
        yield replica


@pytest.fixture
def client(replica: Replica) -> TestClient:
    """A client of the service over the replica."""
    return client_of(create_app(replica))


def every_page(client: TestClient, path: str) -> list[Any]:
    """Return the keys of all pages."""
    keys: list[Any] = []
    following: str | None = ""
    while following is not None:
        page = client.get(path)
        assert page.status_code == 200, page.text
        keys += page.json()["keys"]
        following = page.json()["next"]
        path = urljoin(path, following or "")
    return keys


def test_a_value_is_answered_as_it_is_stored(replica: Replica, client: TestClient) -> None:
    """The media type is that of the record's header, and further headers name version, position and place."""
    found = client.get("/records/T1")
    assert (found.status_code, found.content) == (200, b'{"merchant":"1"}')
    assert found.headers["content-type"] == "application/json"
    assert found.headers["kafka-replica-record"] == "terminals-0@1"
    assert found.headers["kafka-replica-version"] == f"{replica.snapshot().version}.{replica.incarnation}"
    assert found.headers["kafka-replica-position"] == "terminals-0@3"
    head = client.head("/records/T1")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", "16")
    for path in ("/records/T9", "/records/T1/", "/records/t1"):
        assert client.get(path).status_code == 404


def test_the_entity_tag_depends_on_the_value_alone(topic: FakeTopic, replica: Replica, client: TestClient) -> None:
    """Later versions with the same value are answered with 304; another value or media type is not."""
    tag = client.get("/records/T1").headers["etag"]
    replica.wait_for(topic.put("T2", b"other"), 30)
    known = client.get("/records/T1", headers={"If-None-Match": f'"x", {tag}'})
    assert (known.status_code, known.content, known.headers["etag"]) == (304, b"", tag)
    assert client.get("/records/T1", headers={"If-None-Match": "*"}).status_code == 304
    replica.wait_for(topic.put("T1", b'{"merchant":"1"}'), 30)
    changed = client.get("/records/T1", headers={"If-None-Match": tag})
    assert (changed.status_code, changed.headers["content-type"]) == (200, "application/octet-stream")


def test_a_long_value_is_compressed_on_request(topic: FakeTopic, replica: Replica, client: TestClient) -> None:
    """Its tag is weak then, and known with and without compression."""
    replica.wait_for(topic.put("long", b'"' + b"x" * 5_000 + b'"', JSON), 30)
    packed = client.get("/records/long", headers={"Accept-Encoding": "gzip"})
    plain = client.get("/records/long", headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content
    assert packed.headers["etag"] == f"W/{plain.headers['etag']}"
    for known in (packed, plain):
        tag, encoding = known.headers["etag"], known.headers.get("content-encoding", "identity")
        again = client.get("/records/long", headers={"If-None-Match": tag, "Accept-Encoding": encoding})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert not again.headers.keys() & {"content-type", "content-length", "content-encoding"}


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (b"text/csv; charset=utf-8", "text/csv; charset=utf-8"),
        (b'application/vnd.sdmx.structure+json;version="2.0.0"', 'application/vnd.sdmx.structure+json;version="2.0.0"'),
        *(
            (bad, "application/octet-stream")
            for bad in (
                b"a/" + b"b" * 254,
                b"",
                b"json",
                b"a/b\r\nx: y",
                b"a/b; c",
                "ä/b".encode(),
                b"a/b;c=\0",
                b"a/b\nc/d",
            )
        ),
    ],
)
def test_only_a_media_type_becomes_a_header(
    topic: FakeTopic, replica: Replica, client: TestClient, named: bytes, expected: str
) -> None:
    """A producer writes whatever it wants into the header of a record."""
    replica.wait_for(topic.put("k", b"v", (("content-type", named),)), 30)
    found = client.get("/records/k")
    assert (found.status_code, found.content, found.headers["content-type"]) == (200, b"v", expected)


@pytest.mark.thorough
@given(
    st.dictionaries(st.binary(min_size=1, max_size=8), st.binary(max_size=8), min_size=1, max_size=8),
    st.integers(1, 4),
)
def test_any_key_is_listed_and_found(values: dict[bytes, bytes], limit: int) -> None:
    """Pages have all keys in the order of their bytes; keys in paths are the bytes that were sent."""
    topic = FakeTopic("any")
    with topic.transaction() as transaction:
        for key, value in values.items():
            transaction.put(key, value)
    with topic.replica() as replica:
        replica.wait_ready(30)
        client = client_of(create_app(replica))
        keys = every_page(client, f"/records?limit={limit}")
        assert [key.encode() if isinstance(key, str) else b64decode(key["base64"]) for key in keys] == sorted(values)
        for key in values.keys() - {b".", b".."}:  # clients remove these from paths
            found = client.get(f"/records/{quote(key, safe='')}")
            assert (found.status_code, found.content) == (200, values[key]), key


def test_an_app_that_is_mounted(replica: Replica) -> None:
    """The path of the other app does not belong to the key."""
    client = client_of(Starlette(routes=[Mount("/my records", create_app(replica))]))
    assert every_page(client, "/my%20records/records?limit=1") == ["T0", "T1", "T2"]
    assert client.get("/my%20records/records/T%31").content == b'{"merchant":"1"}'


def test_keys_are_listed_by_prefix(client: TestClient) -> None:
    """The pages name their version; a page without keys is the last one."""
    assert every_page(client, "/records?prefix=T&limit=2") == ["T0", "T1", "T2"]
    assert every_page(client, "/records/?prefix=T1") == ["T1"]
    assert client.get("/records?prefix=X").json() == {"version": 1, "keys": [], "next": None}
    assert client.get("/records?after=T1").json()["keys"] == ["T2"]


@pytest.mark.thorough
def test_pinned_and_past_versions(topic: FakeTopic, replica: Replica) -> None:
    """A value of an earlier version is answered as long as it is kept, by its path or by asOf."""
    client = client_of(create_app(replica))
    for number in range(3):
        replica.wait_for(topic.put("T0", b"%d" % number), 30)
    newest = replica.snapshot().version
    for path in (f"/version/{newest - 1}/records/T0", f"/records/T0?asOf={newest - 1}"):
        found = client.get(path)
        assert (found.content, found.headers["kafka-replica-version"]) == (b"1", f"{newest - 1}.{replica.incarnation}")
    assert client.get(f"/version/{newest - 1}/records").json()["version"] == newest - 1
    assert client.get("/version/1/records/T0").status_code == 410
    assert client.get("/version/99/records").status_code == 404
    assert client.get("/records/T0?asOf=2026-01-01").status_code == 422
    assert "history" in client.get("/records/T0?asOf=2026-01-01").json()["detail"]


def test_before_the_first_version_the_service_is_not_ready_for_the_past_either(topic: FakeTopic) -> None:
    """A client tries again after 503; after 422 it would not."""
    replica = topic.replica()  # not started
    client = client_of(create_app(replica))
    for path in ("/records", "/records/T0", "/records?asOf=1", "/records/T0?asOf=1", "/version/1/records"):
        assert client.get(path).status_code == 503, path
    replica.close()


def test_an_instant_of_the_history(topic: FakeTopic) -> None:
    """With a history on disk, asOf may be an instant."""
    with new_folder() as folder, topic.replica() as replica, VersionHistory(folder / "h").follow(replica) as history:
        client = client_of(create_app(replica, history=history))
        replica.wait_for(topic.put("T0", b"old"), 30)
        instant = quote(datetime.now(UTC).isoformat())
        wait_until(lambda: datetime.now(UTC).isoformat(timespec="milliseconds") > unquote(instant))
        replica.wait_for(topic.put("T0", b"new"), 30)
        assert client.get(f"/records/T0?asOf={instant}").content == b"old"
        assert client.get("/records/T0").content == b"new"


@pytest.mark.thorough
def test_topics_with_keys_of_their_own(client: TestClient) -> None:
    """The topic is named then, and only then."""
    kafka = FakeKafka()
    for name in ("codes", "flows"):
        kafka.topic(name).put("k", name.encode())
    with kafka.replica("codes", "flows") as replica:
        replica.wait_ready(30)
        both = client_of(create_app(replica, topic="codes"))
        for name in ("codes", "flows"):
            assert both.get(f"/records/k?topic={name}").text == name
            assert both.get(f"/records?topic={name}").json()["keys"] == ["k"]
        assert both.get("/records/k").status_code == 400
        assert both.get("/records?topic=other").status_code == 404
    assert client.get("/records/T1?topic=terminals").status_code == 400


@pytest.mark.parametrize(
    "path",
    [
        "/records?limit=0",
        "/records?limit=10001",
        "/records?limit=x",
        f"/records?limit={'9' * 30}",
        "/records?start=T",
        "/records/T1?after=T0",
    ],
)
def test_wrong_parameters_are_refused(client: TestClient, path: str) -> None:
    """A misspelt parameter would otherwise give all keys."""
    assert client.get(path).status_code == 400


@pytest.mark.parametrize("path", ["/%72ecords/T1", "/version/1/%72ecords/T1"])
def test_a_path_may_be_encoded(client: TestClient, path: str) -> None:
    """The key is what follows the decoded path, also if its last slash is encoded."""
    assert client.get(path).content == b'{"merchant":"1"}'
    assert client.get("/records%2FT1").content == b'{"merchant":"1"}'


@pytest.mark.parametrize("text", ["%C2%B2", "9" * 5_000, "x"])
def test_unusual_instants_are_refused(client: TestClient, text: str) -> None:
    """Digits of other scripts, and numbers that no version has."""
    assert client.get(f"/records/T1?asOf={text}").status_code == 422


def test_limits(topic: FakeTopic, replica: Replica) -> None:
    """A value that is larger than an answer may be is refused."""
    client = client_of(create_app(replica, ServerSettings(max_response_bytes=1_000)))
    replica.wait_for(topic.put("long", b"x" * 1_001), 30)
    assert client.get("/records/long").status_code == 413
    assert client.post("/records/long").status_code == 405
