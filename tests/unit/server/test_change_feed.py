"""The feed of changes: exact, resumable, bounded for slow clients, and ended at shutdown."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kafka_replica import Replica
from kafka_replica.errors import BadRecordError, ConfigurationError
from kafka_replica.server import ServerSettings
from kafka_replica.server.answers.versions import VersionId
from kafka_replica.server.app import Service
from kafka_replica.testing import FakeTopic
from support.effort import examples
from support.server.app_tools import Event, opened, stand_in

Contents = dict[str, bytes | None]


def service_of(replica: Replica, **options: Any) -> Service:
    """Return the service of a replica."""
    return Service(replica, ServerSettings(allowed_hosts=("*",), **options), answer=stand_in)


def write(topic: FakeTopic, choose: random.Random) -> None:
    """Write a transaction that puts and deletes some of a few keys."""
    with topic.transaction() as transaction:
        for number in choose.sample(range(8), choose.randint(1, 4)):
            if choose.random() < 0.3:
                transaction.delete(f"key {number}")
            else:
                transaction.put(f"key {number}", str(choose.random()).encode())


class Copy:
    """A client's copy, made of events alone; values come from the pinned version of each event."""

    def __init__(self, replica: Replica) -> None:
        self._replica = replica
        self.last_id = ""
        self.contents: Contents = {}
        self.versions: list[int] = []
        self.resets = 0

    def take(self, event: Event) -> None:
        """Apply an event, and compare the copy with the replica's own version."""
        snapshot = self._replica.at(event.data["version"])
        if event.name == "reset":
            self.contents, self.resets = {}, self.resets + 1
        else:
            assert event.data["version"] == self.versions[-1] + event.data.get("conflated", 1)
        for key in event.data["changed"]:
            self.contents[key] = snapshot[key].value
        for key in event.data["deleted"]:
            del self.contents[key]
        self.last_id = event.id
        self.versions.append(event.data["version"])
        assert self.contents == {key.decode(): record.value for key, record in snapshot.items()}
        assert event.data["position"] == snapshot.position.as_json()
        assert event.id == f"{event.data['version']}.{event.data['incarnation']}"


@pytest.mark.thorough
@hypothesis_settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 2**32), recent=st.sampled_from([0, 3, 1000]))
def test_a_client_that_reconnects_at_random_has_every_version_exactly(seed: int, recent: int) -> None:
    """Each event leads from one exact version to the next; with enough recent changes nothing is sent twice."""
    choose, topic = random.Random(seed), FakeTopic()

    async def follow(replica: Replica) -> Copy:
        app, copy = service_of(replica).app, Copy(replica)
        for _ in range(6):
            async with opened(app, copy.last_id) as stream:
                for _ in range(choose.randint(0, 3)):
                    write(topic, choose)
                end = (await asyncio.to_thread(replica.wait_for, topic.end(), 30)).version
                stop_at = choose.randint(copy.versions[-1] if copy.versions else 1, end)
                while not copy.versions or copy.versions[-1] < stop_at:
                    copy.take(await stream.next())
            for _ in range(choose.randint(0, 3)):
                write(topic, choose)
            await asyncio.to_thread(replica.wait_for, topic.end(), 30)
        return copy

    write(topic, choose)
    with topic.replica(kept_versions=1000, recent_changes=recent) as replica:
        replica.wait_ready(30)
        copy = asyncio.run(follow(replica))
    if recent == 1000:
        assert copy.resets == 1
        assert copy.versions == list(range(copy.versions[0], copy.versions[-1] + 1))


def run(topic: FakeTopic, scenario: Callable[[Replica, Service], Any], **options: Any) -> None:
    """Run a scenario with a service over a replica of the topic that is ready."""
    with topic.replica(kept_versions=100, **options.pop("replica", {})) as replica:
        replica.wait_ready(30)
        asyncio.run(scenario(replica, service_of(replica, **options)))


def put(topic: FakeTopic, replica: Replica, key: str) -> int:
    """Make a version; return its number."""
    return replica.wait_for(topic.put(key, b"v"), 30).version


def test_ids_of_another_incarnation_or_nonsense_begin_with_a_reset() -> None:
    """Only an id of this incarnation continues; a later version than the current one does not."""
    topic = FakeTopic()

    async def scenario(replica: Replica, service: Service) -> None:
        put(topic, replica, "a")
        for last in ("1.other", "1", "x", "-1", f"99.{replica.incarnation}", "1" * 30 + "." + replica.incarnation):
            async with opened(service.app, last) as stream:
                event = await stream.next()
                assert (event.name, event.data["initial"], event.data["changed"]) == ("reset", True, ["a"]), last
        async with opened(service.app, f"2.{replica.incarnation}") as stream:
            put(topic, replica, "b")
            event = await stream.next()
            assert (event.name, event.data["changed"], event.data["version"]) == ("change", ["b"], 3)

    topic.put("a", b"first")
    run(topic, scenario)


def test_a_slow_client_is_merged_and_delays_nobody() -> None:
    """A client that accepts nothing gets one merged event later; meanwhile another client gets every version."""
    topic = FakeTopic()

    async def scenario(replica: Replica, service: Service) -> None:
        async with opened(service.app) as slow, opened(service.app) as fast:
            await slow.next()
            await fast.next()
            slow.blocked.clear()
            for number in range(20):
                put(topic, replica, f"key {number}")
                assert (await fast.next()).data["changed"] == [f"key {number}"]
            slow.blocked.set()
            found: list[Event] = []
            while not found or found[-1].data["version"] < replica.snapshot().version:
                found.append(await slow.next())
            assert len(found) <= 5  # one may be on its way, three wait, and the last of these is merged
            assert sum(event.data.get("conflated", 1) for event in found) == 20
            assert sorted(key for event in found for key in event.data["changed"]) == sorted(
                f"key {number}" for number in range(20)
            )

    topic.put("a", b"first")
    run(topic, scenario, max_pending_changes=3)


