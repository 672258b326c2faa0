"""The pages of the past: the versions of a history, and the difference of two versions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from starlette.testclient import TestClient

from kafka_replica import Replica
from kafka_replica.history import VersionHistory
from kafka_replica.server import create_app
from kafka_replica.testing import FakeTopic
from support.core.rocks_tools import new_folder
from support.server.app_tools import URN, client_of
from support.server.html_tools import page_at

HISTORY = "Versions, the newest first"
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


class World(NamedTuple):
    """A topic, its replica, and a client of a service with a history."""

    topic: FakeTopic
    replica: Replica
    client: TestClient

    def put(self, *keys: str) -> None:
        """Make a version in which these keys have a new record."""
        with self.topic.transaction() as transaction:
            for key in keys:
                transaction.put(key, b"value")
        self.replica.wait_for(self.topic.end(), 30)

    def delete(self, key: str) -> None:
        """Make a version without a key."""
        self.replica.wait_for(self.topic.delete(key), 30)

    def id_of(self, version: int) -> str:
        """Return the id of a version."""
        return f"{version}.{self.replica.incarnation}"


@pytest.fixture
def world() -> Iterator[World]:
    """A service over a topic with one key."""
    topic = FakeTopic()
    topic.put(URN.format("A"), b"a")
    with new_folder() as folder, topic.replica() as replica, VersionHistory(Path(folder)).follow(replica) as history:
        replica.wait_ready(30)
        yield World(topic, replica, client_of(create_app(replica, history=history)))


@pytest.fixture
def short_history() -> Iterator[World]:
    """A service whose replica keeps more versions than its history."""
    topic = FakeTopic()
    topic.put(URN.format("A"), b"a")
    with (
        new_folder() as folder,
        topic.replica(kept_versions=20) as replica,
        VersionHistory(Path(folder), keep_versions=2).follow(replica) as history,
    ):
        replica.wait_ready(30)
        yield World(topic, replica, client_of(create_app(replica, history=history)))


@pytest.mark.thorough
def test_the_history_shows_each_version_once_the_newest_first(world: World) -> None:
    """Following the pages reaches the first version, also while versions are made; programs get JSON."""
    for number in range(130):
        world.put(f"k{number}")
    path, seen = "/history", []
    while path:
        page = page_at(world.client, path)
        seen += page.column(HISTORY, 0)
        path = page.links.get("Next", "")
        world.put("later")
    assert seen == [world.id_of(version) for version in range(131, 0, -1)]
    assert page.column(HISTORY, 6)[-1] == ""
    assert page.links["Newest"] == "/history"
    assert page.links["Status"] == "/"
    assert world.client.get("/history").json()["versions"][0]["keys"] == 132
    page_at(world.client, "/history?start=x", 400)


def test_a_larger_page_than_possible_is_refused(world: World) -> None:
    """A program that received fewer versions than it requested would take them for all."""
    refused = world.client.get("/history?limit=1001")
    assert (refused.status_code, refused.json()["detail"]) == (400, "limit must be a whole number from 1 to 1,000")
    assert world.client.get("/history?limit=1000").status_code == 200


@pytest.mark.parametrize("text", ["x", "0", "-1", "1.5", "9" * 19, "1" + "0" * 5000])
@pytest.mark.parametrize("name", ["start", "limit"])
def test_a_number_that_no_version_can_have_is_refused(name: str, text: str, world: World) -> None:
    """Programs get 400, however long the number is."""
    assert world.client.get("/history", params={name: text}).status_code == 400


@pytest.mark.parametrize("path", ["/history", "/history/"])
def test_the_address_of_the_next_versions_keeps_the_limit(path: str, world: World) -> None:
    """A program that follows the relative addresses gets as many versions each time as it requested first."""
    for number in range(4):
        world.put(f"k{number}")
    address, sizes = f"{path}?limit=2", []
    while address:
        page = world.client.get(address)
        sizes.append(len(page.json()["versions"]))
        address = page.json()["next"] and str(page.url.join(page.json()["next"]))
    assert sizes == [2, 2, 1]
    assert world.client.get("/history").json()["next"] is None


@pytest.mark.thorough
def test_changes_are_listed_with_links_into_the_version_that_has_them(world: World) -> None:
    """Deleted keys lead to the version before; hostile keys are text."""
    world.put(URN.format("B"), HOSTILE)
    world.delete(URN.format("A"))
    one, three = world.id_of(1), world.id_of(3)
    page = page_at(world.client, "/diff/1/3")
    assert list(zip(page.column("Changes", 0), page.column("Changes", 1), strict=True)) == [
        ("added", HOSTILE), ("added", URN.format("B")), ("deleted", URN.format("A")),
    ]  # fmt: skip
    assert page.links[URN.format("B")] == f"/version/{three}/structures/Codelist/SDMX/CL_B/1.0"
    assert page.links[URN.format("A")] == f"/version/{one}/structures/Codelist/SDMX/CL_A/1.0"
    assert page.links["The other way round"] == f"/diff/{three}/{one}"
    assert "2 added, 0 changed, 1 deleted." in " ".join(page.text.split())
    assert page_at(world.client, "/diff?before=1&after=3").links == page.links
    latest = page_at(world.client, "/history").links
    assert latest[f"Changes since {world.id_of(2)}"] == f"/diff/{world.id_of(2)}/{three}"
    assert world.client.get("/diff/1/3").json()["deleted"] == [URN.format("A")]
    assert "Changes from version 3 to 1" in page_at(world.client, f"/version/1/diff/{three}/{one}").text
    for path, status in (("/diff/1/9", 404), ("/diff/x/1", 404), ("/diff?before=1", 404), ("/diff/1.other/3", 410)):
        page_at(world.client, path, status)


@pytest.mark.thorough
def test_versions_that_only_the_replica_keeps_are_compared(short_history: World) -> None:
    """Programs and browsers get the difference of versions in memory, and of one that the history keeps, too."""
    world = short_history
    for number in range(4):
        world.put(f"k{number}")
    assert [each["version"] for each in world.client.get("/history").json()["versions"]] == [
        world.id_of(version) for version in (5, 4)
    ]
    for before, after, added in ((2, 3, ["k1"]), (3, 5, ["k2", "k3"]), (4, 5, ["k3"])):
        assert world.client.get(f"/diff/{before}/{after}").json()["added"] == added
        assert world.client.get(f"/diff/{after}/{before}").json()["deleted"] == added
        assert page_at(world.client, f"/diff/{before}/{after}").column("Changes", 1) == added
    for version in ("9", world.id_of(9)):
        missing = world.client.get(f"/diff/5/{version}")
        assert missing.status_code == 404
        text = missing.json()["detail"]
        assert text.startswith(f"version {version} does not exist; the current version is 5, and the history keeps ")
        assert re.search(r"keeps version 4 of \S+ to version 5 of ", text)


@pytest.mark.thorough
def test_following_the_pages_of_changes_shows_each_key_once(world: World) -> None:
    """The pages are in order, and stay between the two versions."""
    keys = sorted(f"k{number:04}" for number in range(450))
    world.put(*keys)
    path, seen = "/diff/1/2", []
    while path:
        page = page_at(world.client, path)
        seen += page.column("Changes", 1)
        path = page.links.get("Next", "")
        world.put(keys[0])
    assert seen == keys


@pytest.mark.thorough
def test_pinned_pages_of_the_past_stay_pinned(world: World) -> None:
    """The banner names the version, and links stay in it."""
    world.put("k")
    page = page_at(world.client, "/version/1/history")
    assert "Pinned to version 1" in page.text
    assert page.links["Structures"] == f"/version/{world.id_of(1)}/structures"
    assert page.links["Show the current version"] == "/history"


@pytest.mark.thorough
def test_the_page_without_a_history_explains_how_to_keep_one(world: World) -> None:
    """The difference of versions that the replica keeps is a page all the same."""
    client = client_of(create_app(world.replica))
    assert "history_path" in page_at(client, "/history", 501).text
    assert "History" not in page_at(client, "/").links
    world.put("k")
    assert page_at(client, "/diff/2/2").column("Changes", 0) == []


@pytest.mark.thorough
def test_versions_of_an_earlier_incarnation_keep_their_own_structures() -> None:
    """After a restart without a store, numbers begin again: a kept version is not the current one of equal number."""
    topic = FakeTopic()
    topic.put(URN.format("A"), codelist_message("OLD"))
    with new_folder() as folder:
        with topic.replica() as replica, VersionHistory(Path(folder)).follow(replica):
            replica.wait_ready(30)
            old, then = replica.incarnation, datetime.now(UTC).isoformat().replace("+00:00", "Z")
            assert replica.snapshot().version == 1
        topic.put(URN.format("A"), codelist_message("NEW"))
        with topic.replica() as replica, VersionHistory(Path(folder)).follow(replica) as history:
            replica.wait_ready(30)
            assert replica.snapshot().version == 1
            client = client_of(create_app(replica, history=history))
            path = "/sdmx/v2/structure/codelist/SDMX/CL_A/1.0"
            for address, code in ((path, "NEW"), (f"/version/1.{old}{path}", "OLD"), (f"{path}?asOf={then}", "OLD")):
                codes = client.get(address).json()["data"]["codelists"][0]["codes"]
                assert [each["id"] for each in codes] == [code], address
            page = page_at(client, f"/version/1.{old}/structures/Codelist/SDMX/CL_A/1.0").text
            assert "OLD" in page
            assert "NEW" not in page


def codelist_message(code: str) -> bytes:
    """Return a message with a codelist that has one code."""
    codelist = {"id": "CL_A", "agencyID": "SDMX", "version": "1.0", "name": "x", "codes": [{"id": code, "name": code}]}
    return json.dumps({"data": {"codelists": [codelist]}}).encode()
