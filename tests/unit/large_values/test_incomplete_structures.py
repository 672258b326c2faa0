"""Structures of which one is an incomplete large value: it is unreadable, and everything else is answered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from starlette.testclient import TestClient

from kafka_replica import Replica
from kafka_replica.large_values import LargeValueSnapshot, is_chunk_key
from kafka_replica.producer import LargeValueProducer
from kafka_replica.sdmx import Codelist, Format, LiveStructures, MessageError, Structures, write_message
from kafka_replica.server import create_app
from kafka_replica.server.rest.answered_inline import MAX_INLINE_BYTES
from kafka_replica.server.routes.sdmx import _size_of
from kafka_replica.testing import FakeTopic
from support.server.app_tools import client_of
from support.server.page_topic import small_codelist

WAIT_S = 30.0
BROKEN, WHOLE = small_codelist("BROKEN", {"en": "apple"}), small_codelist("WHOLE", {"en": "pear"})


class World(NamedTuple):
    """A topic with two codelists of several chunks, of which the last one of BROKEN is missing in the last version."""

    topic: FakeTopic
    replica: Replica
    client: TestClient


def put(topic: FakeTopic, replica: Replica, *codelists: Codelist) -> None:
    """Write codelists in one transaction, and wait until the replica has them."""
    producer = LargeValueProducer(topic.producer(), replica, chunk_bytes=500)
    with producer.transaction() as transaction:
        for one in codelists:
            value = write_message(one, Format.SDMX_JSON_2_0)
            transaction.put(bytes(one.urn), value, (("content-type", str(Format.SDMX_JSON_2_0).encode()),))
    replica.wait_for(topic.end(), WAIT_S)


def break_value(topic: FakeTopic, replica: Replica, codelist: Codelist) -> None:
    """Delete a chunk of a codelist outside of any transaction."""
    snapshot = replica.snapshot()
    assert isinstance(snapshot, LargeValueSnapshot)
    chunks = sorted(key for key in snapshot.records if is_chunk_key(key) and key.startswith(bytes(codelist.urn)))
    topic.delete(chunks[-1])
    replica.wait_for(topic.end(), WAIT_S)


@pytest.fixture
def world() -> Iterator[World]:
    """A service over such a topic."""
    topic = FakeTopic()
    with topic.replica(large_values=True, kept_versions=5) as replica:
        put(topic, replica, BROKEN, WHOLE)
        break_value(topic, replica, BROKEN)
        yield World(topic, replica, client_of(create_app(replica)))


@pytest.mark.parametrize("companions", [True, False])
def test_an_incomplete_value_is_an_unreadable_structure(world: World, companions: bool) -> None:
    """Queries list the structure with the reason, other structures are read, and a new value repairs it."""
    live = LiveStructures(world.replica, companions=companions)
    structures = live.structures()
    assert sorted(structures) == [BROKEN.urn, WHOLE.urn]
    assert structures.get(WHOLE.urn) == WHOLE
    with pytest.raises(MessageError, match=r"chunk \d of \d is missing; publish the value again"):
        structures.get(BROKEN.urn)
    assert list(structures.parents(WHOLE.urn).unreadable) == [BROKEN.urn]
    put(world.topic, world.replica, BROKEN)
    assert live.structures().get(BROKEN.urn) == BROKEN
    assert live.structures().parents(WHOLE.urn).is_complete


def test_a_value_that_arrives_incomplete_replaces_one_that_was_read(world: World) -> None:
    """A structure that was read before becomes unreadable, and is still listed."""
    live = LiveStructures(world.replica)
    live.prepare()
    put(world.topic, world.replica, BROKEN)
    assert live.structures().get(BROKEN.urn) == BROKEN
    world.topic.put(bytes(BROKEN.urn), b"{}", (("large-value", b"manifest/1"),))
    world.replica.wait_for(world.topic.end(), WAIT_S)
    assert sorted(live.structures()) == [BROKEN.urn, WHOLE.urn]
    assert list(live.structures().parents(WHOLE.urn).unreadable) == [BROKEN.urn]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("path", "contents"),
    [
        ("/structures", ["BROKEN", "WHOLE"]),
        ("/structures?q=pear", ["WHOLE"]),
        ("/structures/Codelist/MANY/WHOLE/1.0", ["pear"]),
        ("/structures/Codelist/MANY/BROKEN/1.0", ["is missing"]),
        ("/sdmx/v2/structure/codelist/MANY/WHOLE/1.0?references=parents", ["pear"]),
    ],
)
def test_pages_and_queries_for_others_are_answered(world: World, path: str, contents: list[str]) -> None:
    """The explorer, its search, the pages of all structures, and queries for references have no error."""
    answer = world.client.get(path, headers={"Accept": "text/html, application/json;q=0.9"})
    assert answer.status_code == 200
    assert all(text in answer.text for text in contents)


def test_a_query_for_an_incomplete_value_is_an_error_that_is_explained(world: World) -> None:
    """The answer names the missing chunk, without or with references that are known."""
    for _ in range(2):
        answer = world.client.get("/sdmx/v2/structure/codelist/MANY/BROKEN/1.0")
        assert "is missing" in answer.text
        world.client.get("/sdmx/v2/structure/codelist/MANY/WHOLE/1.0?references=parents")


def test_versions_with_an_incomplete_value_are_compared(world: World) -> None:
    """Whole values are compared by content, incomplete ones by their manifests."""
    broken = world.replica.snapshot()
    put(world.topic, world.replica, WHOLE)
    assert len(world.replica.diff(broken)) == 0
    put(world.topic, world.replica, BROKEN)
    assert world.replica.diff(broken).changed == (bytes(BROKEN.urn),)


def test_a_large_value_is_not_assembled_to_know_its_size(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large value, complete or not, counts as too large to be answered in the event loop."""
    world.topic.put("small", b"value")
    snapshot = world.replica.wait_for(world.topic.end(), WAIT_S)
    assert (_size_of(snapshot, "small"), _size_of(snapshot, "missing")) == (5, None)
    monkeypatch.setattr("kafka_replica.large_values.snapshot.assemble", None)
    assert {_size_of(snapshot, str(one.urn)) for one in (WHOLE, BROKEN)} == {MAX_INLINE_BYTES + 1}


def test_structures_of_one_version_find_the_key_of_an_incomplete_value(world: World) -> None:
    """A look-up without an index says why the value cannot be read, not that it is missing."""
    structures = Structures(world.replica.snapshot())
    assert structures.locate(BROKEN.urn) == BROKEN.urn
    assert structures.locate(WHOLE.urn.of("Codelist", "MANY", "OTHER", "1.0")) is None