def test_streams_have_heartbeats_and_a_limit() -> None:
    """A comment shows that a quiet connection lives; a stream beyond the limit gets 503 until another one ends."""
    topic = FakeTopic()

    async def scenario(_replica: Replica, service: Service) -> None:
        async with opened(service.app) as stream:
            await stream.next()
            before = stream.parser.comments
            async with asyncio.timeout(30):
                while stream.parser.comments < before + 3:
                    await asyncio.sleep(0.01)
            async with opened(service.app) as refused:
                await refused.ended.wait()
                assert refused.status == 503
        assert service.feed.stream_count == 0
        async with opened(service.app) as again:
            await again.next()
            assert again.status == 200

    topic.put("a", b"first")
    run(topic, scenario, heartbeat_s=0.05, max_streams=1)


def test_streams_end_at_shutdown_and_with_the_replica() -> None:
    """All streams end at once; a failure of the replica is an event of its own, without details."""
    topic = FakeTopic()

    async def shut_down(_replica: Replica, service: Service) -> None:
        async with opened(service.app) as one, opened(service.app) as two:
            await one.next()
            await two.next()
            await service.feed.close()
            async with asyncio.timeout(30):
                await one.ended.wait()
                await two.ended.wait()
        async with opened(service.app) as late:
            await late.ended.wait()
            assert late.status == 503

    async def fail(_replica: Replica, service: Service) -> None:
        async with opened(service.app) as stream:
            await stream.next()
            topic.fail(BadRecordError("fake", 0, 1, "/secret/path", "nothing"))
            event = await stream.next()
            assert (event.name, event.data) == ("failed", {"state": "failed"})
            async with asyncio.timeout(30):
                await stream.ended.wait()

    topic.put("a", b"first")
    run(topic, shut_down)
    run(topic, fail)


@pytest.mark.thorough
def test_a_stream_may_begin_before_the_first_version_and_with_many_keys() -> None:
    """The first event is the whole state once there is one, whatever the number of keys."""
    topic = FakeTopic()
    with topic.transaction() as transaction:
        for number in range(2500):
            transaction.put(f"key {number:04}", b"v")

    async def scenario(replica: Replica) -> None:
        async with opened(service_of(replica).app) as stream:
            replica.start()
            event = await stream.next()
        assert event.data["changed"] == [f"key {number:04}" for number in range(2500)]
        assert event.data["deleted"] == []

    with topic.replica() as replica:
        asyncio.run(scenario(replica))


def test_keys_of_several_topics_and_of_odd_bytes_stay_apart() -> None:
    """A key names its topic if there are several; bytes that are not text are shown as such."""
    first = FakeTopic("one")
    second = FakeTopic("two", kafka=first.kafka)

    async def scenario(replica: Replica) -> None:
        service = Service(replica, ServerSettings(allowed_hosts=("*",)), "one", stand_in)
        async with opened(service.app) as stream:
            event = await stream.next()
        assert event.data["changed"] == [{"topic": "one", "base64": "/w=="}, {"topic": "two", "key": "a"}]

    async def one_key_space(replica: Replica) -> None:
        async with opened(service_of(replica).app) as stream:
            event = await stream.next()
        assert event.data["changed"] == ["a", {"base64": "/w=="}]

    first.put(b"\xff", b"v")
    second.put("a", b"v")
    with first.kafka.replica("one", "two") as replica:
        replica.wait_ready(30)
        with pytest.raises(ConfigurationError, match="name the topic of the structures"):
            service_of(replica)
        asyncio.run(scenario(replica))
    with first.kafka.replica("one", "two", one_key_space=True) as replica:
        replica.wait_ready(30)
        asyncio.run(one_key_space(replica))


def test_curl_may_give_the_last_id_in_the_query() -> None:
    """``?since=`` is the same as the header ``Last-Event-ID``."""
    topic = FakeTopic()

    async def scenario(replica: Replica, service: Service) -> None:
        put(topic, replica, "b")
        async with opened(service.app, query=f"since=1.{replica.incarnation}") as stream:
            assert (await stream.next()).data["changed"] == ["b"]

    topic.put("a", b"first")
    run(topic, scenario)


def test_a_malformed_id_is_refused_in_the_query_only() -> None:
    """A browser, which sends the header by itself, would not connect again after a refusal: it gets the whole state."""
    topic = FakeTopic()

    async def scenario(_: Replica, service: Service) -> None:
        async with opened(service.app, query="since=zz") as stream:
            await asyncio.wait_for(stream.ended.wait(), 30)
            assert stream.status == 400
        async with opened(service.app, query="since=") as stream:
            assert (await stream.next()).name == "reset"
        async with opened(service.app, last_id="zz") as stream:
            assert (await stream.next()).name == "reset"

    topic.put("a", b"first")
    run(topic, scenario)


@pytest.mark.thorough
@given(st.text(max_size=30))
def test_any_text_is_a_version_id_or_none(text: str) -> None:
    """Parsing never raises, and a parsed id is written back the same, apart from leading zeros."""
    found = VersionId.parse(text)
    if found is not None:
        assert VersionId.parse(str(found)) == found
