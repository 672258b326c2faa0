"""Kept answers: bounded, and never those of another version or request."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica.sdmx import Structures
from kafka_replica.server import ServerSettings, create_app
from kafka_replica.server.answers.answer_cache import AnswerCache
from kafka_replica.server.answers.finished_answer import FinishedAnswer
from kafka_replica.server.rest.request_and_answer import RestAnswer, RestRequest
from kafka_replica.testing import FakeTopic
from support.server.app_tools import URN, client_of, stand_in


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 4_000)), max_size=60), st.integers(0, 30_000))
def test_the_cache_is_bounded_and_returns_what_was_put_last(puts: list[tuple[int, int]], max_bytes: int) -> None:
    """Whatever is put: the size is that of what is kept, within the limit, and the last small answer is there."""
    cache, last = AnswerCache(max_bytes), dict[int, FinishedAnswer]()
    for key, size in puts:
        last[key] = FinishedAnswer(200, (), bytes(size))
        cache.put(key, last[key])
        assert cache.size_bytes <= max_bytes
        if size + 2_000 <= max_bytes // 4:
            assert cache.get(key) is last[key]
    kept = [found for key in range(9) if (found := cache.get(key)) is not None]
    assert cache.size_bytes == sum(len(found.body) + 2_000 for found in kept)


def test_long_keys_take_room_in_the_cache() -> None:
    """Long paths and headers take room as answers do."""
    cache = AnswerCache(100_000)
    for number in range(50):
        cache.put(number, FinishedAnswer(200, (), b""), 23_000)
    assert 0 < cache.size_bytes <= 100_000
    assert len([number for number in range(50) if cache.get(number)]) == 4
    cache.put(49, FinishedAnswer(200, (), b""), 0)
    assert cache.size_bytes == 3 * 25_000 + 2_000


@pytest.mark.thorough
def test_repeated_requests_are_computed_once_in_each_version() -> None:
    """Any mix of requests and versions gets exactly what a computation without a cache returns."""
    computed: list[tuple[int, RestRequest]] = []

    def counting(request: RestRequest, structures: Structures) -> RestAnswer:
        computed.append((structures.version, request))
        return stand_in(request, structures)

    topic, choose = FakeTopic(), random.Random(1)
    topic.put(URN.format("A"), b"a")
    with topic.replica(kept_versions=10) as replica:
        replica.wait_ready(30)
        cached = client_of(create_app(replica, answer=counting))
        plain = client_of(create_app(replica, ServerSettings(cache_bytes=0), answer=stand_in))
        for number in range(100):
            if number % 25 == 20:
                replica.wait_for(topic.put(URN.format(number), b"a"), 30)
            pinned = choose.choice(["", "", "/version/1", f"/version/{replica.snapshot().version}"])
            url = f"{pinned}/sdmx/v2/structure/{choose.choice('ab')}?{choose.choice('xy')}"
            tag = choose.choice(["", '"1"', plain.get(url).headers["etag"]])
            headers = {"Accept": choose.choice("st"), "If-None-Match": tag}
            got, expected = cached.get(url, headers=headers), plain.get(url, headers=headers)
            assert (got.status_code, got.content) == (expected.status_code, expected.content)
            for name in ("etag", "kafka-replica-version", "kafka-replica-position", "content-type", "vary"):
                assert got.headers.get(name) == expected.headers.get(name)
        assert len(computed) == len(set(computed)) < 100
        for as_of in ("asOf", "%61sOf", "as%4Ff"):
            computed.clear()
            for _ in range(2):
                cached.get(f"/sdmx/v2/structure/a?{as_of}=2020-01-01")
            assert len(computed) == 2, f"{as_of}: the answer also depends on the versions that are kept"
